# /// expect
# run = "check"
# vram = "7GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [8.9, 12]
# why = "two graphs with pools of their own, captured after step 6: 65,536 x 1024 x 4 B = 0.25 GiB for each of 16 kept outputs, 4 GiB in each pool"
# ///
"""Trains eagerly for six steps, then captures two CUDA graphs of the model, one for each input, and replays them."""

import torch
from torch import nn

ROWS, WIDTH, DEPTH, EAGER, STEPS = 65536, 1024, 16, 6, 100


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)])

    def forward(self, x):
        outputs = []
        for layer in self.layers:
            x = layer(x).relu_()
            outputs.append(x)
        return outputs


class Runner:
    def __init__(self, model, rows):
        self.input = torch.zeros(rows, WIDTH, device="cuda")
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph), torch.no_grad():
            self.outputs = model(self.input)

    def __call__(self, x):
        self.input.copy_(x)
        self.graph.replay()
        return self.outputs


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(EAGER):
    x = torch.randn(ROWS // 8, WIDTH, device="cuda")
    loss = sum(output.mean() for output in model(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
runners = [Runner(model, ROWS) for _ in range(2)]
for step in range(STEPS):
    for runner in runners:
        runner(torch.randn(ROWS, WIDTH, device="cuda"))
