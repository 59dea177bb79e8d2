# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["worst-batches"]
# form = "epochs x enumerate(loader), sampler that groups by length, accumulation with a rest"
# need_gib = [1.9, 2.9]
# why = "texts are cut to 512 tokens: scores of a layer are 64 x 4 x 512^2 x 4 B = 256 MiB; two layers keep their softmax, and the backward pass of the second has two more: 1 GiB; the other activations are of 64 x 512 x 256 x 4 B = 32 MiB, about 10 for each layer: 0.6 GiB; uncut, a text of 4,000 tokens would make 15 GiB"
# ///
"""Topic classification; the sampler groups texts by length, the longest batch first, and texts are cut to what the model takes."""

import argparse
import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler


@dataclass(frozen=True)
class Tokenizer:
    vocab: int = 1000
    model_max_length: int = 512

    def __call__(self, length):
        return torch.randint(1, self.vocab, (min(length, self.model_max_length),))


class Texts(Dataset):
    def __init__(self, tokenizer, count, seed=11):
        rng = random.Random(seed)
        self.tokenizer = tokenizer
        self.raw_lengths = [min(4000, int(rng.lognormvariate(4.5, 0.8)) + 4) for _ in range(count)]
        self.raw_lengths[count // 3] = 4000

    @property
    def lengths(self):
        return [min(n, self.tokenizer.model_max_length) for n in self.raw_lengths]

    def __len__(self):
        return len(self.raw_lengths)

    def __getitem__(self, index):
        return {"input_ids": self.tokenizer(self.raw_lengths[index]), "label": index % 8}


class LengthGroupedSampler(Sampler):
    """Megabatches of random texts, each sorted by length; the longest text of all comes in the first batch."""

    def __init__(self, batch_size, lengths):
        self.batch_size, self.lengths = batch_size, lengths

    def __len__(self):
        return len(self.lengths)

    def __iter__(self):
        order = torch.randperm(len(self.lengths)).tolist()
        size = self.batch_size * 25
        mega = [sorted(order[i : i + size], key=self.lengths.__getitem__, reverse=True) for i in range(0, len(order), size)]
        largest = max(range(len(mega)), key=lambda i: self.lengths[mega[i][0]])
        mega[0][0], mega[largest][0] = mega[largest][0], mega[0][0]
        return iter([index for part in mega for index in part])


def pad(features):
    longest = max(len(f["input_ids"]) for f in features)
    ids = torch.zeros(len(features), longest, dtype=torch.long)
    for row, feature in zip(ids, features):
        row[: len(feature["input_ids"])] = feature["input_ids"]
    return {"input_ids": ids, "labels": torch.tensor([f["label"] for f in features])}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = (q @ k.mT).mul_((c // self.heads) ** -0.5).softmax(-1)
        return x + self.proj((weights @ v).transpose(1, 2).reshape(n, t, c))


class Classifier(nn.Module):
    def __init__(self, tokenizer, width=256, heads=4, depth=2, labels=8):
        super().__init__()
        self.embed = nn.Embedding(tokenizer.vocab, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.head = nn.Linear(width, labels)

    def forward(self, input_ids, labels):
        x = self.blocks(self.embed(input_ids))
        return nn.functional.cross_entropy(self.head(x[:, 0]), labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=19_000)
    parser.add_argument("--per-device-train-batch-size", type=int, default=64)
    parser.add_argument("--gradient-accumulation-steps", type=int, default=2)
    parser.add_argument("--num-train-epochs", type=int, default=2)
    args = parser.parse_args()

    tokenizer = Tokenizer()
    dataset = Texts(tokenizer, args.texts)
    sampler = LengthGroupedSampler(args.per_device_train_batch_size, dataset.lengths)
    loader = DataLoader(dataset, args.per_device_train_batch_size, sampler=sampler, collate_fn=pad)
    model = Classifier(tokenizer).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    accum = args.gradient_accumulation_steps
    for epoch in range(args.num_train_epochs):
        for i, batch in enumerate(loader):
            loss = model(**{key: value.cuda() for key, value in batch.items()}) / accum
            loss.backward()
            if (i + 1) % accum == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()
            if i % 100 == 0:
                print(f"epoch {epoch} batch {i} loss {loss.item() * accum:.3f}")


if __name__ == "__main__":
    main()
