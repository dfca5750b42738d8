"""MediaWiki client logic without I/O: parsing of API responses, HTML pages and image URLs."""
