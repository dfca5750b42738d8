"""A corpus out of a wiki that is not Wikimedia's, from its pages to entries."""
