# A tensor of 2 MiB in a list in a dict in an object: the row is the variable.
# row: state variable 2*1024*1024 2*1024*1024
# free: state 2*1024*1024
# %%
import torch
class State:
    def __init__(self):
        self.parts = {"a": [(1, torch.zeros(512, 1024, device="cuda"))]}
state = State()
