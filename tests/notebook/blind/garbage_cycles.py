# Two nodes point to each other and have no name any more. The collector is off, as in a long cell between two collections: 2 x 3 MiB
# wait as garbage in a cycle.
# row: cycles cycle 6*1024*1024 6*1024*1024
# absent: a
# free: cycles 6*1024*1024
# %%
import gc
import torch
gc.disable()
class Node:
    def __init__(self):
        self.data = torch.ones(3, 512, 512, device="cuda")
# %%
a, b = Node(), Node()
a.other, b.other = b, a
del a, b
