"""Finds out at once whether a host can be reached."""

import functools
import os
import socket
import sys
from urllib.parse import urlsplit

from .. import phantom
from .weights import network as hub

_PROXIES = ("https_proxy", "http_proxy", "all_proxy")
_PATIENCE_SECONDS = 3.0
_PORTS = {"https": 443, "http": 80}


def can_reach_hub() -> bool:
    """False if the Hugging Face Hub cannot be reached. The libraries would try five times for each file, 23 s (huggingface_hub 1.33)."""
    return can_reach(sys.modules["huggingface_hub"].constants.ENDPOINT)


def can_load(name: object) -> bool:
    """False for a model of the hub, over a phantom GPU, if the hub cannot be reached; its cache may have the model."""
    if phantom.find() is None or os.path.exists(str(name)) or can_reach_hub():
        return True
    hub.close(f"no network: no connection to {sys.modules['huggingface_hub'].constants.ENDPOINT}")
    return False


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
