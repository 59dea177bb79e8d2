# A helper module keeps a table of 4 MiB in a global. The notebook imports one function only: no variable holds the table, and the module's
# name says who does.
# row: first variable 4*1024*1024 0
# says: blind_helpers
# free: first 0
# %%
import pathlib
import sys
import tempfile
import torch
folder = tempfile.mkdtemp()
pathlib.Path(folder, "blind_helpers.py").write_text(
    "import torch\nTABLE = None\ndef load():\n    global TABLE\n"
    "    TABLE = TABLE if TABLE is not None else torch.ones(1024, 1024, device='cuda')\n    return TABLE\n"
)
sys.path.insert(0, folder)
# %%
from blind_helpers import load
first = load()[0]
