"""Wikipedia as a source: its pages, the images on them and their files, asked for once and kept."""

from resources.wikipedia.client import Wikipedia
from resources.wikipedia.session import WikipediaError

__all__ = ["Wikipedia", "WikipediaError"]
