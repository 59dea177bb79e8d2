# A subclass that answers everything by itself: 2 MiB.
# row: x variable 2*1024*1024 2*1024*1024
# says: calls 0
# free: x 2*1024*1024
# %%
import torch
calls = []
class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, kinds, arguments=(), options=None):
        calls.append(function)
        raise RuntimeError("not mine")
    @property
    def grad(self): raise RuntimeError("grad")
    @property
    def device(self): raise RuntimeError("device")
x = torch.zeros(512, 1024, device="cuda").as_subclass(Mine)
# %%
%oomph
# %%
print("calls", len(calls))
