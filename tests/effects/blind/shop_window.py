# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 0
# connections = 0
# why = "site/index.html and site/steps.txt; the port file is removed; the server is a child of the program"
# ///
"""A child serves a folder that the program writes; both see the same files."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(1024, 1024).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def expect(what, found, wanted):
    """Ends the program with status 3 if it reads something else than it wrote."""
    if found != wanted:
        print(f"{what}: {found!r:.300}, not {wanted!r:.300}", file=sys.stderr, flush=True)
        raise SystemExit(3)


def train_step():
    """A step of the optimizer."""
    loss = model(torch.ones(8, 1024, device=device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


SERVER = """
import functools, http.server
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="site")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
with open("port.part", "w") as file:
    file.write(str(server.server_address[1]))
import os
os.rename("port.part", "port")
server.serve_forever()
"""
child = subprocess.Popen([sys.executable, "-c", SERVER], stderr=subprocess.DEVNULL)
end = time.monotonic() + 60
while not os.path.exists("port") and time.monotonic() < end:
    time.sleep(0.05)
address = f"http://127.0.0.1:{open('port').read()}"
expect("old", urllib.request.urlopen(f"{address}/index.html").read(), b"old\n")
for step in range(3):
    train_step()
    with open("site/index.html", "w") as file:
        file.write(f"step {step}\n")
    with open("site/steps.txt", "a") as file:
        file.write(f"{step}\n")
    expect("new", urllib.request.urlopen(f"{address}/index.html").read(), f"step {step}\n".encode())
expect("steps", urllib.request.urlopen(f"{address}/steps.txt").read(), b"0\n1\n2\n")
try:
    urllib.request.urlopen(f"{address}/missing.html")
    expect("a missing page", "found", "missing")
except urllib.error.HTTPError as error:
    expect("status", error.code, 404)
child.terminate()
child.wait()
os.remove("port")
print("SEEN AS REAL", flush=True)
