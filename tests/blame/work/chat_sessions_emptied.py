# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "fragmentation"
# no_finding = ["fragmentation"]
# why = "empty_cache() returns the warm-up's 3840 MiB, so each short session has a segment of 160 MiB, and those of the 14 that end can be released for the long ones: 14 x 160 + 6 x 320 = 4160 MiB; the peak is 28 x 160 = 4480 + 410 of 6144 MiB"
# ///
"""Keeps key-value caches of chat sessions; the warm-up's memory is given back, so each cache has a segment to itself."""

import torch

LAYERS, HEADS, HEAD = 20, 8, 128


class CacheServer:
    def __init__(self):
        self.sessions = {}

    def warm_up(self, tokens):
        workspace = torch.empty(2 * LAYERS, tokens, HEADS, HEAD, dtype=torch.half, device="cuda")
        deviation = workspace.normal_().std().item()
        del workspace
        torch.cuda.empty_cache()
        return deviation

    def begin(self, name, tokens):
        self.sessions[name] = torch.zeros(2 * LAYERS, tokens, HEADS, HEAD, dtype=torch.half, device="cuda")

    def end(self, name):
        self.sessions.pop(name)


def main():
    server = CacheServer()
    server.warm_up(tokens=48 * 1024)
    for number in range(28):
        server.begin(f"short-{number}", tokens=2048)
    for number in range(0, 28, 2):
        server.end(f"short-{number}")
    for number in range(6):
        server.begin(f"long-{number}", tokens=4096)
    print(len(server.sessions), "sessions")


main()
