# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "exception"
# first_finding = ["exception-holds-frames"]
# lines = [39, 29]
# why = "a batch saves 20 tensors of size x 4096 x 4 B: 32768 rows (512 MiB each) do not fit, which the search expects; but the stored error's traceback keeps the frames of that forward with all that it had saved, some 5000 MiB, so that 8192 rows (128 MiB each, 2560 MiB) and at last 6144 (1920 MiB) do not fit either; without it 8192 rows fit with 3900 MiB of 5734"
# ///
"""Finds the largest batch with which a ranking net can be trained."""

import torch
from torch import nn

WIDTH, DEPTH = 4096, 10


class BatchSearch:
    def __init__(self):
        layers = []
        for _ in range(DEPTH):
            layers += [nn.Linear(WIDTH, WIDTH, device="cuda"), nn.GELU()]
        self.net = nn.Sequential(*layers, nn.Linear(WIDTH, 1, device="cuda"))
        self.failures = {}

    def attempt(self, rows):
        queries = torch.randn(rows, WIDTH, device="cuda")
        self.net(queries).mean().backward()
        self.net.zero_grad()

    def largest(self, sizes):
        *larger, smallest = sizes
        for rows in larger:
            try:
                self.attempt(rows)
                return rows
            except torch.OutOfMemoryError as error:
                self.failures[rows] = error
                torch.cuda.empty_cache()
        self.attempt(smallest)  # this one has to fit
        return smallest


search = BatchSearch()
rows = search.largest([32768, 8192, 6144])
print("largest batch:", rows, "- too large:", list(search.failures))

optimizer = torch.optim.SGD(search.net.parameters(), lr=1e-3)
for step in range(3):
    search.net(torch.randn(rows, WIDTH, device="cuda")).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
