# Objects whose methods raise are not asked.
# row: hostile variable 2*1024*1024 2*1024*1024
# absent: strange
# free: hostile 2*1024*1024
# %%
import torch
class Hostile:
    def __init__(self, x):
        object.__setattr__(self, "x", x)
    def __repr__(self): raise RuntimeError("repr")
    def __eq__(self, other): raise RuntimeError("eq")
    def __hash__(self): raise RuntimeError("hash")
    def __len__(self): raise RuntimeError("len")
    def __bool__(self): raise RuntimeError("bool")
    def __getattr__(self, name): raise RuntimeError(name)
    def __getattribute__(self, name): raise RuntimeError(name)
    @property
    def __class__(self): raise RuntimeError("class")
    @property
    def __dict__(self): raise RuntimeError("dict")
    def __del__(self): raise RuntimeError("del")
class Meta(type):
    def __eq__(self, other): raise RuntimeError("eq of a class")
    def __hash__(self): raise RuntimeError("hash of a class")
    def __getattribute__(self, name): raise RuntimeError(name)
class Strange(metaclass=Meta):
    pass
hostile = Hostile(torch.zeros(512, 1024, device="cuda"))
strange = Strange()
