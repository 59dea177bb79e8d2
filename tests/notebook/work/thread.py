# A thread waits with 2 MiB in a local variable.
# row: thread:worker thread 2*1024*1024 ~
# says: thread:worker
# %%
import threading
import torch
ready, go = threading.Event(), threading.Event()
def work():
    mine = torch.zeros(512, 1024, device="cuda")
    ready.set()
    go.wait()
thread = threading.Thread(target=work, name="worker", daemon=True)
thread.start()
done = ready.wait()
