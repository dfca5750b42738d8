"""Licences of pictures: named as SPDX names them, and what they ask of whoever uses a picture."""
