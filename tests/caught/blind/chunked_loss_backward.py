# /// expect
# run = "check"
# vram = "12GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 31
# requested_bytes = 17179869184
# caught_line = 46
# then = "went on (the gradient is computed again in chunks)"
# why = "hand-written losses try the one-shot path inside autograd.Function.backward, on autograd's own thread, and fall back to chunks"
# ///
import torch
import torch.nn.functional as F
from torch import nn


class LinearCrossEntropy(torch.autograd.Function):
    """Loss of a vocabulary head that never keeps its logits between forward and backward."""

    @staticmethod
    def forward(ctx, hidden, weight, targets, chunk):
        total = hidden.new_zeros(())
        for h, y in zip(hidden.split(chunk), targets.split(chunk)):
            total += F.cross_entropy(h @ weight.t(), y, reduction="sum")
        ctx.save_for_backward(hidden, weight, targets)
        ctx.chunk = chunk
        return total / hidden.shape[0]

    @staticmethod
    def gradients(h, weight, y, scale):
        logits = h @ weight.t()
        p = torch.softmax(logits, dim=-1)
        del logits
        p.scatter_add_(1, y[:, None], torch.full_like(y[:, None], -1.0, dtype=p.dtype))
        p *= scale
        return p @ weight, p.t() @ h

    @staticmethod
    def backward(ctx, grad_out):
        hidden, weight, targets = ctx.saved_tensors
        scale = grad_out / hidden.shape[0]
        fn = LinearCrossEntropy.gradients
        try:
            dh, dw = fn(hidden, weight, targets, scale)
            return dh, dw, None, None
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
        dh, dw = torch.empty_like(hidden), torch.zeros_like(weight)
        for lo in range(0, hidden.shape[0], ctx.chunk):
            part = slice(lo, lo + ctx.chunk)
            dh[part], more = fn(hidden[part], weight, targets[part], scale)
            dw += more
        return dh, dw, None, None


trunk = nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 1024)).cuda()
head = nn.Parameter(torch.randn(131072, 1024, device="cuda") * 0.02)
optimizer = torch.optim.AdamW([*trunk.parameters(), head], lr=1e-4)

for step in range(6):
    tokens = torch.randn(32768, 1024, device="cuda")
    targets = torch.randint(0, 131072, (32768,), device="cuda")
    loss = LinearCrossEntropy.apply(trunk(tokens), head, targets, 1024)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(f"step {step} loss {loss.item():.3f}")
