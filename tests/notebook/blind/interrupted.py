# A training loop is stopped by hand. The frame of `train` holds `hidden`, 4 MiB; `state` belongs to the notebook too, 1 MiB.
# fails: 2
# row: traceback traceback 5*1024*1024 4*1024*1024
# row: state variable 1024*1024 0
# free: traceback 4*1024*1024
# %%
import torch
state = torch.zeros(512, 512, device="cuda")
def train(state):
    for step in range(100):
        hidden = torch.ones(1024, 1024, device="cuda")
        if step == 3:
            raise KeyboardInterrupt
# %%
train(state)
