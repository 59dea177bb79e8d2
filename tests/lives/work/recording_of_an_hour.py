# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches"]
# step = 669
# line = 44
# form = "enumerate(loader), start=1"
# need_gib = [4.2, 5.3]
# why = "recording 1,337 of 400,000 frames is in batch 669: 2 x 400,000 x 256 x 4 B = 0.76 GiB for each of two linear layers and two GELUs: the fourth does not fit into 2.55 GiB; backward adds two"
# ///
"""Speaker identification over raw frames; one recording of the corpus is an hour long."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __init__(self):
        self.frames = [800 + 37 * k % 1200 for k in range(2000)]
        self.frames[1337] = 400_000

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, k):
        return torch.linspace(-1, 1, self.frames[k]), k % 30


def pad(rows):
    waves, speakers = zip(*rows)
    return nn.utils.rnn.pad_sequence(waves, batch_first=True).unsqueeze(-1), torch.tensor(speakers)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU())
        self.head = nn.Linear(256, 30)

    def forward(self, wave):
        frames = self.net(wave)
        return self.head(frames.mean(1))


encoder = Encoder().cuda()
optimizer = torch.optim.RMSprop(encoder.parameters(), lr=1e-4)
for batch, (waves, speakers) in enumerate(DataLoader(Recordings(), batch_size=2, collate_fn=pad), start=1):
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(encoder(waves.to("cuda")), speakers.to("cuda"))
    loss.backward()
    optimizer.step()
    if batch % 100 == 0:
        print(f"batch {batch}: {waves.shape[1]} frames")
