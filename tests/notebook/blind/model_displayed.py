# `model.eval()` as the last line of a cell displays the model and puts it into Out[2], where it stays after `del model`. The weight is
# 256 x 512 x 4 B = 512 KiB, the bias 256 x 4 B = 1024 B.
# row: Out[2] output 512*1024+1024 512*1024+1024
# absent: model
# free: Out[2] 512*1024+1024
# says: Out[2]
# %%
import torch
model = torch.nn.Linear(512, 256, device="cuda")
# %%
model.eval()
# %%
del model
