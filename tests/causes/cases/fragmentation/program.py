"""Caches of requests that come and go: one in three stays, and what the others leave is all in pieces."""

# /// expect
# rule = "fragmentation"
# text = ["fragmentation"]
# ///

import torch


def cache(tokens):
    """Keys and values of so many tokens."""
    return torch.zeros(2, tokens, 768, device="cuda")  # the cause


def main():
    caches = [cache(1024) for _ in range(360)]
    caches = caches[::3]
    caches.append(cache(131072))


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
