# /// expect
# run = "check"
# vram = "7GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "setting"
# first_finding = ["allocator-setting-harmful"]
# lines = [15, 34]
# why = "a cube of 4200 x 256 x 256 x 4 B = 1050 MiB is rounded up by the setting to the next half of a power of two, 1536 MiB: five cubes are 7680 + 410 of 7168 MiB; exactly requested they are 5250 + 410"
# ///
"""Integrates radar returns into one cube per polarisation."""

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "roundup_power2_divisions:2"

import torch  # noqa: E402

PULSES, RANGE, DOPPLER = 4200, 256, 256
POLARISATIONS = ("hh", "hv", "vh", "vv", "circular")


def returns(count):
    for number in range(count):
        yield POLARISATIONS[number % 5], number, torch.randn(64, RANGE, DOPPLER, device="cuda")


def integrate(cubes, polarisation, number, echo):
    start = (number // 5) * echo.shape[0]
    cubes[polarisation][start : start + echo.shape[0]] += echo


def main():
    cubes = {p: torch.zeros(PULSES, RANGE, DOPPLER, device="cuda") for p in POLARISATIONS}
    for polarisation, number, echo in returns(50):
        integrate(cubes, polarisation, number, echo)
    for polarisation, cube in cubes.items():
        print(polarisation, cube[:640].square().mean().item())


main()
