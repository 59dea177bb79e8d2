# A module of the user's keeps 2 MiB in a variable.
# row: helpers.CACHE module 2*1024*1024 2*1024*1024
# absent: helpers.torch
# %%
import pathlib
import sys
import torch
text = "import torch\nCACHE = {}\n"
written = pathlib.Path("helpers.py").write_text(text)
sys.path.insert(0, ".")
import helpers
helpers.CACHE["x"] = torch.zeros(512, 1024, device="cuda")
