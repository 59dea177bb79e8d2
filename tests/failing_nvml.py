"""An NVML that fails, for tests of monitors: a library in front of the phantom's, below `oomph phantom`.

| failure | effect |
|---|---|
| `absent` | `dlopen` finds no NVML |
| `old` | the NVML of an old driver: `dlsym` finds no `nvmlDeviceGetMemoryInfo_v2` and no function ending in `_v3` |
| `no-driver` | `nvmlInit` returns `NVML_ERROR_DRIVER_NOT_LOADED` |
| `no-memory` | the memory of a device is not supported, and a process's is not available, as on GB10 and in WSL |
| `lost:N` | device N returns `NVML_ERROR_GPU_IS_LOST`; it is still counted, and has a handle |
| `util:N` | a utilization of N percent |
"""

import re
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
NAME = "libnvidia-ml.so.1"
# Puts a folder before those of `oomph phantom`, and becomes the command.
IN_FRONT = 'LD_LIBRARY_PATH="$0:$LD_LIBRARY_PATH" exec "$@"'


def make(oomph: Path, folder: Path, failure: str) -> list[str]:
    """Builds the library in a folder; returns the words to put between `oomph phantom … --` and a command."""
    library = folder / NAME
    if failure == "absent":
        # The loader refuses an empty file, and searches no further.
        library.touch()
    else:
        is_old = failure == "old"
        names = [name for name in list_functions(oomph) if not (is_old and (name.endswith("_v3") or name == "nvmlDeviceGetMemoryInfo_v2"))]
        (folder / "names.h").write_text("".join(f"FORWARD({name})\n" for name in names))
        subprocess.run(["cc", "-shared", "-fPIC", "-I", folder, "-o", library, SOURCE, *define(failure)], check=True)
    return ["bash", "-c", IN_FRONT, str(folder)]


def define(failure: str) -> list[str]:
    """The macros of failures, separated by commas."""
    found = {"LOST": "-1", "UTILIZATION": "0", "NO_DRIVER": "0", "NO_MEMORY": "0"}
    for word in failure.split(","):
        name, _, number = word.partition(":")
        known = {"lost": "LOST", "util": "UTILIZATION", "no-driver": "NO_DRIVER", "no-memory": "NO_MEMORY", "old": "OLD"}
        found[known[name]] = number or "1"
    return [f"-D{name}={value}" for name, value in found.items()]


def list_functions(oomph: Path) -> list[str]:
    """The functions of the phantom's NVML."""
    words = [oomph, "phantom", "--gpu", "t4", "--", "bash", "-c", 'nm -D --defined-only "${LD_LIBRARY_PATH%%:*}/liboomph_phantom.so"']
    symbols = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?m) T (nvml\w+)$", symbols)
