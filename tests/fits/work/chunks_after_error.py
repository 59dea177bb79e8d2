# /// expect
# run = "check"
# vram = "8GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits"]
# says = ["chunks_after_error.py:19"]
# need_gib = [1.2, 7.9]
# why = "all scores at once are 8 x 16384 x 16384 x 4 B = 8 GiB and are refused; in chunks of 1,024 queries they are 0.5 GiB, three times"
# ///
"""Attention for inference that tries everything at once and, when that is refused, goes in chunks of queries."""

import torch

HEADS, LENGTH, DIM, CHUNK, PROMPTS = 8, 16384, 64, 1024, 4


def attend(q, k, v):
    return (q @ k.transpose(-2, -1) * DIM**-0.5).softmax(-1) @ v


def attend_in_chunks(q, k, v):
    return torch.cat([attend(part, k, v) for part in q.split(CHUNK, dim=1)], dim=1)


@torch.inference_mode()
def answer(prompt):
    q, k, v = prompt
    try:
        return attend(q, k, v)
    except torch.cuda.OutOfMemoryError:
        pass
    return attend_in_chunks(q, k, v)


for _ in range(PROMPTS):
    prompt = torch.randn(3, HEADS, LENGTH, DIM, device="cuda")
    print(tuple(answer(prompt).shape))
