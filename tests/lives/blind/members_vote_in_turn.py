# /// expect
# run = "check"
# vram = "2.75GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["end"]
# form = "members x epochs x batches; each goes to the host, and comes back for the vote"
# need_gib = [1.5, 2.1]
# why = "a member is 65,536 x 1,024 x 4 B = 256 MiB, with gradient and momentum 768 MiB; it moves to the host with its gradient when it is trained; in the vote one member and its gradient, 512 MiB, are on the GPU, with the sum and one member's probabilities of 16,384 x 4,096 x 4 B = 256 MiB, the scores and what the softmax makes: 1.25 GiB. Five members on the GPU would be 2.5 GiB"
# ///
"""Trains five members, which wait on the host; for the vote each comes to the GPU, brings its share, and goes back."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Member(nn.Module):
    def __init__(self, words, width, classes):
        super().__init__()
        self.words = nn.EmbeddingBag(words, width)
        self.down, self.out = nn.Linear(width, 64), nn.Linear(64, classes)

    def forward(self, ids):
        return self.out(torch.relu(self.down(self.words(ids))))


class Ensemble:
    def __init__(self, args):
        self.args, self.members = args, []

    def add(self, member):
        self.members.append(member.eval().to("cpu"))

    @torch.no_grad()
    def vote(self, ids):
        ids = ids.cuda()
        votes = torch.zeros(len(ids), self.args.classes, device="cuda")
        for member in self.members:
            member.to("cuda")
            votes += member(ids).softmax(dim=-1)
            member.to("cpu")
        return votes.argmax(dim=-1).cpu()


def draw(rows, args):
    return torch.randint(args.words, (rows, 12)), torch.randint(args.classes, (rows,))


def train_member(number, dataset, args):
    torch.manual_seed(args.seed + number)
    member = Member(args.words, args.width, args.classes).cuda()
    optimizer = torch.optim.SGD(member.parameters(), lr=args.lr, momentum=0.9)
    steps_per_epoch = -(-len(dataset) // args.batch_size)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.epochs * steps_per_epoch)
    for epoch in range(args.epochs):
        for ids, labels in DataLoader(dataset, args.batch_size, shuffle=True):
            loss = nn.functional.cross_entropy(member(ids.cuda()), labels.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        print(f"member {number} epoch {epoch} loss {loss.item():.4f}")
    return member


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=65_536)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--classes", type=int, default=4096)
    parser.add_argument("--members", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--train-rows", type=int, default=6400)
    parser.add_argument("--test-rows", type=int, default=16_384)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    dataset = TensorDataset(*draw(args.train_rows, args))
    ensemble = Ensemble(args)
    for number in range(args.members):
        ensemble.add(train_member(number, dataset, args))
    ids, labels = draw(args.test_rows, args)
    print("accuracy", (ensemble.vote(ids) == labels).float().mean().item())


if __name__ == "__main__":
    main()
