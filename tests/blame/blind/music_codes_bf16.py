# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "weights"
# first_finding = ["need-exceeds-device"]
# no_finding = ["weights-loaded-twice"]
# lines = [44]
# why = "made in bfloat16, a layer has (4 x 2048^2 + 3 x 2048 x 8192) x 2 B = 128 MiB, and 16 layers 2048 of 1638 MiB: the thirteenth does not fit; `to(torch.bfloat16)` changes nothing, and no order of the two would help"
# ///
"""Continues a melody of codec codes; the weights are published in bfloat16."""

import torch
from torch import nn
from torch.nn import functional as F

CODES, WIDTH, HIDDEN, HEADS = 2048, 2048, 8192, 16
PLAIN = {"bias": False, "dtype": torch.bfloat16}


class MusicLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH, dtype=torch.bfloat16) for _ in range(2))
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, **PLAIN) for _ in range(4))
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, **PLAIN) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, **PLAIN)

    def forward(self, x):
        h = self.norms[0](x)
        q, k, v = (each(h).unflatten(-1, (HEADS, -1)).transpose(1, 2) for each in (self.q, self.k, self.v))
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        h = self.norms[1](x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def melody_model(device, layers=16):
    model = nn.Sequential(
        nn.Embedding(CODES, WIDTH, dtype=torch.bfloat16),
        *[MusicLayer() for _ in range(layers)],
        nn.Linear(WIDTH, CODES, **PLAIN),
    )
    model.to(device)
    return model


if __name__ == "__main__":
    model = melody_model("cuda").to(torch.bfloat16)  # if a checkpoint should come in float32
    codes = torch.randint(0, CODES, (1, 64), device="cuda")
    with torch.no_grad():
        for _ in range(8):
            following = torch.multinomial(model(codes)[:, -1].float().softmax(-1), 1)
            codes = torch.cat([codes, following], dim=1)
    print(codes[0, 64:].tolist())
