"""Makes the files of an earlier run."""

import os
import pathlib

folder = pathlib.Path.home() / ".config" / "trainer"
folder.mkdir(parents=True)
(folder / "settings.json").write_text('{"runs": 12}')
(folder / "history").write_text("train.py --lr 1\n")
