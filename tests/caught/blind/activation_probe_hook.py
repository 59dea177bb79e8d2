# /// expect
# run = "check"
# vram = "12GiB"
# verdict = ["does not fit"]
# line = 29
# requested_bytes = 17179869184
# caught_line = 31
# then = "went on (a ResourceWarning, which Python does not show by default)"
# why = "interpretability and debugging hooks catch their own failures and only warn, so that looking at a model cannot break it"
# ///
import warnings

import torch
from torch import nn


class SimilarityProbe:
    """Tracks how alike the tokens of a batch become, layer by layer."""

    def __init__(self):
        self.values = {}

    def attach(self, name, module):
        return module.register_forward_hook(lambda mod, args, out: self.record(name, out))

    def record(self, name, out):
        flat = nn.functional.normalize(out.detach().flatten(0, 1), dim=-1)
        try:
            gram = flat @ flat.t()  # tokens * tokens
            self.values[name] = gram.mean()
        except RuntimeError as err:
            if "out of memory" not in str(err):
                raise
            warnings.warn(f"probe {name}: {err}", ResourceWarning)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Linear(dim, dim)

    def forward(self, x):
        return x + nn.functional.gelu(self.mix(self.norm(x)))


def main():
    model = nn.Sequential(*[Block(1024) for _ in range(3)]).cuda()
    probe = SimilarityProbe()
    handles = [probe.attach(f"block{i}", block) for i, block in enumerate(model)]
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    for step in range(5):
        x = torch.randn(32, 2048, 1024, device="cuda")
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown = {name: round(v.item(), 4) for name, v in probe.values.items()}
        print(f"step {step} loss {loss.item():.4f} similarity {shown}")
    for handle in handles:
        handle.remove()


main()
