"""Pictures of the clustering: images for the UI's metadata, one page for the browser."""
