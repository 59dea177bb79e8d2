# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "fragmentation"
# first_finding = ["fragmentation"]
# lines = [19, 21]
# why = "layer i is drawn in float32, (10 + i) x 16 MiB, and kept in bfloat16, half of it, which is cut out of the freed float32 block of the layer before; no later float32 layer fits into what is left: at the fifteenth, 3624 MiB are reserved and 2232 allocated (its float32 form of 384 too), and 62 left for a request of 192 with no free piece over 160; in one piece sixteen layers need 2240 + 400 MiB"
# ///
"""Deep reservoir with layers that widen, drawn in float32 and kept in bfloat16."""

import torch

COLUMNS, LAYERS = 4096, 16


def draw_layer(rows, scale):
    full = torch.empty(rows, COLUMNS, device="cuda")
    full.uniform_(-scale, scale)
    return full.to(torch.bfloat16)


class Reservoir:
    def __init__(self, layers):
        self.layers = []
        for index in range(layers):
            self.layers.append(draw_layer((10 + index) * 1024, scale=1 / (1 + index)))
            print("layer", index, tuple(self.layers[-1].shape))

    @torch.no_grad()
    def __call__(self, signal):
        readouts = []
        for layer in self.layers:
            readouts.append(torch.tanh(signal @ layer.T).mean(dim=1))
        return torch.stack(readouts, dim=1)


reservoir = Reservoir(LAYERS)
for block in range(3):
    signal = torch.randn(256, COLUMNS, device="cuda", dtype=torch.bfloat16)
    print(block, reservoir(signal).shape)
