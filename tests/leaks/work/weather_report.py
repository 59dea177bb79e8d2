# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = ["hindcast.py:14"]
# keeps_mib = 50
# allocates = [23]
# full_at = [87, 93]
# why = "a result holds a number and its input, 20 x 640 x 1024 x 4 B = 50 MiB on the device; 150 hours are 7.3 GiB"
# ///
"""Hindcasts of a weather model: the loop over the hours is in a module, and results hold the input beside the score."""

import torch

from weather import hindcast

LEVELS, ROWS, COLUMNS, HOURS = 20, 640, 1024, 150


def analysis(hour):
    return torch.randn(LEVELS, ROWS, COLUMNS, device="cuda")


results = hindcast.run(analysis, HOURS)
print("worst hour", max(results, key=lambda hour: results[hour]["score"]))
