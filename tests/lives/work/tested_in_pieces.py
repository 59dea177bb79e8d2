# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["end"]
# form = "while within try/finally"
# need_gib = [0.7, 1.5]
# why = "the test after the last step has 200,000 rows, 4,096 at once: 4,096 x 8,192 x 4 B = 128 MiB for a linear layer, as much for its ReLU"
# ///
"""The final test is in a finally block, so that it runs after an interrupt too; rows go through in pieces."""

import torch
from torch import nn

torch.manual_seed(4)
rows, answers = torch.randn(200_000, 24), torch.randint(5, (200_000,))
net = nn.Sequential(nn.Linear(24, 8192), nn.ReLU(), nn.Linear(8192, 5)).cuda()
optimizer = torch.optim.Adadelta(net.parameters())
left = 2000
try:
    while left > 0:
        picked = torch.randint(len(rows), (32,))
        loss = nn.functional.cross_entropy(net(rows[picked].cuda()), answers[picked].cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        left -= 1
except KeyboardInterrupt:
    print("stopped with", left, "steps left")
finally:
    right = 0
    with torch.no_grad():
        for x, y in zip(rows.split(4096), answers.split(4096)):
            right += (net(x.cuda()).argmax(1) == y.cuda()).sum()
    print("test", right.item() / len(rows))
