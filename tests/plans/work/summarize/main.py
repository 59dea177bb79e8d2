#!/usr/bin/env python
"""Trains an encoder-decoder transformer for summaries."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader

from data import Pairs

VOCAB = 8000


class Summarizer(nn.Module):
    def __init__(self, d_model=512, layers=4):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d_model)
        self.transformer = nn.Transformer(d_model, 8, layers, layers, 2048, dropout=0.0,
                                          batch_first=True)
        self.out = nn.Linear(d_model, VOCAB)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        hidden = self.transformer(self.embed(source), self.embed(target), tgt_mask=mask,
                                  tgt_is_causal=True)
        return self.out(hidden)


@torch.no_grad()
def evaluate(model, loader, loss_fn):
    model.eval()
    losses = []
    for source, target in loader:
        source, target = source.cuda(), target.cuda()
        logits = model(source, target[:, :-1])
        losses.append(loss_fn(logits.transpose(1, 2), target[:, 1:]).item())
    model.train()
    return sum(losses) / len(losses)


def parse_args():
    p = argparse.ArgumentParser(description="Train a summarization model")
    p.add_argument("--per-device-batch", type=int, default=8, help="batch size per GPU for training")
    p.add_argument("--per-device-eval-batch", type=int, default=8, help="batch size per GPU for evaluation")
    p.add_argument("--gradient-accumulation-steps", type=int, default=1,
                   help="number of batches to collect before an optimizer update")
    p.add_argument("--learning-rate", type=float, default=5e-5)
    p.add_argument("--max-train-samples", type=int, default=384)
    p.add_argument("--seed", type=int, default=42)
    return p.parse_args()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    train = DataLoader(Pairs(args.max_train_samples, VOCAB, 512, 128), args.per_device_batch, shuffle=True)
    dev = DataLoader(Pairs(16, VOCAB, 512, 128, seed=1), args.per_device_eval_batch)

    model = Summarizer().cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.1, total_iters=100)
    loss_fn = nn.CrossEntropyLoss(ignore_index=0)

    model.train()
    for i, (source, target) in enumerate(train):
        source, target = source.cuda(non_blocking=True), target.cuda(non_blocking=True)
        logits = model(source, target[:, :-1])
        loss = loss_fn(logits.transpose(1, 2), target[:, 1:]) / args.gradient_accumulation_steps
        loss.backward()
        if (i + 1) % args.gradient_accumulation_steps == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            opt.zero_grad()
    print("dev loss", evaluate(model, dev, loss_fn))


if __name__ == "__main__":
    main()
