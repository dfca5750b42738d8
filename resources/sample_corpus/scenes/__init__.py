"""The seven kinds of picture; a topic file names its kind and gives each picture's details."""

from collections.abc import Callable

from resources.sample_corpus.scenes import (
    balloon,
    butterfly,
    fruit,
    lighthouse,
    planet,
    sailboat,
    windmill,
)

SCENES: dict[str, Callable[..., None]] = {
    "balloon": balloon.draw,
    "butterfly": butterfly.draw,
    "fruit": fruit.draw,
    "lighthouse": lighthouse.draw,
    "planet": planet.draw,
    "sailboat": sailboat.draw,
    "windmill": windmill.draw,
}
