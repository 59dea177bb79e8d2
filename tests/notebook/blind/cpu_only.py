# Nothing of the session is on the GPU: a model, a tensor of 40 MB and its gradient. No rows, and nothing to free.
# absent: x
# absent: model
# absent: Out[2]
# absent: traceback
# free: x 0
# %%
import torch
x = torch.ones(10, 1000, 1000, requires_grad=True)
model = torch.nn.Linear(10, 10)
# %%
x.sum().backward()
x.grad
