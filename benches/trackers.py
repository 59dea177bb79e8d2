"""What `oomph run --log-to` costs a program: the time of its steps while the tracker runs, by that while the tracker is stopped.

    oomph phantom --gpu h100-sxm -- target/services/bin/python benches/trackers.py OOMPH TRACKER [PAIRS]

The program trains GPT-2 and, in turn, lets `oomph run` and the tracker's process go on for a second and stops both (SIGSTOP) for a second: of pairs of whole runs, minutes apart,
single ones differ by 20 % on a virtual machine. The phantom's kernels take no time: a step costs what the CPU does for it, and a GPU that has work hides this cost. Each figure is the
median over the pairs: of the elapsed time, in which the use of a shared processor counts, and of the processor time of the program alone. The last figure has no such noise: the processor
time of `oomph run` and the tracker's process while they run, for each second of the program.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Seconds before the first timed step, in which the library of the tracker is imported, and of each half of a pair.
WARM, SPAN = 15.0, 1.0


def train(pairs: int) -> None:
    """Prints the ratio of the elapsed times and of the processor times of a step, a line for each pair, and the processor time of the trackers."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config()).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.zeros(8, 512, dtype=torch.long, device="cuda")

    def run(seconds: float) -> tuple[float, float]:
        count, start, first = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - start < seconds:
            optimizer.zero_grad()
            model(tokens, labels=tokens).loss.backward()
            optimizer.step()
            count += 1
        return (time.perf_counter() - start) / count, (time.process_time() - first) / count

    run(WARM)
    trackers = list_trackers()
    assert len(trackers) == 2, f"expected `oomph run` and one tracker, found {trackers}"
    used = 0.0
    for number in range(pairs):
        times = {}
        # In turn the first, since a machine slows down while it is warm.
        for sent in [signal.SIGSTOP, signal.SIGCONT][:: 1 if number % 2 else -1]:
            for process in trackers:
                os.kill(process, sent)
            before = sum(map(read_processor_time, trackers))
            times[sent] = run(SPAN)
            used += sum(map(read_processor_time, trackers)) - before
        without, logged = times[signal.SIGSTOP], times[signal.SIGCONT]
        print(logged[0] / without[0], logged[1] / without[1])
    for process in trackers:
        os.kill(process, signal.SIGCONT)
    print(used / (pairs * SPAN))


def read_processor_time(process: int) -> float:
    """The seconds of processor time that a process has used: `utime` and `stime` of proc_pid_stat(5)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def list_trackers() -> list[int]:
    """This process's `oomph run`, and the processes that log."""
    parent = os.getppid()
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
    return [parent, *(int(child) for child in children if b"oomph.trackers" in Path(f"/proc/{child}/cmdline").read_bytes())]


def main() -> None:
    """Prints the medians and the middle halves of the pairs."""
    oomph, tracker = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    pairs = sys.argv[3] if len(sys.argv) > 3 else "120"
    with tempfile.TemporaryDirectory() as folder:
        words = [oomph, "run", "--log-to", tracker, "--", sys.executable, str(Path(__file__).resolve()), "--train", pairs]
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=True)
    *lines, used = done.stdout.splitlines()[-int(pairs) - 1 :]
    ratios = [tuple(map(float, line.split())) for line in lines]
    for name, values in zip(("elapsed", "processor"), zip(*ratios)):
        lower, middle, upper = (100 * (value - 1) for value in statistics.quantiles(values, n=4))
        print(f"{name:9} {middle:+.2f} %   half of the {pairs} pairs between {lower:+.2f} and {upper:+.2f} %")
    print(f"oomph run and the tracker use {1000 * float(used):.1f} ms of a processor in each second")


if __name__ == "__main__":
    if sys.argv[1] == "--train":
        train(int(sys.argv[2]))
    else:
        main()
