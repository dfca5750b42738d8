"""Image files of one colour, for tests that need an image and not its content."""

import io

from PIL import Image


def one_colour(colour: object, size: tuple[int, int] = (60, 40), form: str = "PNG") -> bytes:
    data = io.BytesIO()
    Image.new("RGB", size, colour).save(data, form)  # type: ignore[arg-type]
    return data.getvalue()
