# /// expect
# run = "check"
# vram = "4.5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# step = 252
# line = 48
# form = "epochs x accumulation over enumerate(loader) with a rest; a list of hooks with functools.partial"
# need_gib = [5.45, 5.75]
# why = "an epoch has 1,002 micro-batches, which are 250 steps of four and one of two; the validation has 32 x 20 = 640 rows: logits of 640 x 128 x 8,192 x 2 B = 1.25 GiB, which are gone when they are in single precision, 2.5 GiB; their log-softmax is 2.5 GiB more, with 4.05 free: 5 GiB, 0.1 of weights and hidden states and the context; a micro-batch has 64 MiB"
# ///
"""A language model in bfloat16; a hook at the end of an epoch validates with a larger batch, and takes its loss in single precision."""

import argparse
from functools import partial

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TinyLM(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        return self.head(x + self.mlp(x))


def train_loss(model, rows):
    logits = model(rows[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


@torch.inference_mode()
def validate(trainer, loader, name="val"):
    trainer.model.eval()
    total, count = 0.0, 0
    for (rows,) in loader:
        rows = rows.cuda()
        logits = trainer.model(rows[:, :-1])
        logits = logits.float().flatten(0, 1)
        total += nn.functional.cross_entropy(logits, rows[:, 1:].flatten()).item() * len(rows)
        count += len(rows)
    trainer.model.train()
    print(f"{name} epoch {trainer.epoch} loss {total / count:.4f}")


def report_rate(trainer):
    print(f"epoch {trainer.epoch} lr {trainer.optimizer.param_groups[0]['lr']:.2e} updates {trainer.updates}")


class Trainer:
    def __init__(self, model, optimizer, args):
        self.model, self.optimizer, self.args = model, optimizer, args
        self.hooks = {"epoch_start": [], "epoch_end": []}
        self.epoch = self.updates = 0

    def register(self, event, hook):
        self.hooks[event].append(hook)

    def fire(self, event):
        for hook in self.hooks[event]:
            hook(self)

    def fit(self, loader):
        accum = self.args.accum
        for self.epoch in range(self.args.epochs):
            self.fire("epoch_start")
            for i, (rows,) in enumerate(loader):
                loss = train_loss(self.model, rows.cuda())
                (loss / accum).backward()
                if (i + 1) % accum == 0 or i + 1 == len(loader):
                    nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                    self.optimizer.step()
                    self.optimizer.zero_grad(set_to_none=True)
                    self.updates += 1
            self.fire("epoch_end")


def make_rows(count, args):
    return TensorDataset(torch.randint(args.vocab, (count, args.block + 1)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=8192)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--block", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--eval-batch-factor", type=int, default=20)
    parser.add_argument("--accum", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()

    model = TinyLM(args.vocab, args.width).to("cuda", torch.bfloat16)
    trainer = Trainer(model, torch.optim.AdamW(model.parameters(), lr=3e-4), args)
    train = DataLoader(make_rows(32_064, args), args.batch_size, shuffle=True)
    held_out = DataLoader(make_rows(2560, args), args.batch_size * args.eval_batch_factor)
    trainer.register("epoch_end", report_rate)
    trainer.register("epoch_end", partial(validate, loader=held_out, name="held-out"))
    trainer.fit(train)


if __name__ == "__main__":
    main()
