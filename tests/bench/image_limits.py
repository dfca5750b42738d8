"""What the default limits leave out of real pictures, as they are and spoilt on purpose.

Run by `make bench NAME=image-limits`, which writes docs/results/image-limits.md. Needs a folder of
published pictures: by default `../shared/data/wit_sample/images`.
"""

import argparse
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PIL import Image, ImageFilter

from methods.ingest.image_check import ImageRejected
from methods.ingest.image_filters import ImageLimits, reject_unwanted
from methods.ingest.image_quality import ImageFacts, measure_image
from methods.ingest.picture import upright_rgb
from methods.markdown import table
from resources.files.home import REPO_ROOT

PICTURES = REPO_ROOT.parent / "shared" / "data" / "wit_sample" / "images"
PAGE = REPO_ROOT / "docs" / "results" / "image-limits.md"
FIGURES: dict[str, tuple[str, str, Callable[[ImageFacts], float]]] = {
    "max_aspect": (
        "too_long",
        "longer side over the shorter",
        lambda facts: max(facts.aspect, 1 / facts.aspect),
    ),
    "min_side": (
        "too_small",
        "pixels of the shorter side",
        lambda facts: min(facts.width, facts.height),
    ),
    "min_visible": ("transparent", "mean opacity, 0 to 1", lambda facts: facts.visible),
    "min_contrast": (
        "blank, faint",
        "highest less lowest grey level, 0 to 255",
        lambda facts: facts.contrast,
    ),
    "min_entropy": ("flat", "entropy of the grey levels in bits", lambda facts: facts.entropy),
    "min_blur": ("blurred", "variance of the Laplacian", lambda facts: facts.blur),
}
"""Each default limit: the reason that it gives, its figure in words, and the figure."""
WORDS = """\
# Image limits on real images

`make bench NAME=image-limits` writes this page. It measures the {n} images of the corpus sample:
photographs of nebulae and planets, drawings of constellations, laboratory tools. The limits are
described in [image limits](../guides/image-limits.md).

## Default limits

*Nearest accepted* is the value of the accepted image closest to the limit.

{limits}

{dropped}

Images of nebulae are dark (mean grey level from {darkest}) with low entropy (from {flattest} bits).
Limits on brightness, or a higher limit on entropy, would reject these first.

## Degraded images

Each of the {kept} accepted images was degraded on purpose. Blur is Gaussian, with a radius (standard
deviation) given as a share of the longer side.

{spoilt}
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 where the pictures are not there."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.image_limits", description=__doc__)
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    folder = parser.parse_args(argv).pictures
    if not folder.is_dir():
        print(f"There are no pictures at {folder}: give a folder of them.", file=sys.stderr)
        return 2
    PAGE.write_text(page(folder), encoding="utf-8")
    print(f"{PAGE} is written.")
    return 0


def page(folder: Path) -> str:
    """The page on the pictures in `folder`."""
    pictures = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    facts = {name: measure_image(data) for name, data in pictures.items()}
    refused = {name: why for name, of in facts.items() if (why := _refusal(of))}
    kept = {name: of for name, of in facts.items() if name not in refused}
    return WORDS.format(
        n=len(pictures),
        limits="\n".join(_limits(kept.values(), refused.values())),
        dropped="\n".join(
            table(
                ("image", "reason", "message"),
                [(name, why.reason, why.detail) for name, why in refused.items()],
            )
        ),
        darkest=f"{min(of.brightness for of in kept.values()):.1f}",
        flattest=f"{min(of.entropy for of in kept.values()):.2f}",
        kept=len(kept),
        spoilt="\n".join(_spoilt([pictures[name] for name in kept])),
    )


def _refusal(facts: ImageFacts) -> ImageRejected | None:
    try:
        reject_unwanted(facts, ImageLimits(), {})
    except ImageRejected as rejected:
        return rejected
    return None


def _limits(kept: Iterable[ImageFacts], refused: Iterable[ImageRejected]) -> list[str]:
    passing, reasons = list(kept), Counter(why.reason for why in refused)
    rows = []
    for limit, (reason, words, figure) in FIGURES.items():
        values = [figure(facts) for facts in passing]
        nearest = max(values) if limit.startswith("max") else min(values)
        n = sum(reasons[each] for each in reason.split(", "))
        default = getattr(ImageLimits(), limit)
        rows.append((f"`{limit}: {default:g}`", words, reason, str(n), f"{nearest:.2f}"))
    return table(("limit", "figure", "reason", "rejected", "nearest accepted"), rows)


def _spoilt(pictures: Sequence[bytes]) -> list[str]:
    rows = []
    for how, spoil in SPOILT.items():
        reasons: Counter[str] = Counter()
        for data in pictures:
            with Image.open(io.BytesIO(data)) as image:
                spoilt = spoil(upright_rgb(image))
            buffer = io.BytesIO()
            spoilt.save(buffer, "PNG", compress_level=1)
            why = _refusal(measure_image(buffer.getvalue()))
            reasons[why.reason if why else ""] += 1
        n_refused = len(pictures) - reasons.pop("", 0)
        by_reason = ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())
        rows.append((how, f"{n_refused / len(pictures):.0%}", by_reason))
    return table(("change", "rejected", "by reason"), rows)


def _blurred(share: float) -> Callable[[Image.Image], Image.Image]:
    return lambda image: image.filter(ImageFilter.GaussianBlur(share * max(image.size)))


def _faded(image: Image.Image) -> Image.Image:
    return Image.eval(image, lambda level: 245 + level * 10 // 255)


def _strip(image: Image.Image) -> Image.Image:
    width = image.width
    return image.crop((0, image.height // 2, width, image.height // 2 + max(1, width // 8)))


def _thumbnail(image: Image.Image) -> Image.Image:
    small = image.copy()
    small.thumbnail((48, 48))
    return small


def _transparent(image: Image.Image) -> Image.Image:
    clear = image.convert("RGBA")
    clear.putalpha(0)
    return clear


def _one_colour(image: Image.Image) -> Image.Image:
    return Image.new("RGB", image.size, image.getpixel((0, 0)))  # type: ignore[arg-type]


SPOILT: dict[str, Callable[[Image.Image], Image.Image]] = {
    "unchanged": lambda image: image,
    "blurred by 0.5 %": _blurred(0.005),
    "blurred by 1 %": _blurred(0.01),
    "blurred by 2 %": _blurred(0.02),
    "blurred by 4 %": _blurred(0.04),
    "blurred by 8 %": _blurred(0.08),
    "reduced to 10 grey levels": _faded,
    "a single colour": _one_colour,
    "fully transparent": _transparent,
    "cropped to a strip of 8:1": _strip,
    "scaled to at most 48 pixels": _thumbnail,
}
"""What is done to each picture."""

if __name__ == "__main__":
    sys.exit(main())
