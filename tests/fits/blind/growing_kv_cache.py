# /// expect
# run = "check"
# vram = "8GiB"
# kind = 4
# truth = "does not fit"
# verdict = ["does not fit"]
# says = ["full at"]
# full_at = [26, 31]
# open = "full at 373, expected 26..31"
# why = "each chunk of 64 tokens adds 16 layers x 2 x 32 x 16 x 64 x 64 x 4 B = 0.25 GiB; 7.3 GiB are full at about chunk 30 of 256"
# ///
"""Reads a long document chunk by chunk with a key-value cache that keeps all of it."""

import torch

LAYERS, BATCH, HEADS, CHUNK, DIM, CHUNKS = 16, 32, 16, 64, 64, 256
WIDTH = HEADS * DIM


class Layer:
    def __init__(self):
        self.qkv = torch.randn(WIDTH, 3 * WIDTH, device="cuda") / WIDTH**0.5
        self.keys, self.values = [], []

    def __call__(self, x):
        q, k, v = (x @ self.qkv).view(BATCH, CHUNK, 3, HEADS, DIM).permute(2, 0, 3, 1, 4)
        self.keys.append(k.contiguous())
        self.values.append(v.contiguous())
        summary = torch.zeros_like(q)
        for key, value in zip(self.keys[-4:], self.values[-4:]):
            summary += (q @ key.transpose(-2, -1)).softmax(-1) @ value
        return x + summary.transpose(1, 2).reshape(BATCH, CHUNK, WIDTH)


@torch.inference_mode()
def read(layers):
    for _ in range(CHUNKS):
        x = torch.randn(BATCH, CHUNK, WIDTH, device="cuda")
        for layer in layers:
            x = layer(x)
    return x


print(tuple(read([Layer() for _ in range(LAYERS)]).shape))
