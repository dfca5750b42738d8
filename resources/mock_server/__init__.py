"""The mock model server: a mock of a paid OpenAI-protocol API on the loopback address.

No module here is a model and none calls one. Every answer is computed by rule from the pixels and
the text of the request, so the same request always gets the same answer. With it the whole pipeline
runs, and is timed and tested, without a network, a key or a cost. Its output must never be reported
as the output of a model. This file holds no code, so that importing the package takes no time.
"""
