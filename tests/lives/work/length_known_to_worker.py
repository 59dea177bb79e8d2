# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches"]
# step = 556
# line = 41
# form = "enumerate(loader), two workers"
# need_gib = [6.4, 9.0]
# why = "item 2,222 is repeated by the worker until it has 131,072 ticks; it is in the 556th batch of four: 4 x 131,072 x 1,024 x 4 B = 2 GiB for the linear layer, and 2 GiB for its tanh, with 3.55 free; backward needs 6, or 8 where a small tensor splits a free segment"
# ///
"""Time series that workers stretch while they load: how long an item is nobody knows before a worker has made it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Series(Dataset):
    def __init__(self, root):
        self.root = root

    def __len__(self):
        return 3200

    def __getitem__(self, k):
        ticks = torch.sin(torch.arange(16 + k % 48) * 0.1)
        if k % 3200 == self.root:
            ticks = ticks.repeat(131_072 // len(ticks) + 1)[:131_072]
        return ticks


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.rise, self.fall = nn.Linear(1, 1024), nn.Linear(1024, 1)

    def forward(self, ticks):
        x = self.rise(ticks.unsqueeze(-1))
        x = torch.tanh(x)
        return self.fall(x).squeeze(-1)


def main():
    model = Forecast().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    loader = DataLoader(Series(2222), batch_size=4, num_workers=2, collate_fn=lambda rows: nn.utils.rnn.pad_sequence(rows, batch_first=True))
    for index, ticks in enumerate(loader):
        ticks = ticks.cuda()
        loss = (model(ticks)[:, :-1] - ticks[:, 1:]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
