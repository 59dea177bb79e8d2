# A closure holds 1 MiB in a cell, a function's default argument 2 MiB, a `functools.partial` 3 MiB, a bound method 4 MiB of its object.
# A function's globals are the notebook's namespace and no holder: `plain` uses `scale` and holds nothing.
# row: closure variable 1024*1024 1024*1024
# row: default variable 2*1024*1024 2*1024*1024
# row: bound variable 3*1024*1024 3*1024*1024
# row: method variable 4*1024*1024 4*1024*1024
# row: scale variable 512 512
# absent: plain
# absent: make
# free: closure 1024*1024
# %%
import functools
import torch
class Table:
    def __init__(self, rows):
        self.rows = torch.ones(rows, 512, 512, device="cuda")
    def lookup(self, i):
        return self.rows[i]
def make(table):
    return lambda i: table[i]
# %%
closure = make(torch.ones(512, 512, device="cuda"))
def default(i, table=torch.ones(2, 512, 512, device="cuda")):
    return table[i]
bound = functools.partial(torch.add, torch.ones(3, 512, 512, device="cuda"))
method = Table(4).lookup
scale = torch.tensor(2.0, device="cuda")
def plain(x):
    return x * scale
