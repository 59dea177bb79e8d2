# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 26
# requested_bytes = 367001600
# says_any = ["cycle", "gc.", "garbage"]
# culprit = 26
# ///
"""A session's callback refers to the session, and the collector hardly ever runs: closed sessions keep 350 MiB each."""

import gc
from collections.abc import Callable, Iterator

import torch

gc.set_threshold(100_000, 50, 50)  # fewer pauses


class Session:
    """One user's conversation with its key-value cache."""

    def __init__(self, user: str, log: list[str]) -> None:
        self.user, self.log = user, log
        self.cache = torch.zeros(175, 1024, 1024, dtype=torch.float16, device="cuda")
        self.on_close: Callable[[], None] = lambda: self.log.append(f"{self.user} left")

    def answer(self, question: str) -> str:
        self.cache[:, 0].fill_(len(question))
        return f"{self.user}: {question}"


def users() -> Iterator[str]:
    """Yields visitors, one after another."""
    for number in range(40):
        yield f"user{number}"


def serve(log: list[str]) -> None:
    """Serves one user at a time."""
    for user in users():
        session = Session(user, log)
        print(session.answer("hello"), flush=True)
        session.on_close()
        del session


serve([])
