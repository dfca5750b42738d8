"""Releases: approved items, frozen under an id that is a hash of their content, and exported."""

from assets.release.exports import exports
from assets.release.releases import releases

ASSETS = [releases, exports]

__all__ = ["ASSETS", "exports", "releases"]
