"""Caches of requests that come and go: one in three stays, and what the others leave is all in pieces.

On a GPU with room for 3.04 GiB it runs out under the default settings, and gets through with expandable segments.
"""

import torch


def cache(tokens):
    """Keys and values of so many tokens."""
    return torch.empty(2, tokens, 768, device="cuda")


caches = [cache(1024) for _ in range(360)]
caches = caches[::3]
caches.append(cache(131072))
