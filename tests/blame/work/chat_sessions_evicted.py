# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "fragmentation"
# first_finding = ["fragmentation"]
# lines = [24, 28, 31, 36]
# why = "a short session is 40 x 2048 x 8 x 128 x 2 B = 160 MiB; the 32 are cut from the warm-up's one cached segment of 5120 MiB, so the 16 that end leave holes of 160 MiB (2560 in all) in a segment that is in use; a long session needs 320, and beside the segment there is room for one: 3200 of 5734 MiB would be in use"
# ///
"""Keeps key-value caches of chat sessions; every other session ends, and longer ones begin."""

import torch

LAYERS, HEADS, HEAD = 20, 8, 128


class CacheServer:
    def __init__(self):
        self.sessions = {}

    def warm_up(self, tokens):
        """One pass over the longest prompt, so that the first user need not wait for the allocator."""
        workspace = torch.empty(2 * LAYERS, tokens, HEADS, HEAD, dtype=torch.half, device="cuda")
        return workspace.normal_().std().item()

    def begin(self, name, tokens):
        self.sessions[name] = torch.zeros(2 * LAYERS, tokens, HEADS, HEAD, dtype=torch.half, device="cuda")

    def end(self, name):
        self.sessions.pop(name)


def main():
    server = CacheServer()
    server.warm_up(tokens=64 * 1024)
    for number in range(32):
        server.begin(f"short-{number}", tokens=2048)
    for number in range(0, 32, 2):
        server.end(f"short-{number}")
    for number in range(6):
        server.begin(f"long-{number}", tokens=4096)
    print(len(server.sessions), "sessions")


main()
