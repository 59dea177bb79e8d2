"""What `oomph run --log-to` costs a program: pairs of runs, with and without, in turn.

    oomph phantom --gpu h100-sxm -- target/services/bin/python benches/trackers.py OOMPH TRACKER [PAIRS]

The program trains GPT-2 for 20 seconds, after the import and the first figures. The phantom's kernels take no time: a step costs what the CPU does for it, and
a GPU that has work hides this cost. Each figure is the median over the pairs of the time of a step with the tracker, divided by that without: elapsed time, in
which the helper's use of a shared processor counts, and the processor time of the program alone.
"""

import statistics
import subprocess
import sys
import tempfile
import time

# Seconds before the first timed step, in which the library of the tracker is imported, and of timed steps.
WARM, SPAN = 10.0, 20.0


def train() -> None:
    """Prints the elapsed time and the processor time of a step."""
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
    print(*run(SPAN))


def measure(oomph: str, *options: str) -> tuple[float, float]:
    """The times of a step under `oomph run` with these options."""
    with tempfile.TemporaryDirectory() as folder:
        words = [oomph, "run", *options, "--", sys.executable, __file__, "--train"]
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=True)
    elapsed, cpu = done.stdout.split()[-2:]
    return float(elapsed), float(cpu)


def main() -> None:
    """Prints the ratios."""
    oomph, tracker, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5
    ratios: list[tuple[float, float]] = []
    for number in range(pairs):
        both = {}
        # In turn the first, since a machine slows down while it is warm.
        for options in [(), ("--log-to", tracker)][:: 1 if number % 2 else -1]:
            both[options] = measure(oomph, *options)
        without, logged = both[()], both["--log-to", tracker]
        ratios.append((logged[0] / without[0], logged[1] / without[1]))
    for name, values in zip(("elapsed", "processor"), zip(*ratios)):
        print(f"{name:9} {100 * (statistics.median(values) - 1):+.2f} %   pairs {' '.join(f'{100 * (value - 1):+.2f}' for value in values)}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--train"]:
        train()
    else:
        main()
