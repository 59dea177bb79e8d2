"""The needs of `allocates.py`, by arithmetic: the reserved memory is the block, and a driver reserves in units of 2 MiB."""

from pathlib import Path

MIB = 1 << 20
PROGRAM = Path(__file__).resolve().parent / "allocates.py"
SETTINGS = {"gpu": "l4", "vram": "2GiB", "capacity": 2048 * MIB}
TOO_LARGE_MIB = 3072


def make_needs(command=None):
    """The needs of the program on an L4 with 2 GiB."""
    from oomph.tuning import Needs

    return Needs(command or [str(PROGRAM), "--mib", "{mib}"], gpu=SETTINGS["gpu"], vram=SETTINGS["vram"])


def find_context_bytes() -> int:
    """The memory of a CUDA context on an L4, as `oomph check` has it."""
    import oomph

    return oomph.check(PROGRAM, "--mib", "512", gpu="l4", vram="2GiB").report["gpu"]["context_bytes"]


def check_need(need, mib: int, context_bytes: int | None = None) -> None:
    """The need is the block and the context, up to the driver's unit."""
    assert need.capacity_bytes == SETTINGS["capacity"], need
    assert need.fits is (mib < TOO_LARGE_MIB), need
    assert (need.excess_bytes > 0) is not need.fits, need
    if context_bytes is not None:
        assert 0 <= need.need_bytes - mib * MIB - context_bytes < 2 * MIB, need
