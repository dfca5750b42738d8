"""Prompts: templates for untrusted data, messages with images, parsing and repair of replies."""
