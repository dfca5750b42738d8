"""Files: where they are in the home, and reading and writing them safely and completely."""
