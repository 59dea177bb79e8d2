"""Finds out at once whether a host can be reached."""

import functools
import os
import socket
from urllib.parse import urlsplit

_PROXIES = ("https_proxy", "http_proxy", "all_proxy")
_PATIENCE_SECONDS = 3.0
_PORTS = {"https": 443, "http": 80}


@functools.cache
def can_reach(address: str) -> bool:
    """False if no connection to the host of an address can be made. True behind a proxy, which alone knows."""
    if any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES):
        return True
    parts = urlsplit(address)
    port = parts.port or _PORTS.get(parts.scheme, 443)
    try:
        socket.create_connection((parts.hostname or address, port), _PATIENCE_SECONDS).close()
    except OSError:
        return False
    return True
