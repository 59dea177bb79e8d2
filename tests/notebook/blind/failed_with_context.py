# An error raised while another is handled keeps both tracebacks: `inner` holds 2 MiB and `outer` 1 MiB.
# fails: 2
# row: traceback traceback 3*1024*1024 3*1024*1024
# free: traceback 3*1024*1024
# %%
import torch
def inner():
    hidden = torch.ones(1024, 512, device="cuda")
    raise KeyError("missing")
def outer():
    kept = torch.ones(512, 512, device="cuda")
    try:
        inner()
    except KeyError:
        raise RuntimeError("no such layer")
# %%
outer()
