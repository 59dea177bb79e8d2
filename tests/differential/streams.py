"""The streams of a program, chosen so that the order in which PyTorch polls their events is known.

PyTorch keeps the outstanding events in a hash map by stream (`cuda_events` in c10/cuda/CUDACachingAllocator.cpp), and polls in
the order of that map. The order shows: in the history, in the peaks of `inactive_split`, in the stale requests of cached
blocks. With Fibonacci hashing (c10/util/flat_hash_map.h) the slot is the top of hash times multiplier, so streams
whose products differ in the top two bits never share a slot, and their order is that of the products, for any size of the map.
For the streams chosen here that order equals the order of their pointers, which is also the order of the allocator's free lists.
"""

import random

import torch

MULTIPLIER = 11400714819323198485
MOST = 4


def chosen(count: int, seed: int) -> list:
    """The default stream and `count - 1` side streams, not in the order of their pointers."""
    pool = [torch.cuda.Stream() for _ in range(32)]
    found = [torch.cuda.default_stream()]
    for stream in pool:
        if len(found) < count and quarter(stream) == len(found) and stream.cuda_stream > found[-1].cuda_stream:
            found.append(stream)
    if len(found) < count or quarter(found[0]) != 0:
        raise RuntimeError(f"no {count} streams with rising hashes: this PyTorch hashes streams otherwise")
    others = found[1:]
    random.Random(seed).shuffle(others)
    return [found[0], *others]


def quarter(stream) -> int:
    """The slot of the stream in a map of four."""
    cuda = 1
    packed = cuda << 56 | stream.device_index << 48 | stream.stream_id & ((1 << 48) - 1)
    return MULTIPLIER * packed % 2**64 >> 62
