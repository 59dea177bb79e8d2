"""Attention written out: a score for each pair of 65536 tokens, in eight heads."""

# /// expect
# rule = "one-huge-request"
# vram = "24GiB"
# text = ["one-huge-request"]
# ///

import torch


def attend(query, key, value):
    """Scaled dot-product attention."""
    scores = query @ key.transpose(-2, -1)  # the cause
    return torch.softmax(scores / query.shape[-1] ** 0.5, dim=-1) @ value


def main():
    query, key, value = torch.randn(3, 1, 8, 65536, 64, device="cuda")
    attend(query, key, value)


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
