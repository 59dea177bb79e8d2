"""Trains a recurrent network in three steps: a language model, a speech recogniser with CTC, or a translator."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("task", choices=["language", "speech", "translation"])
parser.add_argument("--cell", choices=["LSTM", "GRU", "RNN"], default="LSTM")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--length", type=int, default=256)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--bf16", action="store_true")
args = parser.parse_args()
cell = getattr(nn, args.cell)


class Language(nn.Module):
    """Embedding, two layers, logits of 10,000 words."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10_000, args.width)
        self.cells = cell(args.width, args.width, num_layers=2, dropout=0.2, batch_first=True)
        self.logits = nn.Linear(args.width, 10_000)

    def forward(self):
        tokens = torch.randint(0, 10_000, (args.batch, args.length), device="cuda")
        return F.cross_entropy(self.logits(self.cells(self.embed(tokens))[0]).flatten(0, 1), tokens.flatten())


class Speech(nn.Module):
    """Both directions, four layers, sequences of different lengths packed."""

    def __init__(self):
        super().__init__()
        self.cells = cell(80, args.width // 2, num_layers=4, bidirectional=True)
        self.logits = nn.Linear(args.width, 64)

    def forward(self):
        lengths = torch.linspace(args.length, args.length // 2, args.batch).long()
        sounds = torch.randn(args.length, args.batch, 80, device="cuda")
        packed = nn.utils.rnn.pack_padded_sequence(sounds, lengths)
        heard, _ = nn.utils.rnn.pad_packed_sequence(self.cells(packed)[0])
        words = torch.randint(1, 64, (args.batch, 32), device="cuda")
        return F.ctc_loss(self.logits(heard).log_softmax(-1), words, lengths, torch.full((args.batch,), 32))


class Translation(nn.Module):
    """The decoder goes step by step and attends to what the encoder heard."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10_000, args.width)
        self.encoder = cell(args.width, args.width, batch_first=True)
        self.step = nn.GRUCell(2 * args.width, args.width)
        self.logits = nn.Linear(args.width, 10_000)

    def forward(self):
        tokens = torch.randint(0, 10_000, (args.batch, args.length), device="cuda")
        heard = self.encoder(self.embed(tokens))[0]
        state, losses = heard[:, -1], []
        for word in tokens[:, :32].unbind(1):
            weights = torch.softmax((heard @ state[:, :, None]).squeeze(-1), 1)
            seen = (weights[:, None] @ heard).squeeze(1)
            state = self.step(torch.cat([self.embed(word), seen], 1), state)
            losses.append(F.cross_entropy(self.logits(state), word))
        return torch.stack(losses).mean()


model = {"language": Language, "speech": Speech, "translation": Translation}[args.task]().cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    with torch.autocast("cuda", torch.bfloat16, enabled=args.bf16):
        loss = model()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
