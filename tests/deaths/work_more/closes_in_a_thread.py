# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 34
# requested_bytes = 8589934592
# says_any = ["8.00 gib"]
# steps = 400
# ///
"""Closes every descriptor again and again in a second thread, which puts own files in their place: they hold its own bytes alone."""

import os
import threading

import ownfiles
import torch

ownfiles.train(1)
is_over = threading.Event()


def close_and_open() -> None:
    """Closes what is open, and opens own files with the same numbers."""
    while not is_over.is_set():
        os.closerange(3, 64)
        ownfiles.check_own(ownfiles.open_own(4))


closing = threading.Thread(target=close_and_open)
closing.start()
try:
    ownfiles.train(399)
    torch.empty(2**33, dtype=torch.uint8, device="cuda")
finally:
    is_over.set()
    closing.join()
