# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 0
# connections = 0
# why = "dashboard.html and received.json; the only server is the program's own"
# ///
"""Serves its folder from a thread, and talks to itself by GET and POST."""

import http.server
import json
import sys
import threading
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


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and keeps the text of a POST."""

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        with open("received.json", "wb") as file:
            file.write(text)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}"
for step in range(3):
    train_step()
    with open("dashboard.html", "w") as file:
        file.write(f"<p>step {step}</p>\n")
    with urllib.request.urlopen(f"{address}/dashboard.html") as answer:
        expect("page", answer.read().decode(), f"<p>step {step}</p>\n")
    with urllib.request.urlopen(f"{address}/steps", data=json.dumps({"step": step}).encode()) as answer:
        expect("status", answer.status, 204)
    with open("received.json") as file:
        expect("received", json.load(file), {"step": step})
server.shutdown()
print("SEEN AS REAL", flush=True)
