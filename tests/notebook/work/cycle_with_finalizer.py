# The look runs no finalizer of an unreachable object; `%oomph free cycles` does.
# row: cycles cycle 4*1024*1024 4*1024*1024
# row: closed variable 2*1024*1024 2*1024*1024
# free: closed 6*1024*1024
# %%
import gc
import torch
gc.disable()
closed = [torch.zeros(512, 1024, device="cuda")]
class Trainer:
    def __del__(self):
        closed.append(1)
        raise RuntimeError("not a good time")
# %%
trainer = Trainer()
trainer.me = trainer
trainer.weights = torch.zeros(1024, 1024, device="cuda")
del trainer
