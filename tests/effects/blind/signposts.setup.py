"""Makes the files of an earlier run."""

import os
import pathlib

home = pathlib.Path.home()
(home / "models").mkdir()
(home / "models" / "v1.txt").write_text("v1\n")
os.symlink(home / "models", "models")
os.symlink("models/v1.txt", "current")
os.symlink("current", "best")
os.symlink("nowhere.txt", "dangling")
