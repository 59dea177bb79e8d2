# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "loaded-twice"
# first_finding = ["weights-loaded-twice"]
# lines = [32]
# why = "a layer has (4 x 1536^2 + 2 x 1536 x 6144) x 4 B = 108 MiB, and 40 of them 4320 of 3686 MiB in float32, where `.cuda()` comes before `.half()`; the other way round they are 2160 MiB, and a batch needs some 200"
# ///
"""Turns call-centre recordings into one vector each."""

import torch
from torch import nn

FRAMES, BANDS, WIDTH, LAYERS = 400, 80, 1536, 40


class SpeechEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.bands = nn.Linear(BANDS, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, nhead=16, dim_feedforward=4 * WIDTH, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)

    def forward(self, spectrogram):
        return self.layers(self.bands(spectrogram)).mean(dim=1)


encoder = SpeechEncoder().eval().cuda().half()
vectors = []
with torch.no_grad():
    for call in range(6):
        spectrogram = torch.rand(8, FRAMES, BANDS).half()
        vectors.append(encoder(spectrogram.cuda()).float().cpu())
vectors = nn.functional.normalize(torch.cat(vectors), dim=1)
print(vectors.shape, (vectors @ vectors.T).shape)
