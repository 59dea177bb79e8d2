# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["save"]
# step = 601
# line = 58
# form = "nested epochs, shards and batches; the exporter asks a set of fractions of the total that its steps have reached"
# need_gib = [8.7, 9.1]
# why = "the export looks for the nearest of 16,384 codes for all 65,536 rows at once: 65,536 x 16,384 x 4 B = 4 GiB of squared distances with 3.55 free, and their roots are 4 GiB more; the table has 65,536 x 256 x 4 B = 64 MiB, and with Adam, gradient and the codebook it is about 0.4 GiB. The total is 3 x 4 x 100 = 1,200 steps, and the first fraction is a half"
# ///
"""Trains vectors of songs; at given fractions of the training they are exported as codes of a codebook, for phones."""

import argparse
import io

import torch
from torch import nn


class SongModel(nn.Module):
    def __init__(self, songs, width):
        super().__init__()
        self.songs = nn.Embedding(songs, width)
        self.user = nn.GRU(width, width, batch_first=True)

    def forward(self, history, target):
        _, state = self.user(self.songs(history))
        return (state[-1] * self.songs(target)).sum(dim=-1)


class Shard:
    """Stands for a file of listening histories."""

    def __init__(self, number, args):
        generator = torch.Generator().manual_seed(number)
        self.rows = torch.randint(args.songs, (args.batches_per_shard * args.batch_size, args.history + 1), generator=generator)
        self.batch_size = args.batch_size

    def __iter__(self):
        return iter(self.rows.split(self.batch_size))


class Exporter:
    def __init__(self, total_steps, fractions, codes):
        self.pending = sorted({int(total_steps * fraction) for fraction in fractions})
        self.codes = codes

    def is_due(self, step):
        return bool(self.pending) and step >= self.pending[0]

    @torch.no_grad()
    def export(self, model, step):
        self.pending.pop(0)
        rows = model.songs.weight.detach()
        codebook = rows[torch.randperm(len(rows))[: self.codes].to(rows.device)]
        nearest = torch.cdist(rows, codebook).argmin(dim=1)
        file = io.BytesIO()
        torch.save({"codes": nearest.short().cpu(), "codebook": codebook.half().cpu(), "step": step}, file)
        print(f"step {step}: exported {file.tell() / 2**20:.1f} MiB")


def train_epoch(model, optimizer, exporter, args, step):
    for number in range(args.shards):
        for rows in Shard(number, args):
            rows = rows.cuda()
            wrong = rows[:, -1].roll(1)
            gap = model(rows[:, :-1], rows[:, -1]) - model(rows[:, :-1], wrong)
            loss = -nn.functional.logsigmoid(gap).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            if exporter.is_due(step):
                exporter.export(model, step)
    return step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--songs", type=int, default=65_536)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--history", type=int, default=12)
    parser.add_argument("--codes", type=int, default=16_384)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--batches-per-shard", type=int, default=100)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--export-at", type=float, nargs="+", default=[0.5, 1.0])
    args = parser.parse_args()

    model = SongModel(args.songs, args.width).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    exporter = Exporter(args.epochs * args.shards * args.batches_per_shard, args.export_at, args.codes)
    step = 0
    for epoch in range(args.epochs):
        step = train_epoch(model, optimizer, exporter, args, step)
        print(f"epoch {epoch} done after {step} steps")


if __name__ == "__main__":
    main()
