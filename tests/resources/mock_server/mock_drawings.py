"""Pictures with known colours and shapes, and requests, for the mock server's tests."""

import base64
import io
from typing import Any

from PIL import Image, ImageDraw

from resources.mock_server.chat_completion import answer
from resources.mock_server.chat_request import read_chat

RGB = {
    "red": (210, 30, 30),
    "orange": (240, 140, 20),
    "yellow": (245, 225, 40),
    "green": (40, 150, 60),
    "turquoise": (40, 200, 200),
    "blue": (30, 60, 200),
    "purple": (130, 50, 190),
    "pink": (245, 130, 190),
    "brown": (120, 75, 40),
    "grey": (130, 130, 130),
    "black": (8, 8, 10),
    "white": (250, 250, 250),
}
PLACES = {"left": 0.25, "centre": 0.5, "right": 0.75}
# (colour, background, shape, place, size, number of small parts beside the subject)
DRAWN = (
    ("red", "white", "round", "left", (400, 300), 0),
    ("blue", "black", "boxy", "centre", (300, 400), 0),
    ("yellow", "green", "triangular", "right", (480, 320), 3),
    ("purple", "grey", "round", "centre", (320, 320), 8),
    ("orange", "black", "triangular", "left", (360, 300), 0),
    ("turquoise", "white", "boxy", "right", (420, 300), 2),
    ("pink", "brown", "round", "right", (300, 420), 0),
    ("green", "yellow", "boxy", "left", (400, 400), 9),
    ("white", "blue", "triangular", "centre", (500, 350), 0),
)


def draw(
    colour: str,
    background: str,
    shape: str = "round",
    place: str = "centre",
    size: tuple[int, int] = (400, 300),
    parts: int = 0,
) -> Image.Image:
    width, height = size
    image = Image.new("RGB", size, RGB[background])
    pen = ImageDraw.Draw(image)
    radius = min(size) * 0.2
    x, y = width * PLACES[place], height * 0.4
    box = (x - radius, y - radius, x + radius, y + radius)
    if shape == "round":
        pen.ellipse(box, fill=RGB[colour])
    elif shape == "boxy":
        pen.rectangle(box, fill=RGB[colour])
    else:
        corners = [(x, y - radius), (x + radius, y + radius), (x - radius, y + radius)]
        pen.polygon(corners, fill=RGB[colour])
    for index in range(parts):
        left = width * (index + 0.5) / parts - 12
        pen.rectangle((left, height * 0.82, left + 16, height * 0.82 + 24), fill=RGB[colour])
    return image


IMAGES = [draw(*drawn) for drawn in DRAWN]


def picture_part(image: Image.Image) -> dict[str, Any]:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    data = base64.b64encode(stream.getvalue()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def labelled_parts(images: list[Image.Image]) -> list[dict[str, Any]]:
    parts = []
    for number, image in enumerate(images, start=1):
        parts += [text_part(f"<image-{number}>"), picture_part(image)]
    return parts


def prompt_messages(system: str, content: list[dict[str, Any]] | str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": content}]


def chat_messages(images: list[Image.Image], question: str) -> list[dict[str, Any]]:
    parts = []
    for number, image in enumerate(images, start=1):
        parts += [text_part(f"Image{number}:"), picture_part(image), text_part(".")]
    return [{"role": "user", "content": [*parts, text_part(question)]}]


def ask(model: str, messages: list[dict[str, Any]], task: str | None = None) -> str:
    """The reply of a mock model, which the request may give a task."""
    metadata = {"metadata": {"task": task}} if task is not None else {}
    return answer(read_chat({"model": f"offline-{model}", "messages": messages, **metadata}))
