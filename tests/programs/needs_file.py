"""Opens a file that is not there, as a script does whose data was never downloaded."""

import torch

model = torch.nn.Linear(16, 16).cuda()
with open("data/train.bin", "rb") as file:
    model(torch.frombuffer(bytearray(file.read(64)), dtype=torch.float32).cuda())
