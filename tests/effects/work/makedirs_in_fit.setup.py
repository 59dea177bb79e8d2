"""Makes the files of an earlier run."""

import os

os.makedirs("runs")
