"""Downloads to a cache, unpacks, and saves files of its own there: only an unchanged download stays."""

import os
import pathlib
import shutil
import sys
import tarfile
import threading
import urllib.request
import zipfile
from http.server import HTTPServer, SimpleHTTPRequestHandler

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(512, 512).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
model(torch.ones(8, 512, device=device)).square().mean().backward()
optimizer.step()
hub = pathlib.Path.home() / ".cache" / "torch" / "hub"
models = pathlib.Path.home() / ".cache" / "huggingface" / "hub" / "models--me--mine"
(hub / "checkpoints").mkdir(parents=True)
(models / "snapshots" / "1").mkdir(parents=True)
(models / "blobs").mkdir()
address = f"http://127.0.0.1:{os.environ['EFFECTS_PORT']}"
for name in ("fetched.zip", "changed.zip", "renamed.part.zip"):
    torch.hub.download_url_to_file(f"{address}/{name}", str(hub / name), progress=False)
urllib.request.urlretrieve(f"{address}/answer.json", hub / "answer.json")
with zipfile.ZipFile(hub / "fetched.zip") as archive:
    archive.extractall(hub / "unpacked")
os.replace(hub / "renamed.part.zip", hub / "renamed.zip")
os.symlink("fetched.zip", hub / "fetched_link")
# Files of its own, by every way.
state = model.state_dict()
torch.save(state, hub / "checkpoints" / "mine.pt")
torch.save(state, hub / "changed.zip")
torch.save(state, models / "snapshots" / "1" / "pytorch_model.bin")
save_file(state, models / "snapshots" / "1" / "model.safetensors")
torch.save(state, models / "blobs" / "saved.tmp")
os.replace(models / "blobs" / "saved.tmp", models / "blobs" / "saved")
os.symlink("../../blobs/saved", models / "snapshots" / "1" / "model.pt")
np.save(hub / "features.npy", model(torch.ones(8, 512, device=device)).detach().cpu().numpy())
(hub / "raw.bin").write_bytes(model.weight.detach().cpu().numpy().tobytes())
(models / "snapshots" / "1" / "config.json").write_text("{}")
shutil.copy(hub / "checkpoints" / "mine.pt", hub / "checkpoints" / "copied.pt")
with tarfile.open(hub / "own.tar", "w") as archive:
    archive.add(hub / "checkpoints" / "mine.pt", "mine.pt")
with tarfile.open(hub / "own.tar") as archive:
    archive.extractall(hub / "from_own_tar")
(hub / "answer_of_mine.json").write_bytes((hub / "answer.json").read_bytes())
urllib.request.urlretrieve((hub / "checkpoints" / "mine.pt").as_uri(), hub / "checkpoints" / "by_address.pt")


class Handler(SimpleHTTPRequestHandler):
    """Serves the program's own checkpoint."""

    def do_GET(self):
        body = (hub / "checkpoints" / "mine.pt").read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        """Prints nothing."""


server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
urllib.request.urlretrieve(f"http://127.0.0.1:{server.server_address[1]}/mine.pt", hub / "checkpoints" / "served.pt")
server.shutdown()
assert (hub / "unpacked" / "weights" / "layer.bin").read_bytes() == bytes(range(256)) * 256
assert (hub / "checkpoints" / "served.pt").stat().st_size == (hub / "checkpoints" / "mine.pt").stat().st_size
print("SEEN AS REAL", file=sys.stdout, flush=True)
