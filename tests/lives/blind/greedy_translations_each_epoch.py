# /// expect
# run = "check"
# vram = "2.5GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["generation"]
# form = "epochs x batches, greedy decoding through a helper class after each epoch, batch by batch"
# need_gib = [1.2, 1.7]
# why = "a step has scores of 64 x 96 x 8,192 x 4 B = 192 MiB, their log-softmax and the gradients of both, 768 MiB, with 0.05 of weights and Adam; the translation has 128 sentences at a time: its whole prefix goes through the embedding, 128 x 96 x 128 x 4 B = 6 MiB, but only the last token through the head, 4 MiB, and words alone are kept. Scores of all tokens of all sentences would be 3 GiB"
# ///
"""Translates the held-out sentences after each epoch, greedily and without a cache, and compares the words."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

PAD, BOS = 0, 1


class Translator(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.source, self.target = nn.Embedding(vocab, width), nn.Embedding(vocab, width)
        self.mix = nn.Linear(width, width)
        self.head = nn.Linear(width, vocab)

    def encode(self, source):
        return self.source(source).mean(dim=1, keepdim=True)

    def decode(self, target, memory, last_only=False):
        x = self.target(target)
        x = torch.tanh(self.mix(x + memory))
        return self.head(x[:, -1:] if last_only else x)

    def forward(self, source, target):
        return self.decode(target, self.encode(source))


class GreedySearch:
    def __init__(self, model, max_len):
        self.model, self.max_len = model, max_len

    @torch.no_grad()
    def __call__(self, source):
        memory = self.model.encode(source)
        output = torch.full((len(source), 1), BOS, device=source.device)
        while output.shape[1] <= self.max_len:
            logits = self.model.decode(output, memory, last_only=True)
            output = torch.cat([output, logits.argmax(dim=-1)], dim=1)
        return output[:, 1:]


class WordOverlap:
    def __init__(self):
        self.same = self.total = 0

    def add(self, guesses, references):
        for guess, reference in zip(guesses, references):
            self.same += len(set(guess) & set(reference))
            self.total += len(set(reference))

    @property
    def value(self):
        return self.same / max(1, self.total)


def evaluate(model, loader, max_len):
    model.eval()
    search, overlap = GreedySearch(model, max_len), WordOverlap()
    for source, target in loader:
        overlap.add(search(source.cuda()).tolist(), target.tolist())
    model.train()
    return overlap.value


def pairs(count, args):
    return TensorDataset(*(torch.randint(2, args.vocab, (count, args.max_len)) for _ in range(2)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=8192)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--max-len", type=int, default=96)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--eval-batch-size", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()

    train = DataLoader(pairs(19_200, args), args.batch_size, shuffle=True)
    test = DataLoader(pairs(1024, args), args.eval_batch_size)
    model = Translator(args.vocab, args.width).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, betas=(0.9, 0.98))
    best = -1.0
    for epoch in range(1, args.epochs + 1):
        for source, target in tqdm(train, desc=f"epoch {epoch}"):
            source, target = source.cuda(), target.cuda()
            shifted = torch.cat([torch.full_like(target[:, :1], BOS), target[:, :-1]], dim=1)
            logits = model(source, shifted)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        overlap = evaluate(model, test, args.max_len)
        best = max(best, overlap)
        print(f"epoch {epoch} loss {loss.item():.3f} overlap {overlap:.3f} best {best:.3f}")


if __name__ == "__main__":
    main()
