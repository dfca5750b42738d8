"""Images: requested, fetched and checked, stored by their SHA-256, indexed by their address."""
