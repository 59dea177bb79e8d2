# An object that refers to itself keeps 4 MiB after `del`.
# row: cycles cycle 4*1024*1024 4*1024*1024
# free: cycles 4*1024*1024
# says: unreachable: Trainer
# %%
import gc
import torch
gc.disable()
class Trainer:
    pass
# %%
trainer = Trainer()
trainer.me = trainer
trainer.weights = torch.zeros(1024, 1024, device="cuda")
del trainer
