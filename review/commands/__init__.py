"""The commands of `python -m review`, one module each.

A module has `add_to(commands)`: it adds its parsers to the subparsers it is given and sets each
parser's default `command` to a function that takes the parsed arguments and returns the exit code.
It stands in the list of `review/__main__.py`.
"""
