"""A recorded program: runs a script in this process and writes the course of its GPU memory.

    python recording.py device                          prints what the device is, as JSON
    python recording.py program OUT SCRIPT [ARG ...]    runs the script and writes the record

A record holds, in bytes unless said:
    gpu, settings   the device, the driver, the libraries, the allocator's settings
    context         device memory in use: before CUDA, with a bare context, when the program ended less what PyTorch reserved
    steps           for each optimizer step: most allocated, most reserved since the last, device memory in use after it
    end             most allocated and reserved of the whole program, device memory in use at its end
    segments        what the allocator asked the device for: `[times, action, size]`, runs of equal ones as one
    oom             the error's text, where the program ran out of memory
"""

import json
import re
import runpy
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

sys.dont_write_bytecode = True

from nvml import Nvml
from segments import runs

# Later steps share an entry.
MOST_STEPS = 64
# `[times, action, size]` entries; a program with more has too large a record.
MOST_RUNS = 600


def main() -> None:
    """See above."""
    kind, *rest = sys.argv[1:]
    if kind == "device":
        print(json.dumps(device(_nvml())))
    else:
        out, script, *arguments = rest
        _record(Path(out), script, arguments)


def device(nvml: Nvml | None) -> dict:
    """The identity of the device and its software; `real` is True if the device computes."""
    properties = torch.cuda.get_device_properties(0)
    major, minor, patch = _cudnn(torch.backends.cudnn.version() or 0)
    return {
        "real": computes(),
        "name": properties.name,
        "slug": re.sub(r"[^a-z0-9]+", "-", properties.name.lower()).strip("-"),
        "total_bytes": torch.cuda.mem_get_info()[1],
        "compute_capability": f"{properties.major}.{properties.minor}",
        "multiprocessors": properties.multi_processor_count,
        "l2_bytes": properties.L2_cache_size,
        "driver": nvml.driver() if nvml else None,
        "versions": {
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "cudnn": f"{major}.{minor}.{patch}",
            "nccl": ".".join(str(part) for part in torch.cuda.nccl.version()),
            **_packages("torchvision", "transformers", "bitsandbytes", "triton", "nvidia-cublas", "nvidia-cusolver", "nvidia-cufft"),
        },
    }


def computes() -> bool:
    """True if kernels run: a product of two random integer matrices equals the processor's."""
    left, right = (torch.randint(-9, 10, (64, 64)).double() for _ in range(2))
    return torch.equal((left.cuda() @ right.cuda()).cpu(), left @ right)


def _cudnn(number: int) -> tuple[int, int, int]:
    return number // 10_000, number // 100 % 100, number % 100


def _packages(*names: str) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _nvml() -> Nvml | None:
    """NVML, or `None` without it: a container may lack the library."""
    try:
        return Nvml()
    except OSError:
        return None


class Watch:
    """Counts while the program runs; touches no tensor."""

    def __init__(self, nvml: Nvml | None) -> None:
        self.steps: list[list[int]] = []
        self.most = [0, 0]
        self._nvml = nvml
        self.context = {"before_bytes": nvml.used() if nvml else None}
        torch.cuda.init()
        self.context["bare_bytes"] = in_use()
        self.context["bare_nvml_bytes"] = nvml.used() if nvml else None
        torch.cuda.memory._record_memory_history(context=None, stacks="python", max_entries=4_000_000)
        register_optimizer_step_post_hook(self._step)

    def _step(self, *_ignored) -> None:
        self._note()

    def _note(self) -> None:
        peaks = [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]
        self.most = [max(pair) for pair in zip(self.most, peaks)]
        if len(self.steps) < MOST_STEPS:
            self.steps.append([*peaks, in_use()])
            torch.cuda.reset_peak_memory_stats()

    def finish(self) -> dict:
        """The figures of the whole program."""
        torch.cuda.synchronize()
        peaks = [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]
        allocated, reserved = (max(pair) for pair in zip(self.most, peaks))
        used = in_use()
        self.context["end_bytes"] = used - torch.cuda.memory_reserved()
        self.context["end_nvml_bytes"] = self._nvml.used() if self._nvml else None
        device = max([used, *(step[2] for step in self.steps)])
        history = torch.cuda.memory._snapshot()["device_traces"][0]
        end = {"allocated_bytes": allocated, "reserved_bytes": reserved, "device_bytes": device}
        return {"context": self.context, "steps": self.steps, "end": end, "segments": runs(history)}


def in_use() -> int:
    """Device memory in use, by whomever."""
    free, total = torch.cuda.mem_get_info()
    return total - free


def _record(out: Path, script: str, arguments: list[str]) -> None:
    nvml = _nvml()
    watch = Watch(nvml)
    oom = None
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    try:
        runpy.run_path(script, run_name="__main__")
    except torch.OutOfMemoryError as error:
        oom = str(error)
    told = watch.finish()
    requests = told.pop("segments")
    # The device is asked last, because the test computes, which takes memory.
    torch.cuda.empty_cache()
    record = {"gpu": device(nvml), "settings": torch.cuda.memory._snapshot()["allocator_settings"]} | told | {"oom": oom}
    record["segments"] = requests[:MOST_RUNS]
    record["segments_left_out"] = sum(request[0] for request in requests[MOST_RUNS:])
    out.write_text(_compact(record), encoding="utf-8")


def _compact(record: dict) -> str:
    """A line for each entry, for readable differences in version control."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()
