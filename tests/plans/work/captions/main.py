"""Trains a caption model (LSTM over picture features); `train` and `export` are subcommands."""
import argparse

import torch
from torch import nn
import torch.nn.functional as F


class Captioner(nn.Module):
    def __init__(self, vocab=6000, dim=512):
        super().__init__()
        self.pic = nn.Linear(1024, dim)
        self.word = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, num_layers=2, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, pic, words):
        x = torch.cat([self.pic(pic)[:, None], self.word(words[:, :-1])], 1)
        return self.out(self.lstm(x)[0])


def train(args, parser):
    if args.batch_size % args.accumulate:
        parser.error(f"--accumulate {args.accumulate} does not divide --batch-size {args.batch_size}")
    model = Captioner().cuda()
    opt = torch.optim.RMSprop(model.parameters(), lr=1e-4)
    micro = args.batch_size // args.accumulate
    for step in range(args.steps):
        pics = torch.randn(args.batch_size, 1024)
        words = torch.randint(6000, (args.batch_size, args.length))
        opt.zero_grad(set_to_none=True)
        for lo in range(0, args.batch_size, micro):
            p, w = pics[lo : lo + micro].cuda(), words[lo : lo + micro].cuda()
            loss = F.cross_entropy(model(p, w).flatten(0, 1), w.flatten()) / args.accumulate
            loss.backward()
        opt.step()
    print("last loss", loss.item() * args.accumulate)


def export(args, parser):
    torch.save(Captioner().state_dict(), args.path)


def main():
    parser = argparse.ArgumentParser(prog="captions")
    sub = parser.add_subparsers(dest="what", required=True)
    t = sub.add_parser("train", help="train the model")
    t.add_argument("--batch-size", type=int, default=64)
    t.add_argument("--accumulate", type=int, default=1)
    t.add_argument("--length", type=int, default=24)
    t.add_argument("--steps", type=int, default=5)
    t.set_defaults(call=train)
    e = sub.add_parser("export", help="write untrained weights")
    e.add_argument("path")
    e.set_defaults(call=export)
    args = parser.parse_args()
    args.call(args, parser)


if __name__ == "__main__":
    main()
