"""The user's permission to act on the outside."""

import os

from ... import wire


def is_online() -> bool:
    """True if the user lets the program act on the outside."""
    return os.environ.get(wire.ONLINE) == "1"
