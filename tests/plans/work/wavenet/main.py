"""Fits a dilated convolution network to audio snippets."""
from argparse import ArgumentParser

import torch
import torch.nn.functional as F
from torch import nn

p = ArgumentParser()
p.add_argument("-n", type=int, default=16, help="samples per step")
p.add_argument("-m", type=int, default=1, help="slices a step is computed in")
p.add_argument("-l", type=int, default=16000, help="snippet length")
p.add_argument("-i", type=int, default=6, help="steps")
p.add_argument("-v", action="count", default=0)
a = p.parse_args()


class Gate(nn.Module):
    def __init__(self, ch, dilation):
        super().__init__()
        self.pad = dilation
        self.conv = nn.Conv1d(ch, 2 * ch, 2, dilation=dilation)
        self.res = nn.Conv1d(ch, ch, 1)
        self.skip = nn.Conv1d(ch, ch, 1)

    def forward(self, x):
        f, g = self.conv(F.pad(x, (self.pad, 0))).chunk(2, 1)
        y = torch.tanh(f) * torch.sigmoid(g)
        return x + self.res(y), self.skip(y)


class WaveNet(nn.Module):
    def __init__(self, ch=48, stacks=2, depth=8, levels=64):
        super().__init__()
        self.front = nn.Conv1d(1, ch, 1)
        self.gates = nn.ModuleList(Gate(ch, 2 ** d) for _ in range(stacks) for d in range(depth))
        self.back = nn.Sequential(nn.ReLU(), nn.Conv1d(ch, ch, 1), nn.ReLU(), nn.Conv1d(ch, levels, 1))

    def forward(self, x):
        x, out = self.front(x), 0
        for gate in self.gates:
            x, s = gate(x)
            out = out + s
        return self.back(out)


net = WaveNet().cuda()
adam = torch.optim.Adam(net.parameters(), 1e-3)
for i in range(a.i):
    wave = torch.rand(a.n, 1, a.l + 1) * 2 - 1
    code = ((wave[:, 0, 1:] + 1) * 31.5).long()
    adam.zero_grad()
    for j in range(a.m):
        w, c = wave[j::a.m, :, :-1].cuda(), code[j::a.m].cuda()
        loss = F.cross_entropy(net(w), c, reduction="sum") / code.numel()
        loss.backward()
    adam.step()
    if a.v:
        print(i, float(loss))
