"""Image filters: limits (size, blur, ...) and exclusion lists (decontamination against test sets)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from methods.ingest.image_check import ImageRejected
from methods.ingest.image_quality import ImageFacts

# A line of md5sum or sha256sum: the digest, then "  name" or " *name"; a leading backslash means that
# the name is escaped.
_LISTED = re.compile(r"\\?([0-9a-fA-F]{64}|[0-9a-fA-F]{32})(?:\s.*)?")


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """Limits for images; None is no limit, and a value equal to its limit passes.

    The defaults drop images about which no question can be asked; docs/results/image-limits.md shows
    dropped images.
    """

    max_aspect: float | None = 5
    """Longer side over shorter side."""
    min_side: int | None = 64
    """Pixels of the shorter side."""
    min_visible: float | None = 0.005
    """Mean opacity, 0 to 1."""
    min_contrast: int | None = 16
    """Highest minus lowest grey level, 0 to 255."""
    min_entropy: float | None = 0.2
    """Bits, 0 to 8."""
    min_blur: float | None = 2.5
    """Variance of the Laplacian, squared grey levels."""
    min_brightness: float | None = None
    """Mean grey level, 0 to 255; the same unit as `max_brightness`."""
    max_brightness: float | None = None
    animated: bool = True
    """Whether animated images are accepted."""


UNWANTED = (
    *("excluded", "too_long", "too_small", "transparent", "blank", "faint", "flat", "blurred"),
    *("too_dark", "too_bright", "animated"),
)
"""Reasons to leave out an image that could be read."""


def reject_unwanted(facts: ImageFacts, limits: ImageLimits, excluded: Mapping[str, str]) -> None:
    """Reject an image that is on an exclusion list or outside the limits.

    The exclusion lists are checked first, so the number of images found on a list does not depend on
    the limits.

    Args:
        facts: The measurements of the image.
        limits: The limits of size and quality.
        excluded: Digests (lower-case MD5 or SHA-256) of images of other benchmarks and training sets,
            each with the name of its list. AlignMMBench removes images by MD5.

    Raises:
        ImageRejected: The first reason that applies, in the order of `UNWANTED`.
    """
    for digest in (facts.image_id, facts.md5):
        if digest in excluded:
            detail = f"The image, {digest}, is on the list {excluded[digest]!r}."
            raise ImageRejected("excluded", detail)
    shorter, longer = sorted((facts.width, facts.height))
    aspect = longer / shorter
    _at_most("too_long", "longer side over the shorter", aspect, limits.max_aspect)
    _at_least("too_small", "shorter side in pixels", shorter, limits.min_side)
    _at_least("transparent", "mean opacity", facts.visible, limits.min_visible)
    if facts.contrast == 0 and limits.min_contrast:
        raise ImageRejected("blank", "Every pixel has the same grey level.")
    _at_least("faint", "range of grey levels", facts.contrast, limits.min_contrast)
    _at_least("flat", "entropy in bits", facts.entropy, limits.min_entropy)
    _at_least("blurred", "variance of the Laplacian", facts.blur, limits.min_blur)
    _at_least("too_dark", "mean grey level", facts.brightness, limits.min_brightness)
    _at_most("too_bright", "mean grey level", facts.brightness, limits.max_brightness)
    if facts.animated and not limits.animated:
        raise ImageRejected("animated", "The image has more than one frame, which is not allowed.")


def parse_exclusions(lines: Iterable[str], name: str) -> dict[str, str]:
    """Parse a list of images to exclude.

    A line has an MD5 or a SHA-256 in hex, alone or followed by a file name as md5sum and sha256sum
    write it. Blank lines and lines that begin with # are ignored.

    Args:
        lines: The lines of the list.
        name: The name of the list.

    Returns:
        The name of the list by digest, for `reject_unwanted`.

    Raises:
        ValueError: A line does not begin with an MD5 or SHA-256.
    """
    excluded = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _LISTED.fullmatch(text)
        if match is None:
            raise ValueError(
                f"Line {number} of the list {name!r} begins with no MD5 or SHA-256: {text[:80]!r}."
            )
        excluded[match[1].lower()] = name
    return excluded


def _at_least(reason: str, figure: str, value: float, limit: float | None) -> None:
    if limit is not None and value < limit:
        raise ImageRejected(reason, f"The {figure} is {value:g}, below the limit of {limit:g}.")


def _at_most(reason: str, figure: str, value: float, limit: float | None) -> None:
    if limit is not None and value > limit:
        raise ImageRejected(reason, f"The {figure} is {value:g}, above the limit of {limit:g}.")
