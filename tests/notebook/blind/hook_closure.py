# A forward hook appends each output to a list of its closure: 3 outputs of 1 MiB. The list has no name, but the module reaches its hooks.
# The handle refers to the hooks weakly.
# row: relu variable 3*1024*1024 3*1024*1024
# absent: handle
# free: relu 3*1024*1024
# %%
import torch
def record(module):
    outputs = []
    return module.register_forward_hook(lambda module, args, output: outputs.append(output))
relu = torch.nn.ReLU()
handle = record(relu)
# %%
for i in range(3):
    relu(torch.ones(512, 512, device="cuda"))
