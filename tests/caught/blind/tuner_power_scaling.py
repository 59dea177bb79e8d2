# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 46
# requested_bytes = 8589934592
# caught_line = 56
# then = "found batch 64"
# why = "Lightning's Tuner.scale_batch_size in \"power\" mode doubles until it runs out and steps back once"
# ///
import gc

import torch
import torch.nn.functional as F
from torch import nn


def is_oom_error(exception):
    return (isinstance(exception, RuntimeError) and len(exception.args) == 1
            and "CUDA" in exception.args[0] and "out of memory" in exception.args[0])


class Classifier(nn.Module):
    def __init__(self, dim=512, heads=16):
        super().__init__()
        self.batch_size, self.dim, self.heads = 16, dim, heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, 10)

    def attention(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        probs = torch.softmax((q * c ** -0.25) @ k.transpose(-1, -2), dim=-1)
        return (probs @ v).transpose(1, 2).flatten(2)

    def training_step(self):
        x = torch.randn(self.batch_size, 1024, self.dim, device="cuda")
        y = torch.randint(0, 10, (self.batch_size,), device="cuda")
        return F.cross_entropy(self.out(self.attention(x).mean(dim=1)), y)


class Tuner:
    def trial(self, module):
        for _ in range(2):  # no optimizer step, so the weights stay as they were
            loss = module.training_step()
            loss.backward()
            module.zero_grad(set_to_none=True)

    def scale_batch_size(self, module, max_trials=25):
        for _ in range(max_trials):
            gc.collect()
            torch.cuda.empty_cache()
            try:
                self.trial(module)
                module.batch_size *= 2
            except RuntimeError as exception:
                if not is_oom_error(exception):
                    raise
                module.zero_grad(set_to_none=True)
                module.batch_size //= 2
                break
        gc.collect()
        torch.cuda.empty_cache()
        return module.batch_size


module = Classifier().cuda()
print("batch size", Tuner().scale_batch_size(module))
optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
for step in range(5):
    module.training_step().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
