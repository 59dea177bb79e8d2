# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 26
# requested_bytes = 17179869184
# caught_line = 28
# then = "went on with size 15 (16 GiB do not fit beside 12 GiB; without these, 15 GiB do)"
# why = "a variable of the running function is deleted before the next try: nothing may keep it alive"
# ///
"""Holds a buffer, runs out beside it, deletes it in the function that holds it, and goes on with a smaller size."""

import torch

GIB = 1 << 30


def run():
    weight = torch.nn.Parameter(torch.zeros(1 << 20, device="cuda"))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    size = 16
    buffer = torch.empty(12 * GIB, dtype=torch.int8, device="cuda")
    while True:
        try:
            x = torch.empty(size * GIB, dtype=torch.int8, device="cuda")
            break
        except torch.cuda.OutOfMemoryError:
            del buffer
            buffer = None
            size -= 1
    assert size == 15, f"{size}: the buffer was kept alive"
    for _ in range(3):
        (weight * x[: 1 << 20]).sum().backward()
        optimizer.step()
    print("went on with", size)


run()
