# /// expect
# run = "check"
# vram = "16GiB"
# verdict = ["does not fit"]
# line = 48
# requested_bytes = 34359738368
# caught_line = 29
# then = "skipped the batch (three attempts, then the request goes to the dead letters)"
# why = "serving code wraps its model call in tenacity's @retry; the out-of-memory error is retried, then turned into RetryError"
# ///
import functools
import time

import torch
from torch import nn


class RetryError(Exception):
    """tenacity's: raised after the last failed retry."""


def retry(on, attempts, wait, before_sleep):
    def decorate(fn):
        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            for attempt in range(1, attempts + 1):
                try:
                    return fn(*args, **kwargs)
                except on as exc:
                    if attempt == attempts:
                        raise RetryError(f"{fn.__name__} gave up after {attempt}") from exc
                before_sleep(attempt)
                time.sleep(wait * attempt)
        return wrapped
    return decorate


class Encoder(nn.Module):
    def __init__(self, dim=1024, heads=16):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = torch.matmul(q, k.transpose(-1, -2))  # b * heads * t * t, half precision
        probs = torch.softmax(scores / (c // self.heads) ** 0.5, dim=-1)
        return self.out((probs @ v).transpose(1, 2).reshape(b, t, c))


model = Encoder().half().cuda().eval()


@retry(on=(RuntimeError, ConnectionError), attempts=3, wait=0.01, before_sleep=lambda n: torch.cuda.empty_cache())
@torch.inference_mode()
def embed(tokens):
    x = torch.randn(4, tokens, 1024, device="cuda", dtype=torch.float16)
    return model(x).mean(dim=1)


answered, dead_letters = [], []
for tokens in (1024, 2048, 16384, 512):
    try:
        answered.append(embed(tokens))
    except RetryError as exc:
        dead_letters.append((tokens, repr(exc.__cause__)))
torch.cuda.synchronize()
print(f"answered {len(answered)}, dead letters {len(dead_letters)}")
