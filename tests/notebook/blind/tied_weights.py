# A decoder that shares the encoder's weight of 512 x 512 x 4 B: 1 MiB, counted once. The decoder's first weight went when the second was
# assigned. `weight` is the parameter itself, so neither name frees.
# row: model variable 1024*1024 0
# row: weight variable 1024*1024 0
# free: weight 0
# %%
import torch
model = torch.nn.ModuleDict({
    "encoder": torch.nn.Linear(512, 512, bias=False, device="cuda"),
    "decoder": torch.nn.Linear(512, 512, bias=False, device="cuda"),
})
model["decoder"].weight = model["encoder"].weight
weight = model["decoder"].weight
