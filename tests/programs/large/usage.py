"""A program's use of the host: read by the programs beside this file, which write `usage.json`."""

import json


def read_bytes() -> int:
    """Bytes that this process has read so far, cached or not; page maps of its own memory are reads, too."""
    with open("/proc/self/io") as file:
        return int(next(line for line in file if line.startswith("rchar")).split()[1])


def peak_bytes() -> int:
    """The most physical memory that this process has had, pages of mapped files included."""
    with open("/proc/self/status") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1]) * 1024


def write(**facts) -> None:
    """Leaves the facts in the working folder."""
    with open("usage.json", "w") as file:
        json.dump({"peak_bytes": peak_bytes(), **facts}, file)
