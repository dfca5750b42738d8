"""Embedding: texts and images to unit vectors, in this process or another."""
