"""Makes the files of an earlier run."""

import os

with open("weights.bin", "wb") as file:
    file.write(b"\x05" * 100000)
os.link("weights.bin", "weights-copy.bin")
