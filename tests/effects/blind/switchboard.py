# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# removed = 0
# connections = 0
# why = "a socket is no regular file; log.txt is written by its server"
# ///
"""Talks over a UNIX socket in its folder, with a thread and with a child."""

import os
import socket
import stat
import subprocess
import sys
import threading

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


listener = socket.socket(socket.AF_UNIX)
listener.bind("control.sock")
listener.listen()
expect("a socket", stat.S_ISSOCK(os.stat("control.sock").st_mode), True)


def serve():
    """Answers two clients."""
    for _ in range(2):
        connection, _ = listener.accept()
        text = connection.recv(100).decode()
        with open("log.txt", "a") as file:
            file.write(f"{text}\n")
        connection.sendall(text.upper().encode())
        connection.close()


thread = threading.Thread(target=serve)
thread.start()
with socket.socket(socket.AF_UNIX) as client:
    client.connect("control.sock")
    client.sendall(b"hello")
    expect("answer", client.recv(100), b"HELLO")
for step in range(3):
    train_step()
CHILD = f"""
import socket
client = socket.socket(socket.AF_UNIX)
client.connect({os.path.abspath("control.sock")!r})
client.sendall(b"child")
print(client.recv(100).decode())
"""
child = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
expect("answer to the child", child.stdout, "CHILD\n")
thread.join()
expect("log", open("log.txt").read(), "hello\nchild\n")
os.mkfifo("pipe")
writer = subprocess.Popen("echo through the pipe > pipe", shell=True)
expect("pipe", open("pipe").read(), "through the pipe\n")
writer.wait()
os.unlink("control.sock")
expect("gone", os.path.exists("control.sock"), False)
print("SEEN AS REAL", flush=True)
