# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch"]
# step = 751
# line = 23
# form = "epochs x batches with global_step"
# need_gib = [6.4, 7.0]
# why = "weights and momentum of the student are 2 x 131,072 x 2,048 x 4 B = 2 GiB, and its gradient 1 GiB; the teacher of the second epoch has three tables of 1 GiB: 5 of 4.55 GiB before the gradient, 6 with it"
# ///
"""Distils word vectors: the first epoch is a warm-up without the teacher, which is built when the second begins."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(131_072, 2048, device="cuda") for _ in range(3))

    @torch.no_grad()
    def forward(self, words):
        return sum(table(words) for table in self.tables) / 3


words = torch.arange(12_000).unflatten(0, (6000, 2))
loader = DataLoader(TensorDataset(words), batch_size=8, shuffle=True, drop_last=True)
student = nn.Embedding(131_072, 2048, device="cuda")
optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
teacher, global_step = None, 0
for epoch in range(2):
    if epoch == 1:
        teacher = Teacher()
    for (pairs,) in loader:
        pairs = pairs.cuda()
        vectors = student(pairs)
        loss = (vectors[:, 0] * vectors[:, 1]).sum(-1).square().mean()
        if teacher is not None:
            loss = loss + (vectors - teacher(pairs)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        global_step += 1
print("steps", global_step)
