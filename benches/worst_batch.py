"""The time and memory of finding the largest batch of made-up text corpora, beside a pass over all batches.

    python benches/worst_batch.py [ROWS]

A corpus has ROWS texts (default 100,000) in batches of 16, padded to the longest. `found` is the length of the largest batch by the scan, `all` the
length by the pass; seconds are of the processor, memory is the growth of the largest resident size in a process of its own.
"""

import multiprocessing
import random
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
CORPORA = ("uniform", "log-normal", "one outlier", "sorted", "two modes")


def make_lengths(corpus: str, rows: int) -> list[int]:
    """The lengths of the texts of a corpus."""
    numbers = random.Random(7)
    if corpus == "uniform":
        return [numbers.randint(8, 512) for _ in range(rows)]
    if corpus == "one outlier":
        return [64] * (rows * 2 // 3) + [1900] + [64] * (rows - rows * 2 // 3 - 1)
    if corpus == "two modes":
        return [numbers.choice((40, 900)) + numbers.randint(0, 60) for _ in range(rows)]
    normal = [int(min(max(numbers.lognormvariate(4, 0.8), 4), 2000)) for _ in range(rows)]
    return sorted(normal) if corpus == "sorted" else normal


class Texts:
    """Texts as lists of tokens."""

    def __init__(self, lengths: list[int]) -> None:
        self.rows = lengths

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> list[int]:
        return [7] * self.rows[index]


def measure(corpus: str, rows: int, send) -> None:
    """Scans a corpus, then passes over it."""
    import torch
    from oomph.agent.life import loaders
    from torch.nn.utils.rnn import pad_sequence
    from torch.utils.data import DataLoader

    loaders.install()
    torch.set_num_threads(1)
    loader = DataLoader(Texts(make_lengths(corpus, rows)), 16, shuffle=True, collate_fn=lambda it: pad_sequence([torch.tensor(row) for row in it], True))
    passes = iter(loader)
    next(passes)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    scan = passes.scan
    seconds, grown = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    start = time.process_time()
    passes.jump(0)
    longest = max(batch.numel() for batch in passes) // 16
    send.send((scan.sizes[scan.largest].longest, longest, seconds, time.process_time() - start, grown / 1024, scan.bound))


def main() -> None:
    """Prints a line for each corpus."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"{'corpus':12} {'found':>6} {'all':>6} {'scan, s':>8} {'pass, s':>8} {'MiB':>6}")
    for corpus in CORPORA:
        receive, send = multiprocessing.Pipe()
        child = multiprocessing.get_context("spawn").Process(target=measure, args=(corpus, rows, send))
        child.start()
        found, every, seconds, passing, grown, bound = receive.recv()
        child.join()
        print(f"{corpus:12} {found:6} {every:6} {seconds:8.2f} {passing:8.2f} {grown:6.0f} {bound}")


if __name__ == "__main__":
    main()
