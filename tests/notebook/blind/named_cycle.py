# An object that points to itself and has a name is no garbage. `%oomph free` collects, so all 3 MiB go with the name.
# row: node variable 3*1024*1024 3*1024*1024
# absent: cycles
# free: node 3*1024*1024
# %%
import torch
class Node:
    pass
node = Node()
node.self = node
node.children = {"left": node, "data": torch.ones(3, 512, 512, device="cuda")}
