# /// expect
# run = "run"
# vram = "4GiB"
# others = "3GiB"
# ends = "ok"
# status = 0
# line = 32
# requested_bytes = 134217728
# says_any = ["other process", "another process"]
# culprit = 32
# caught = 1
# ///
"""Loads 1 GiB beside processes that use 3 of 4 GiB; the loading thread ends with sys.exit(7), which ends only the thread."""

import sys
import threading

import torch

LAYERS = 8
loaded: dict[str, list[torch.Tensor]] = {}


def read_layer(number: int) -> torch.Tensor:
    """Returns one layer of 128 MiB, on the host."""
    return torch.empty(8192, 4096, dtype=torch.float32 if number >= 0 else torch.float16)


def load() -> None:
    """Loads all layers, or ends the thread."""
    try:
        loaded["model"] = [read_layer(number).cuda() for number in range(LAYERS)]
    except torch.cuda.OutOfMemoryError:
        print("cannot load the model", file=sys.stderr, flush=True)
        sys.exit(7)


def serve(requests: int) -> int:
    """Answers requests, with the model if it is there."""
    return sum(1 for _ in range(requests) if "model" in loaded)


loader = threading.Thread(target=load, name="loader")
loader.start()
loader.join()
print("served", serve(10), "requests on the GPU")
