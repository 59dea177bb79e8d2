"""The memory of a process outside PyTorch's allocator, from published out-of-memory messages.

    python3 crates/gpus/evidence/fit.py            the tables of docs/MEMORY_OUTSIDE_PYTORCH.md
    python3 crates/gpus/evidence/fit.py --check    exit status 1 if gpus.toml says other than this evidence

Since PyTorch 2.1 the message states what NVML says that the process uses, what its allocator gave out, and what the
allocator holds beside: used - allocated - unallocated is the rest. Figures in `process_memory.csv` stand as they were
printed; a source of `code` is a file of a public repository, which a code search for the figures finds.

Columns: `named` is `thread` where the text names the GPU, `total` where only the total capacity tells it. `program` is
`first` where PyTorch held at most 20 MiB and no library had been called, `process` for one process on its GPU, `server`
for vLLM and its like on one GPU, `ranks` for one of several ranks, which have NCCL. `torch` is the version where it is stated,
else what the message's spelling says: "capacty" is 2.1, `torch.OutOfMemoryError` 2.4 or later, `PYTORCH_ALLOC_CONF`
2.10 or later.
"""

import argparse
import csv
import statistics
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).resolve().parent
UNITS = {"KiB": 1 / 1024, "MiB": 1.0, "GiB": 1024.0}
# Programs with more than this multiple of the model's lowest figure use other libraries (renderers, FFT plans, CUDA
# graphs), and are no evidence for the context.
PLAIN = 2.0
# The least number of reports for a figure of a model's own.
ENOUGH = 3
# The rule before this evidence, in MiB and MiB per multiprocessor.
FORMER = (270.0, 1.6)


@dataclass(frozen=True)
class Amount:
    """A printed amount: MiB, and half of its last digit."""

    mib: float
    half: float

    @classmethod
    def read(cls, text: str) -> "Amount":
        number, unit = text.split()
        exact = unit != "GiB"
        return cls(float(number) * UNITS[unit], 0.0 if exact else 0.005 * UNITS[unit])


@dataclass(frozen=True)
class Report:
    """One message."""

    gpu: str
    program: str
    torch: str
    total: Amount
    outside: Amount


@dataclass(frozen=True)
class Model:
    """The figures of one model in gpus.toml, in MiB."""

    total: float
    multiprocessors: int
    threads: int
    context: float | None

    @property
    def former(self) -> float:
        return FORMER[0] + FORMER[1] * self.multiprocessors


@dataclass(frozen=True)
class Rule:
    """MiB, and KiB per resident thread of the device."""

    base: float
    per_thread: float

    def of(self, model: Model) -> float:
        return self.base + self.per_thread * model.threads / 1024


def reports() -> list[Report]:
    """The messages, in the order of the file."""
    with (HERE / "process_memory.csv").open(encoding="utf-8") as file:
        return [report(row) for row in csv.DictReader(file)]


def report(row: dict[str, str]) -> Report:
    """The memory outside the allocator: NVML's figure less the allocator's two figures."""
    used, allocated, unallocated = (Amount.read(row[name]) for name in ("used", "allocated", "unallocated"))
    outside = Amount(used.mib - allocated.mib - unallocated.mib, used.half + allocated.half + unallocated.half)
    return Report(row["gpu"], row["program"], row["torch"], Amount.read(row["total"]), outside)


def models() -> tuple[dict[str, Model], Rule]:
    """The table of models and its rule."""
    table = tomllib.loads((HERE.parent / "gpus.toml").read_text(encoding="utf-8"))
    threads = {entry["compute_capability"]: entry["threads_per_multiprocessor"] for entry in table["architecture"]}
    found = {}
    for gpu in table["gpu"]:
        count = gpu["chip"]["multiprocessors"]
        context = gpu.get("context_bytes")
        resident = count * threads[gpu["compute_capability"]]
        found[gpu["name"]] = Model(gpu["memory"]["total_bytes"] / 2**20, count, resident, context and context / 2**20)
    context = table["context"]
    return found, Rule(context["base_bytes"] / 2**20, context.get("bytes_per_thread", 0) / 1024)


def plain(found: list[Report]) -> list[float]:
    """The memory of single processes on one model, without those with other large libraries."""
    outside = sorted(entry.outside.mib for entry in found if entry.program == "process")
    return [mib for mib in outside if mib <= PLAIN * outside[0]]


def fit(points: list[tuple[int, float]]) -> Rule:
    """Theil and Sen's line: the median of the slopes, and the median of the residuals."""
    slope = statistics.median((high[1] - low[1]) / (high[0] - low[0]) for low, high in combinations(points, 2) if low[0] != high[0])
    return Rule(statistics.median(mib - slope * threads for threads, mib in points), slope * 1024)


def by_gpu(found: list[Report]) -> dict[str, list[Report]]:
    """The processes of each model."""
    groups = defaultdict(list)
    for entry in found:
        groups[entry.gpu].append(entry)
    return dict(groups)


def table(groups: dict[str, list[Report]], known: dict[str, Model], rule: Rule) -> None:
    """One line per model, by its resident threads."""
    print("| GPU | threads | reports: plain / all | lowest | median | highest | rule | off | former rule, off | first |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for gpu in sorted(groups, key=lambda name: known[name].threads):
        model, mine = known[gpu], plain(groups[gpu]) if any(r.program == "process" for r in groups[gpu]) else []
        first = ", ".join(f"{r.outside.mib:.0f}" for r in groups[gpu] if r.program == "first")
        says = rule.of(model)
        counts = f"{len(mine)} / {len(groups[gpu])}"
        if not mine:
            print(f"| {gpu} | {model.threads} | {counts} | – | – | – | {says:.0f} | – | – | {first} |")
            continue
        lowest = min((r.outside for r in groups[gpu] if r.program == "process"), key=lambda amount: amount.mib)
        median = statistics.median(mine)
        print(
            f"| {gpu} | {model.threads} | {counts} | {lowest.mib:.0f} ± {lowest.half:.0f} | {median:.0f} | {mine[-1]:.0f} "
            f"| {says:.0f} | {says - median:+.0f} | {model.former - median:+.0f} | {first} |"
        )


def errors(pairs: list[float]) -> str:
    """The median and the largest error of a rule."""
    off = [abs(pair) for pair in pairs]
    return f"median {statistics.median(off):.0f} MiB, at most {max(off):.0f} MiB"


def beyond(found: list[Report], known: dict[str, Model], rule: Rule) -> None:
    """The excess over the rule, by the kind of program and by PyTorch's version."""
    for title, key in (("program", lambda r: r.program), ("PyTorch, single processes", lambda r: r.torch.split("+cu")[0])):
        groups = defaultdict(list)
        for entry in found:
            if title == "program" or entry.program == "process":
                groups[key(entry)].append(entry.outside.mib - rule.of(known[entry.gpu]))
        print(f"\n| {title} | reports | lowest over the rule | median | highest |\n|---|---|---|---|---|")
        for name, over in sorted(groups.items()):
            print(f"| {name} | {len(over)} | {min(over):+.0f} | {statistics.median(over):+.0f} | {max(over):+.0f} |")


def totals(groups: dict[str, list[Report]], known: dict[str, Model]) -> None:
    """Totals that differ from the table's."""
    print("\n| GPU | total in gpus.toml | totals in messages |\n|---|---|---|")
    for gpu in sorted(groups):
        seen = sorted({entry.total.mib / 1024 for entry in groups[gpu]})
        own = known[gpu].total / 1024
        if any(abs(own - total) > 0.0051 for total in seen):
            print(f"| {gpu} | {own:.2f} GiB | {', '.join(f'{total:.2f}' for total in seen)} |")


def wrong(medians: dict[str, tuple[int, float]], known: dict[str, Model], rule: Rule, fitted: Rule) -> list[str]:
    """Differences between gpus.toml and the evidence."""
    said = []
    if abs(rule.base - fitted.base) > 1 or abs(rule.per_thread - fitted.per_thread) > 0.01:
        said.append(f"[context]: expected {fitted.base:.0f} MiB and {fitted.per_thread:.2f} KiB per thread, found {rule}")
    for gpu, (count, median) in medians.items():
        expected = 2 * round(median / 2) if count >= ENOUGH else None  # NVML counts pages of 2 MiB
        if (known[gpu].context and round(known[gpu].context)) != expected:
            said.append(f"{gpu}: expected context_bytes of {expected} MiB ({count} reports), found {known[gpu].context}")
    return said


def main() -> None:
    """Prints the tables, or the differences."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    arguments.add_argument("--check", action="store_true", help="only compare gpus.toml with the evidence")
    check = arguments.parse_args().check
    found, (known, rule) = reports(), models()
    groups = by_gpu(found)
    processes = {gpu: plain(mine) for gpu, mine in groups.items() if any(r.program == "process" for r in mine)}
    medians = {gpu: (len(mine), statistics.median(mine)) for gpu, mine in processes.items()}
    fitted = fit([(known[gpu].threads, median) for gpu, (_, median) in medians.items()])
    if check:
        said = wrong(medians, known, rule, fitted)
        print("\n".join(said) or "gpus.toml says what the evidence says")
        sys.exit(bool(said))
    print(f"{len(found)} reports of {len(groups)} models. Rule: {fitted.base:.0f} MiB and {fitted.per_thread:.2f} KiB per thread.")
    print("Off from the median of each model, rule:", errors([fitted.of(known[g]) - m for g, (_, m) in medians.items()]))
    print("Off from the median of each model, former rule:", errors([known[g].former - m for g, (_, m) in medians.items()]))
    print()
    table(groups, known, fitted)
    beyond(found, known, fitted)
    totals(groups, known)


if __name__ == "__main__":
    main()
