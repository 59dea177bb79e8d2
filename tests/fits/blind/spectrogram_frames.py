# /// expect
# run = "check"
# vram = "6GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [26, 47]
# need_gib = [10, 30]
# why = "one recording of 40,000 frames pads all 32: joint tensor 32 x 40,000 x 1024 x 4 B = 4.9 GiB, twice with tanh; the others have 600 frames"
# ///
"""Speech recognition with CTC: the batch is padded to the longest recording, measured in its samples on the GPU."""

import torch
from torch import nn

RECORDINGS, HOP, LONGEST, MELS, WIDTH, LETTERS, STEPS = 32, 160, 40_000, 80, 1024, 32, 100


class Recognizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(MELS, WIDTH)
        self.letters = nn.Linear(WIDTH, LETTERS)

    def forward(self, mel):
        return self.letters(torch.tanh(self.hidden(mel))).log_softmax(-1)


def recordings(step):
    ends = torch.full((RECORDINGS,), 600 * HOP)
    ends[step % RECORDINGS] = LONGEST * HOP
    return ends


def frames(ends):
    return torch.div(ends, HOP, rounding_mode="floor")


model = Recognizer().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(STEPS):
    length = frames(recordings(step).cuda())
    mel = torch.randn(RECORDINGS, int(length.max()), MELS, device="cuda")
    targets = torch.randint(1, LETTERS, (RECORDINGS, 20), device="cuda")
    loss = nn.functional.ctc_loss(model(mel).transpose(0, 1), targets, length, torch.full_like(length, 20))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
