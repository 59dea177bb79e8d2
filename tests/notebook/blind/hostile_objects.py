# Objects whose `__repr__`, `__getattr__`, `__eq__`, `__hash__`, `__bool__` or `__len__` raises hold 1 MiB each. Their tensors are found
# and freed, and no method of theirs stops the table.
# row: hostile variable 1024*1024 1024*1024
# row: lazy variable 1024*1024 1024*1024
# row: holder variable 1024*1024 1024*1024
# absent: lying
# free: hostile 1024*1024
# %%
import torch
class Hostile:
    def __init__(self):
        self.__dict__["data"] = torch.zeros(512, 512, device="cuda")
    def refuse(self, *args):
        raise RuntimeError("do not touch")
    __repr__ = __eq__ = __bool__ = __len__ = __iter__ = __getattr__ = __setattr__ = __sizeof__ = refuse
    __hash__ = refuse
class Lazy:
    def __init__(self):
        self.data = torch.zeros(512, 512, device="cuda")
    @property
    def __class__(self):
        raise RuntimeError("no class")
class Lying:
    __class__ = torch.Tensor
    def __getattr__(self, name):
        raise KeyError(name)
# %%
hostile = Hostile()
lazy = Lazy()
holder = {1: (Hostile(),)}
lying = Lying()
