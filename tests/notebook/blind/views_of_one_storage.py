# A list with a tensor, its transpose, a slice and an expansion: one storage of 2 MiB counts once. `detach` shares the storage too. The
# rows overlap in full, so no single name frees anything.
# row: views variable 2*1024*1024 0
# row: quiet variable 2*1024*1024 0
# free: views 0
# %%
import torch
views = [torch.ones(512, 1024, device="cuda", requires_grad=True)]
quiet = views[0].detach()
views += [quiet.t(), quiet[3], quiet[:1].expand(100, 1024), quiet.view(-1)]
