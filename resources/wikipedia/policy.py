"""Wikimedia's rules for programs that fetch from it.

What belongs here: the limits and the hosts that they hold for. What does not: keeping to them
(`resources/images/host_queue.py`, `resources/images/request.py`). Sources:
https://wikitech.wikimedia.org/wiki/Robot_policy (media: two requests at once, 25 Mbit/s) and
https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy (a contact).
"""

CONNECTIONS = 2
BYTES_PER_SECOND = 25_000_000 / 8
"""Of all downloads together."""

NO_CONTACT = (
    "Wikimedia serves programs that name somebody to write to: "
    "set wikipedia.contact in corpus.yaml to a mail address or a web page."
)


def is_wikimedia(host: str) -> bool:
    """Whether a host's name is under wikimedia.org or wikipedia.org."""
    return f".{host.lower().rstrip('.')}".endswith((".wikimedia.org", ".wikipedia.org"))


def user_agent(contact: str | None) -> str:
    """The User-Agent header: the program and, in brackets, a contact."""
    return f"vlm-loom/0.1 ({contact})" if contact else "vlm-loom/0.1"
