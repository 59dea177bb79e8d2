# /// expect
# run = "check"
# vram = "22GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 65
# requested_bytes = 17179869184
# caught_line = 44
# then = "found batch 256"
# why = "accelerate's find_executable_batch_size (older versions halve, 1.15 takes 0.9 of it), also behind transformers' auto_find_batch_size"
# ///
"""Fine-tunes a token classifier; a decorator halves the batch size until the training loop gets through."""

import functools
import gc

import torch
import torch.nn.functional as F
from torch import nn

TOKENS, WIDTH, CLASSES = 1024, 4096, 16


def should_reduce_batch_size(exception):
    if isinstance(exception, RuntimeError) and len(exception.args) == 1:
        return " out of memory." in exception.args[0]
    return False


def find_executable_batch_size(function=None, starting_batch_size=128):
    if function is None:
        return functools.partial(find_executable_batch_size, starting_batch_size=starting_batch_size)
    batch_size = starting_batch_size

    def decorator(*args, **kwargs):
        nonlocal batch_size
        gc.collect()
        torch.cuda.empty_cache()
        while True:
            if batch_size == 0:
                raise RuntimeError("No executable batch size found, reached zero.")
            try:
                return function(batch_size, *args, **kwargs)
            except Exception as e:
                if should_reduce_batch_size(e):
                    gc.collect()
                    torch.cuda.empty_cache()
                    batch_size //= 2
                else:
                    raise

    return decorator


model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CLASSES)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)


@find_executable_batch_size(starting_batch_size=1024)
def inner_training_loop(batch_size):
    for _ in range(6):
        features = torch.randn(batch_size, TOKENS, WIDTH, device="cuda")
        labels = torch.randint(CLASSES, (batch_size, TOKENS), device="cuda")
        optimizer.zero_grad()
        logits = model(features)
        F.cross_entropy(logits.flatten(0, 1), labels.flatten()).backward()
        optimizer.step()
        del features, logits
    return batch_size


print("trained with batch size", inner_training_loop())
