"""Tests with a limit of GPU memory. MiB of the peak: by the sizes that are allocated."""

import pytest

MIB = 1 << 20


def make(size):
    """`size` MiB on the GPU."""
    import torch

    return torch.empty(size * MIB, dtype=torch.uint8, device="cuda")


def test_without_the_marker():
    """Runs as ever, in pytest's own process."""


@pytest.mark.gpu_memory(limit="256MiB")
def test_below():
    """256 MiB of 256."""
    make(256)


@pytest.mark.gpu_memory(limit="255MiB")
def test_above():
    """256 MiB of 255."""
    make(256)


@pytest.mark.gpu_memory(limit="300MiB", of="allocated")
def test_allocated():
    """256 MiB are allocated at once, and 512 reserved."""
    make(100), make(156)
    make(256)


@pytest.mark.gpu_memory
def test_larger_than_the_gpu():
    """30 GiB of 22."""
    make(30 * 1024)


@pytest.mark.gpu_memory(limit="1GiB")
def test_wrong():
    """An ordinary failure."""
    print("said before")
    size = make(2).numel()
    assert size == 3 * MIB


@pytest.mark.gpu_memory(limit="200MiB")
class TestClass:
    """The marker of a class."""

    @pytest.mark.parametrize("size", [100, 150])
    def test_with_fixtures(self, weights, size):
        """164 and 214 MiB of 200."""
        make(size)


@pytest.mark.gpu_memory(limit="10 bananas")
def test_limit_of_bananas():
    """A usage error."""


@pytest.mark.gpu_memory(limit="1GiB", gpu="l5")
def test_unknown_gpu():
    """A usage error."""


@pytest.mark.gpu_memory(limits="1GiB")
def test_misspelt():
    """A usage error."""


@pytest.mark.gpu_memory(limit="1GiB")
def test_skips():
    """Skipped by itself."""
    pytest.skip("no data")


@pytest.mark.gpu_memory(limit="100MiB")
@pytest.mark.xfail(reason="too large yet")
def test_expected_failure():
    """200 MiB of 100."""
    make(200)


@pytest.mark.gpu_memory(limit="1MiB")
@pytest.mark.xfail(reason="too large yet", strict=True)
def test_strictly_expected_failure():
    """2 MiB of 1."""
    make(1)


@pytest.mark.gpu_memory(limit="1GiB")
def test_without_gpu():
    """Uses no GPU."""


@pytest.mark.gpu_memory(limit="1GiB")
def test_that_leaves():
    """A test may raise `SystemExit`."""
    import sys

    sys.exit(3)


@pytest.mark.gpu_memory(limit="1GiB")
def test_that_dies():
    """The process ends at once."""
    import os

    make(2)
    os._exit(7)


@pytest.mark.gpu_memory(limit="1GiB")
def test_that_forks(tmp_path):
    """A child that returns into pytest's code, and a large output."""
    import os

    make(2)
    child = os.fork()
    if child == 0:
        return
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    (tmp_path / "file").write_text("x")
    print("much " * 100_000)


@pytest.mark.gpu_memory(limit="1GiB")
def test_option(rows, capsys):
    """Has the options of the command line, and PyTorch's counters."""
    import torch

    make(rows)
    assert torch.cuda.max_memory_allocated() == rows * MIB == 3 * MIB


@pytest.mark.gpu_memory(limit="1GiB")
def test_missing_module():
    """An error of an import."""
    import no_such_module
