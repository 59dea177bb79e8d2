# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["next-epoch"]
# form = "epochs x batches, DataLoader with two workers"
# need_gib = [1.9, 2.4]
# why = "a memory of 1.5 GiB is filled in place at the beginning of each epoch: 16 parts, copied into their rows; it is made once"
# ///
"""Contrastive training from two worker processes; the memory of negatives is filled anew for every epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __len__(self):
        return 2400

    def __getitem__(self, k):
        return torch.full((64,), k / 2400), torch.full((64,), 1 - k / 2400)


def main():
    net = nn.Linear(64, 512).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    memory = torch.zeros(786_432, 512, device="cuda")
    loader = DataLoader(Pairs(), batch_size=8, num_workers=2, shuffle=True, drop_last=True)
    for epoch in range(3):
        with torch.no_grad():
            for part in memory.chunk(192):
                part.copy_(net(torch.randn(len(part), 64, device="cuda")))
        for left, right in loader:
            a, b = net(left.cuda()), net(right.cuda())
            far = memory[torch.randint(786_432, (64,), device="cuda")]
            loss = (a - b).square().mean() - 0.01 * (a @ far.T).tanh().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
