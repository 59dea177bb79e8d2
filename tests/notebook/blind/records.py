# A dataclass of 2 tensors, a named tuple in nested dicts, and an object with slots. `record.target` is the tensor of the slot: 1 MiB
# with two holders.
# row: record variable 3*1024*1024 2*1024*1024
# row: config variable 4*1024*1024 4*1024*1024
# row: slotted variable 1024*1024 0
# free: record 2*1024*1024
# %%
import collections
import dataclasses
import torch
@dataclasses.dataclass
class Record:
    data: torch.Tensor
    target: torch.Tensor
class Slotted:
    __slots__ = ("value", "empty")
    def __init__(self, value):
        self.value = value
Pair = collections.namedtuple("Pair", "first second")
# %%
slotted = Slotted(torch.zeros(512, 512, device="cuda"))
record = Record(torch.zeros(1024, 512, device="cuda"), slotted.value)
config = {"a": {"b": [{"c": Pair(1, collections.deque([(torch.zeros(1024, 1024, device="cuda"),)]))}]}}
