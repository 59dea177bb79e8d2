# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches"]
# line = 73
# form = "while True, next(it) in try, except StopIteration; batch_sampler of buckets, shuffled with a seed"
# need_gib = [9.2, 9.7]
# why = "sixteen of 4,800 utterances have 3,000 frames and make one bucket: scores are 16 x 4 x 3,000^2 x 4 B = 2.15 GiB, and the softmax makes a second tensor of that size, with 3.55 free; the backward pass has three, but a small tensor splits the segment that the scores have left, so there are four segments: 8.6 GiB and 0.3 of other tensors, and the context; other buckets have at most 400 frames, 39 MiB. The seed decides when the bucket comes"
# ///
"""Speech commands over filter banks: utterances of similar length share a batch, and the batches come in random order."""

import argparse
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Utterances(Dataset):
    def __init__(self, size, bins, seed):
        rng = random.Random(seed)
        self.bins = bins
        self.lengths = [rng.randint(100, 400) for _ in range(size)]
        # one speaker was recorded without a break
        self.lengths[2400:2416] = [3000] * 16

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        return torch.randn(self.lengths[index], self.bins), index % 12


class BucketSampler:
    def __init__(self, lengths, batch_size, seed=4):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
        self.seed, self.epoch = seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        batches = list(self.batches)
        random.Random(self.seed + self.epoch).shuffle(batches)
        yield from batches


def collate(items):
    frames, labels = zip(*items)
    return pad_sequence(frames, batch_first=True), torch.tensor(labels)


class Recognizer(nn.Module):
    def __init__(self, bins, width=128, heads=4, classes=12):
        super().__init__()
        self.heads = heads
        self.inp = nn.Linear(bins, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, classes)

    def attend(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = torch.matmul(q * (c // self.heads) ** -0.5, k.transpose(-1, -2))
        weights = scores.softmax(dim=-1)
        return torch.matmul(weights, v).transpose(1, 2).reshape(n, t, c)

    def forward(self, frames):
        x = torch.relu(self.inp(frames))
        x = x + self.attend(x)
        return self.out(x.mean(dim=1))


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--utterances", type=int, default=4800)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--bins", type=int, default=40)
    parser.add_argument("--max-updates", type=int, default=500)
    parser.add_argument("--clip", type=float, default=5.0)
    return parser.parse_args()


def main():
    args = get_args()
    dataset = Utterances(args.utterances, args.bins, seed=7)
    sampler = BucketSampler(dataset.lengths, args.batch_size)
    loader = DataLoader(dataset, batch_sampler=sampler, collate_fn=collate)
    model = Recognizer(args.bins).cuda()
    optimizer = torch.optim.RAdam(model.parameters(), lr=1e-3)

    updates, epoch = 0, 0
    it = iter(loader)
    while True:
        try:
            frames, labels = next(it)
        except StopIteration:
            epoch += 1
            sampler.set_epoch(epoch)
            it = iter(loader)
            frames, labels = next(it)
        loss = nn.functional.cross_entropy(model(frames.cuda()), labels.cuda())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        optimizer.zero_grad()
        updates += 1
        if updates % 100 == 0:
            print(f"epoch {epoch} update {updates}/{args.max_updates} loss {loss.item():.3f}")
        if updates >= args.max_updates:
            break


if __name__ == "__main__":
    main()
