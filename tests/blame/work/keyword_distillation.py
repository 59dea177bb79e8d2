# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "evaluation"
# first_finding = ["grad-recorded-in-eval"]
# lines = [31, 51]
# saves_mib = 4864
# why = "a map of 256 x 256 x 1024 x 4 B is 256 MiB; for each of ten layers the teacher saves its input and its convolution (20 x 256 and one more), 5.2 GiB, and one more for the sum: 5675 + 410 of 5120 MiB; without gradients it needs three maps"
# ///
"""Distils a keyword spotter into a small student; the teacher is only asked for its logits."""

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


def distillation_loss(student_logits, guidance, keyword):
    soft = F.kl_div(
        F.log_softmax(student_logits / TEMPERATURE, dim=-1),
        F.softmax(guidance / TEMPERATURE, dim=-1),
        reduction="batchmean",
    )
    return 0.7 * TEMPERATURE**2 * soft + 0.3 * F.cross_entropy(student_logits, keyword)


teacher = Spotter(width=256, depth=10).cuda().eval()
student = Spotter(width=64, depth=3).cuda()
optimizer = torch.optim.AdamW(student.parameters(), lr=2e-3)

for step in range(25):
    mel = torch.randn(BATCH, 40, FRAMES, device="cuda")
    keyword = torch.randint(0, KEYWORDS, (BATCH,), device="cuda")
    guidance = teacher(mel).detach()
    student_logits = student(mel)
    loss = distillation_loss(student_logits, guidance, keyword)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
