# /// expect
# run = "check"
# vram = "16GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 56
# requested_bytes = 8589934592
# caught_line = 40
# then = "found batch 128"
# why = "accelerate's find_executable_batch_size, which Hugging Face Trainer uses for auto_find_batch_size, in its halving form"
# ///
import functools
import gc

import torch
import torch.nn.functional as F
from torch import nn


def should_reduce_batch_size(exception):
    statements = ["CUDA out of memory.", "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED.", "can't allocate memory"]
    known = isinstance(exception, RuntimeError) and len(exception.args) == 1
    return known and any(text in exception.args[0] for text in statements)


def free_memory():
    gc.collect()
    torch.cuda.empty_cache()


def find_executable_batch_size(function=None, starting_batch_size=128):
    if function is None:
        return functools.partial(find_executable_batch_size, starting_batch_size=starting_batch_size)
    batch_size = starting_batch_size
    def decorator(*args, **kwargs):
        nonlocal batch_size
        while batch_size > 0:
            try:
                return function(batch_size, *args, **kwargs)
            except Exception as e:
                if not should_reduce_batch_size(e):
                    raise
                free_memory()
                batch_size //= 2
        raise RuntimeError("No executable batch size found, reached zero.")
    return decorator


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(1024, 4096), nn.Linear(4096, 1024)

    def forward(self, x):
        h = self.up(x)
        h = F.gelu(h)
        return x + self.down(h)


@find_executable_batch_size(starting_batch_size=512)
def inner_training_loop(batch_size, steps):
    free_memory()
    model, head = nn.Sequential(Block(), Block()).cuda(), nn.Linear(1024, 100).cuda()
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-4)
    for _ in range(steps):
        x = torch.randn(batch_size, 1024, 1024, device="cuda")
        y = torch.randint(0, 100, (batch_size,), device="cuda")
        F.cross_entropy(head(model(x).mean(dim=1)), y).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print("trained with batch size", batch_size)


inner_training_loop(steps=5)
