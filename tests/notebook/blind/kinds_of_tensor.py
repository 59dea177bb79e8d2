# A subclass of Tensor with an attribute (1 MiB and 2 MiB), an nn.Parameter with a gradient (2 x 1 MiB), a complex tensor (8 B a number)
# and a half (2 B), a bool (1 B).
# row: tagged variable 3*1024*1024 3*1024*1024
# row: parameter variable 2*1024*1024 2*1024*1024
# row: spectrum variable 2*1024*1024 2*1024*1024
# row: half variable 512*1024 512*1024
# row: mask variable 256*1024 256*1024
# free: tagged 3*1024*1024
# %%
import torch
class Tagged(torch.Tensor):
    pass
# %%
tagged = torch.zeros(512, 512, device="cuda").as_subclass(Tagged)
tagged.extra = torch.zeros(1024, 512, device="cuda")
parameter = torch.nn.Parameter(torch.zeros(512, 512, device="cuda"))
parameter.grad = torch.zeros(512, 512, device="cuda")
spectrum = torch.zeros(512, 512, dtype=torch.complex64, device="cuda")
half = torch.zeros(512, 512, dtype=torch.half, device="cuda")
mask = torch.zeros(512, 512, dtype=torch.bool, device="cuda")
