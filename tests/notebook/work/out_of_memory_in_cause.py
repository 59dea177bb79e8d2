# The out-of-memory error is the cause of another error: the frames of both tracebacks are emptied, 4 and 2 MiB.
# fails: 2
# absent: traceback
# says: RuntimeError: training failed
# says: oomph: out of memory; freed 6.00 MiB
# %%
import torch
# %%
def step():
    batch = torch.zeros(1024, 1024, device="cuda")
    return torch.zeros(1 << 40, device="cuda")
def train():
    data = torch.zeros(512, 1024, device="cuda")
    try:
        step()
    except torch.cuda.OutOfMemoryError as error:
        raise RuntimeError("training failed") from error
train()
