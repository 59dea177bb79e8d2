"""Uses the descriptors that the shell passed on: 3 and 17 are open for writing, 4 is a folder, 5 a file and 6 a pipe to read, 7 a socket."""

import os
import sys

import torch

for number in (3, 4, 7, 17):
    try:
        os.fstat(number)
    except OSError:
        continue
    raise SystemExit(f"{number} is open")
assert os.read(5, 100) == b"second line\n", "the file is not read from the shell's position"
assert os.read(6, 100) == b"of the pipe\n"
assert sys.stdin.readline() == "second line\n", "standard input is not read from the shell's position"
for number in (0, 5):
    try:
        os.write(number, b"by the dry run\n")
    except OSError:
        pass
    # The link of the kernel leads to the file that the number stands for.
    with open(f"/proc/self/fd/{number}", "a") as file:
        file.write("by the dry run\n")
model = torch.nn.Linear(64, 64).cuda()
model(torch.ones(8, 64, device="cuda")).sum().backward()
print("SEEN AS REAL", file=sys.stderr)
