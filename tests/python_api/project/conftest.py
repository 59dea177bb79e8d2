"""Fixtures of the project's tests."""

import pytest


def pytest_addoption(parser):
    """Adds an option of the project's own."""
    parser.addoption("--rows", type=int, default=1)


@pytest.fixture(scope="session")
def weights():
    """64 MiB on the GPU."""
    import torch

    return torch.zeros(64 << 20, dtype=torch.uint8, device="cuda")


@pytest.fixture
def rows(request):
    """The project's option."""
    return request.config.getoption("--rows")
