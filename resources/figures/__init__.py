"""Pictures of the clustering and of agreement: images for the UI's metadata, a page for the browser."""
