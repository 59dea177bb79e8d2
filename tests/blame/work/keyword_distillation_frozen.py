# /// expect
# run = "check"
# vram = "5GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "evaluation"
# no_finding = ["grad-recorded-in-eval"]
# why = "neither the teacher's weights nor its input need gradients, so nothing is saved: three maps of 256 MiB + 40 for the spectrogram, about 0.8 + 0.4 of 5 GiB; the student saves 7 x 64 MiB"
# ///
"""Distils a keyword spotter into a small student; the teacher's weights are frozen, so its forward saves nothing."""

import torch
from torch import nn
from torch.nn import functional as F

FRAMES, BATCH, KEYWORDS, TEMPERATURE = 1024, 256, 35, 4.0


class Spotter(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.enter = nn.Conv1d(40, width, 5, padding=2)
        self.body = nn.ModuleList(nn.Conv1d(width, width, 5, padding=2, groups=width // 32) for _ in range(depth))
        self.leave = nn.Linear(width, KEYWORDS)

    def forward(self, mel):
        x = F.relu(self.enter(mel))
        for convolution in self.body:
            x = x + F.silu(convolution(x))
        return self.leave(x.mean(dim=-1))


class Distiller:
    def __init__(self):
        self.teacher = Spotter(width=256, depth=10).cuda().eval().requires_grad_(False)
        self.student = Spotter(width=64, depth=3).cuda()
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=2e-3)

    def step(self, mel):
        guidance = F.softmax(self.teacher(mel) / TEMPERATURE, dim=-1)
        loss = F.kl_div(F.log_softmax(self.student(mel) / TEMPERATURE, dim=-1), guidance, reduction="batchmean")
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


distiller = Distiller()
for step in range(8):
    print(step, distiller.step(torch.randn(BATCH, 40, FRAMES, device="cuda")))
