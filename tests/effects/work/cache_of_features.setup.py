"""Makes the files of an earlier run."""

import os

import numpy as np

os.mkdir("cache")
np.save("cache/labels.npy", np.arange(100))
