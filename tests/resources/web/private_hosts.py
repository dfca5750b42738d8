"""Hosts that no redirect may lead to, as addresses name them."""

PRIVATE = ["127.0.0.1:1", "10.0.0.1", "169.254.169.254", "[::1]", "[fd00::1]", "localhost:1"]
"""Loopback, a private network, a cloud's metadata, IPv6's loopback and unique local addresses."""
