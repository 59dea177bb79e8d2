# A thread waits with a tensor of 4 MiB in its frame; no name of the notebook holds the tensor. The thread's name says who does. The
# session's own `x` is apart.
# row: x variable 512 512
# free: x 512
# says: prefetcher
# %%
import threading
import torch
x = torch.zeros(1, device="cuda")
ready, stop = threading.Event(), threading.Event()
def prefetch():
    batch = torch.zeros(1024, 1024, device="cuda")
    ready.set()
    stop.wait()
# %%
worker = threading.Thread(target=prefetch, name="prefetcher", daemon=True)
worker.start()
started = ready.wait(60)
