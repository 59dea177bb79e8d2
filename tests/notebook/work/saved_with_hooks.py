# A hook packs the saved tensor into a copy of 4 MiB; the look unpacks nothing: `calls` stays empty.
# row: y variable 3*4*1024*1024 2*4*1024*1024
# says: unpacked 0 times
# free: y 2*4*1024*1024
# %%
import torch
calls = []
w = torch.zeros(1024, 1024, device="cuda", requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: (t.detach().clone(),), lambda p: (calls.append(1), p[0])[1]):
    y = w.exp()
# %%
%oomph
# %%
print(f"unpacked {len(calls)} times")
