"""The offline model server: a loopback stand-in for a paid OpenAI-protocol API.

Nothing here is a model and nothing here calls one. Every answer is computed by rule from the
pixels and the text of the request, so the same request always gets the same answer. It exists
so that the whole pipeline can be run, timed and tested without a network, a key or a cost; what
it writes must never be reported as the output of a model. This file stays empty of code so that
importing the package is light.
"""
