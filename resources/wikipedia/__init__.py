"""Wikipedia as a source: its pages, the images on them and their files, requested once and cached."""

from resources.wikipedia.api_client import WikipediaError
from resources.wikipedia.client import Wikipedia

__all__ = ["Wikipedia", "WikipediaError"]
