# A list of caught errors, one for each of three failed trials: each traceback keeps the trial's frame with 2 MiB.
# row: errors variable 3*2*1024*1024 3*2*1024*1024
# absent: traceback
# free: errors 3*2*1024*1024
# %%
import torch
errors = []
def trial(rate):
    weights = torch.ones(1024, 512, device="cuda")
    raise ValueError(f"rate {rate} diverged")
# %%
for rate in (1.0, 0.1, 0.01):
    try:
        trial(rate)
    except ValueError as error:
        errors.append(error)
