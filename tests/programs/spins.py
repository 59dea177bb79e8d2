"""Loops until a computed value grows: on a GPU this ends, where nothing is computed it spins forever."""

import torch

state = torch.ones(1024, device="cuda")
score = (state * 0) @ state
while score.item() < 1:
    state = state + 1
    score = state @ state
