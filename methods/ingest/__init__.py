"""Ingestion: what a row of WIT is, what an image file is, which images are near duplicates."""
