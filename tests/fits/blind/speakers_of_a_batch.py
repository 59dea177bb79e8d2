# /// expect
# run = "check"
# vram = "6GiB"
# kind = 6
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.4, 4.8]
# why = "the labels come from the host: 32 speakers in 262,144 utterances, so a similarity matrix of 262,144 x 32 x 4 B = 32 MiB; one for half of the utterances would be 128 GiB; vectors take 0.25 GiB, some nine times"
# ///
"""GE2E for speakers: centroids of the distinct labels of the batch, similarities of all utterances to all centroids."""

import torch
import torch.nn.functional as F
from torch import nn

UTTERANCES, SPEAKERS, MELS, WIDTH, STEPS = 262_144, 32, 40, 256, 3


def centroids(vectors, speakers):
    names, place = speakers.unique(return_inverse=True)
    sums = vectors.new_zeros(len(names), vectors.shape[1]).index_add(0, place, vectors)
    return sums / torch.bincount(place, minlength=len(names))[:, None], place


encoder = nn.Sequential(nn.Linear(MELS, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).cuda()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
for step in range(STEPS):
    speakers = (torch.arange(UTTERANCES) % SPEAKERS).cuda()
    vectors = F.normalize(encoder(torch.randn(UTTERANCES, MELS, device="cuda")), dim=1)
    centres, place = centroids(vectors, speakers)
    loss = F.cross_entropy(10 * vectors @ F.normalize(centres, dim=1).t(), place)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
