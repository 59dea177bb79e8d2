# The program catches the error and stores it in a name: the stored error keeps the frame with 8 MiB until the name goes.
# row: failure variable 8*1024*1024 8*1024*1024
# free: failure 8*1024*1024
# says: failure
# %%
import torch
def forward():
    hidden = torch.ones(2048, 1024, device="cuda")
    return hidden, torch.empty(100, 1024, 1024, 1024, dtype=torch.uint8, device="cuda")
# %%
try:
    forward()
except torch.cuda.OutOfMemoryError as error:
    failure = error
