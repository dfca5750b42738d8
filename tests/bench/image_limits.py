"""What the default limits leave out of real pictures, as they are and spoilt on purpose.

Run by `make bench NAME=image-limits`, which writes docs/guides/image-limits.md. Needs a folder of
pictures that
people publish: by default `../shared/data/wit_sample/images`.
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
PAGE = REPO_ROOT / "docs" / "guides" / "image-limits.md"
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
# Which pictures are left out

Some pictures are sound files that nobody can be asked about: a pixel that counts readers, a rule
between two sections, white lines on a transparent ground, a blur. The limits under `images.limits` in
`corpus.yaml` leave them out, each with its own reason in `ingest.rejected`. What is left out so is no
loss: `max_lost_share` counts what could not be fetched or read. `min_side: null` turns a limit off;
`min_brightness`, `max_brightness` and `animated` have no default. The distribution of each figure in
your own corpus is in the metadata of `ingest/images`.

Made by `make bench NAME=image-limits`, which measures the {n} pictures of `wit_sample`:
photographs of nebulae and
planets, drawings of constellations, laboratory tools.

## The defaults, and what they leave out of real pictures

The nearest figure that still passes says how far a limit is from what is wanted.

{limits}

{dropped}

Nebulae are dark (mean grey level from {darkest}) and mostly of one level (entropy from {flattest}
bits), and drawings are thin lines on one colour: limits on brightness, or a higher one on entropy,
would drop them first. All but size and transparency is measured on a copy of 256 pixels, so that it
does not depend on a picture's size.

## The same pictures, spoilt

Each of the {kept} pictures that pass, changed on purpose. Blur is Gaussian, its radius (standard
deviation) a share of the longer side: at 0.5 % a picture is soft, at 2 % it has shapes without an edge.

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
                ("picture", "reason", "figure"),
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
    return table(("limit", "figure", "reason", "left out", "nearest that passes"), rows)


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
    return table(("change", "left out", "by reason"), rows)


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
    "faded to 10 grey levels": _faded,
    "one colour": _one_colour,
    "all transparent": _transparent,
    "a strip, eight times as long as high": _strip,
    "at most 48 pixels a side": _thumbnail,
}
"""What is done to each picture."""

if __name__ == "__main__":
    sys.exit(main())
