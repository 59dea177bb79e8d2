# Names with an underscore in front, with letters beyond ASCII, and names that shadow builtins and modules of Python.
# row: _hidden variable 1024*1024 1024*1024
# row: __private variable 512 512
# row: données variable 2*1024*1024 2*1024*1024
# row: α variable 512 512
# row: len variable 3*1024*1024 3*1024*1024
# row: print variable 512 512
# row: list variable 512 512
# row: type variable 512 512
# row: gc variable 512 512
# row: sys variable 512 512
# free: données 2*1024*1024
# says: données
# %%
import torch
_hidden = torch.zeros(512, 512, device="cuda")
__private = torch.zeros(100, device="cuda")
données = torch.zeros(1024, 512, device="cuda")
α = torch.tensor(0.1, device="cuda")
# %%
len = torch.zeros(3, 512, 512, device="cuda")
print = torch.zeros(1, device="cuda")
list = [torch.zeros(2, device="cuda")]
type = torch.zeros(3, device="cuda")
gc = torch.zeros(4, device="cuda")
sys = torch.zeros(5, device="cuda")
