"""Makes the files of an earlier run."""

import pathlib

pathlib.Path("wandb").mkdir()
pathlib.Path("wandb/latest").write_text("run-0\n")
