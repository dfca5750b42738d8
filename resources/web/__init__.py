"""The web: which requests the project's servers answer and its clients may send, links, alerts."""
