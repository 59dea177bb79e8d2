# Weak references hold nothing: a reference, a proxy, a weak set and a weak dict beside one tensor of 1 MiB. `dead` outlived its tensor.
# row: x variable 1024*1024 1024*1024
# absent: r
# absent: proxy
# absent: names
# absent: dead
# free: x 1024*1024
# %%
import weakref
import torch
x = torch.zeros(512, 512, device="cuda")
r = weakref.ref(x)
proxy = weakref.proxy(x)
names = weakref.WeakValueDictionary(x=x)
gone = torch.zeros(512, 512, device="cuda")
dead = weakref.ref(gone)
del gone
