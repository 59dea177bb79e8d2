# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 29
# requested_bytes = 2202009600
# says_any = [29, "cache", "cat"]
# culprit = 29
# ///
"""Extends a key-value cache with torch.cat, which needs the old and the new cache at once: four chunks and a fifth, beside five."""

import torch

LAYERS, BATCH, HEADS, DIM, CHUNK = 24, 8, 16, 64, 560


class Decoder:
    cache = None

    def chunk(self):
        return torch.empty(2, LAYERS, BATCH, HEADS, CHUNK, DIM, dtype=torch.bfloat16, device="cuda")

    def extend(self):
        new = self.chunk()
        if self.cache is None:
            self.cache = new
            return
        self.cache = torch.cat([self.cache, new], dim=4)


decoder = Decoder()
with torch.inference_mode():
    for turn in range(12):
        decoder.extend()
        print("turn", turn, "tokens", decoder.cache.shape[4])
