"""How laws are tried here: enough examples to find a counterexample, no clock to fail on."""

from hypothesis import settings

# A busy machine is slow, not wrong: without a deadline no law fails by the time it takes.
settings.register_profile("methods", max_examples=50, deadline=None)
settings.load_profile("methods")
