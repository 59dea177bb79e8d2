# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [48]
# keeps_mib = 64
# allocates = [50]
# full_at = [37, 41]
# open = "full at pass 32: the allocator cannot give back segments that hold a tensor, and the arithmetic knows no segments"
# why = "a hook keeps the outputs of the middle layer, 32 x 1024 x 512 x 4 B = 64 MiB of each of 100 batches of clips"
# ///
"""Layer statistics of an audio tagger: a forward hook stores the outputs of the middle layer by batch number."""

import torch
from torch import nn

CLIPS, FRAMES, BANDS, WIDTH, TAGS, BATCHES = 32, 1024, 128, 512, 50, 100


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(BANDS, WIDTH)
        self.body = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, TAGS)

    def forward(self, spectrogram):
        x = self.body(self.stem(spectrogram).relu())
        return self.head(x.mean(1))


class Probe:
    def __init__(self, module):
        self.outputs = {}
        self.handle = module.register_forward_hook(self.store)

    def store(self, module, inputs, output):
        self.outputs[len(self.outputs)] = output

    def means(self):
        return [output.mean().item() for output in self.outputs.values()]


@torch.no_grad()
def listen(model):
    for _ in range(BATCHES):
        spectrogram = torch.randn(CLIPS, FRAMES, BANDS, device="cuda")
        tags = model(spectrogram)
    return tags


tagger = Tagger().cuda()
probe = Probe(tagger.body)
listen(tagger)
print(probe.means()[:3])
