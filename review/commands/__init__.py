"""The commands of `python -m review`, one module each.

Each module has a function `add_to(commands)`, which adds its parsers to these subparsers and sets each
parser's default `command` to a function from the parsed arguments to the exit code. The list of the
modules is in `review/__main__.py`.
"""
