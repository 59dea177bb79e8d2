# /// expect
# run = "check"
# vram = "8GiB"
# kind = 4
# truth = "does not fit"
# verdict = ["does not fit"]
# says = ["full at"]
# full_at = [12, 15]
# open = "full at 11, expected 12..15"
# why = "a hook keeps 8 x 16 x 1024 x 1024 x 4 B = 0.5 GiB of attention weights at every step, by step number; 1,000 steps"
# ///
"""A debugging hook stores attention maps by step and is never taken off."""

import torch
from torch import nn

BATCH, HEADS, LENGTH, WIDTH, STEPS = 8, 16, 1024, 256, 1000


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.weights = nn.Softmax(dim=-1)

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        return (self.weights(q @ k.transpose(-2, -1)) @ v).transpose(1, 2).flatten(2)


class Recorder:
    def __init__(self, module):
        self.step, self.maps = 0, {}
        module.register_forward_hook(self)

    def __call__(self, module, inputs, output):
        self.maps[self.step] = output.detach()
        self.step += 1


model = Attention().cuda()
recorder = Recorder(model.weights)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    x = torch.randn(BATCH, LENGTH, WIDTH, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
