# A context made with `copy_context` keeps the value of a context variable, 1 MiB, in its mapping. The variable itself only names it.
# row: context variable 1024*1024 1024*1024
# absent: buffer
# free: context 1024*1024
# %%
import contextvars
import torch
buffer = contextvars.ContextVar("buffer", default=None)
context = contextvars.copy_context()
# %%
def fill():
    buffer.set(torch.zeros(512, 512, device="cuda"))
context.run(fill)
