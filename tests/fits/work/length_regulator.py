# /// expect
# run = "check"
# vram = "4GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [21]
# need_gib = [6, 22]
# why = "durations of 64 x 4096 phonemes are 12 frames each: 3,145,728 frames x 512 x 4 B = 6 GiB from one repeat_interleave"
# ///
"""FastSpeech: repeats each phoneme's state for as many frames as it lasts, for the whole batch at once."""

import torch
from torch import nn

BATCH, PHONEMES, WIDTH, MELS, SYMBOLS, FRAMES, STEPS = 64, 4096, 512, 80, 120, 12, 1000


class LengthRegulator(nn.Module):
    def forward(self, states, durations):
        return torch.repeat_interleave(states.flatten(0, 1), durations.flatten(), dim=0)


class FastSpeech(nn.Module):
    def __init__(self):
        super().__init__()
        self.phonemes = nn.Embedding(SYMBOLS, WIDTH)
        self.regulate = LengthRegulator()
        self.mel = nn.Linear(WIDTH, MELS)

    def forward(self, symbols, durations):
        return self.mel(self.regulate(self.phonemes(symbols), durations))


def batches():
    generator = torch.Generator().manual_seed(3)
    for _ in range(STEPS):
        symbols = torch.randint(SYMBOLS, (BATCH, PHONEMES), generator=generator)
        durations = torch.full((BATCH, PHONEMES), FRAMES)
        durations[:, ::2] += 1
        durations[:, 1::2] -= 1
        yield symbols.cuda(), durations.cuda()


model = FastSpeech().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for symbols, durations in batches():
    frames = model(symbols, durations)
    loss = frames.abs().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
