# /// expect
# run = "run"
# vram = "4GiB"
# ends = "exit 5"
# status = 5
# ///
"""Counts words without PyTorch and exits with status 5, because one is missing."""

import collections
import sys

TEXT = "a report says the cause the line and the sizes"
counts = collections.Counter(TEXT.split())
missing = [word for word in ("cause", "line", "remedy") if word not in counts]
print("missing", missing)
assert "torch" not in sys.modules
sys.exit(5 if missing else 0)
