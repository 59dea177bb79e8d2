# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "data-on-device"
# no_finding = ["growing-collection", "dataset-on-gpu"]
# why = "26 layers have a pair of 8 x 8 x 1024 x 128 x 2 B = 16 MiB each, 832 MiB, appended once before the flight; weights in bfloat16 are 26 x 8 x 1024^2 x 2 B = 416 MiB: some 1250 of 1638 MiB, and a step needs a few"
# ///
"""Flies eight simulated drones with a transformer policy that remembers their flight."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class PolicyLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.RMSNorm(width)
        self.to_qkv = nn.Linear(width, 3 * width, bias=False)
        self.to_out = nn.Linear(width, width, bias=False)
        self.inner = nn.Linear(width, 2 * width, bias=False)
        self.outer = nn.Linear(2 * width, width, bias=False)

    def forward(self, x, memory, moment):
        drones, width = x.shape
        q, k, v = self.to_qkv(self.norm(x)).view(drones, 3, self.heads, 1, width // self.heads).unbind(1)
        past_k, past_v = memory
        past_k[:, :, moment], past_v[:, :, moment] = k.squeeze(2), v.squeeze(2)
        seen = F.scaled_dot_product_attention(q, past_k[:, :, : moment + 1], past_v[:, :, : moment + 1])
        x = x + self.to_out(seen.reshape(drones, width))
        return x + self.outer(F.silu(self.inner(x)))


class Session:
    def __init__(self, drones=8, heads=8, horizon=1024, dim=128, depth=26):
        width = heads * dim
        self.see = nn.Linear(24, width).to("cuda", torch.bfloat16)
        self.act = nn.Linear(width, 4).to("cuda", torch.bfloat16)
        self.layers = [PolicyLayer(width, heads).to("cuda", torch.bfloat16) for _ in range(depth)]
        self.memory = []
        for _ in range(depth):
            k = torch.empty(drones, heads, horizon, dim, dtype=torch.bfloat16, device="cuda")
            v = torch.empty(drones, heads, horizon, dim, dtype=torch.bfloat16, device="cuda")
            self.memory.append((k, v))

    @torch.inference_mode()
    def step(self, sensors, moment):
        x = self.see(sensors.to("cuda", torch.bfloat16))
        for layer, memory in zip(self.layers, self.memory):
            x = layer(x, memory, moment)
        return self.act(x).tanh().float().cpu()


if __name__ == "__main__":
    session = Session()
    position = torch.zeros(8, 24)
    for moment in range(40):
        position[:, :4] += session.step(position, moment)
    print(position[:, :4].norm().item())
