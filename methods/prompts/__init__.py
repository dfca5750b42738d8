"""Prompts: templates with untrusted data, messages with images, parsing and repair of replies."""
