# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch", "worst-batches"]
# step = 751
# line = 55
# form = "while epoch < n, for batch in loader"
# need_gib = [4.4, 6.8]
# why = "the first epoch has the 3,000 short clips, 750 batches; the second begins with the longest: 4 x 16,384 frames x 4,096 x 4 B = 1 GiB for the linear layer, which ends with the ReLU, for the ReLU and for the gate: 2 GiB, and the first gradient is the third, with 2.55 free; the ReLU, the gate and two gradients are 4"
# ///
"""The first epoch goes over the short half of the clips alone; from the second on all are taken, longest first."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


class Clips(Dataset):
    def __init__(self):
        self.lengths = [16_384] * 8 + [64] * 2992 + [10 + k % 20 for k in range(3000)]

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, k):
        return torch.ones(self.lengths[k], 4) * k


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Linear(4, 4096), nn.Linear(4096, 1)
        self.weight = nn.Parameter(torch.ones(4096))

    def forward(self, clip):
        x = torch.relu(self.wide(clip))
        x = x * self.weight
        return self.narrow(x)


def loader_of(clips, epoch):
    chosen = Subset(clips, range(3000, 6000)) if epoch == 0 else clips
    return DataLoader(chosen, batch_size=4, collate_fn=lambda rows: nn.utils.rnn.pad_sequence(rows, batch_first=True))


clips, gate = Clips(), Gate().cuda()
optimizer = torch.optim.SGD(gate.parameters(), lr=1e-3)
epoch = 0
while epoch < 2:
    for clip in loader_of(clips, epoch):
        loss = gate(clip.cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    epoch += 1
