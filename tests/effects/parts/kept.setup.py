"""Makes the files of an earlier run."""

import pathlib

pathlib.Path("metrics.csv").write_text("step,loss\n1,0.5\n")
pathlib.Path("old.txt").write_text("old\n")
pathlib.Path("results").mkdir()
pathlib.Path("results/a.txt").write_text("a\n")
