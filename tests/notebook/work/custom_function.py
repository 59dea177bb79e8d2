# A function of the user's saves a tensor of 4 MiB, and keeps another one of 2 MiB in its context.
# row: y variable 4*1024*1024+2*1024*1024+4*1024*1024 4*1024*1024+2*1024*1024
# row: w variable 4*1024*1024 0
# free: y 6*1024*1024
# %%
import torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.more = torch.zeros(512, 1024, device="cuda")
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
w = torch.zeros(1024, 1024, device="cuda", requires_grad=True)
y = Double.apply(w)
