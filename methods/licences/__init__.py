"""Licences of pictures: named as SPDX names them, and what they ask of whoever uses a picture.

What belongs here: reading a licence out of a text, and which source counts (`reading.py`), and what a
licence forbids or demands (`terms.py`).
"""
