"""Makes the files of an earlier run."""

import os
import pathlib

root = pathlib.Path.home() / ".cache" / "hub" / "models--tiny"
(root / "blobs").mkdir(parents=True)
(root / "snapshots" / "one").mkdir(parents=True)
(root / "refs").mkdir()
(root / "refs" / "main").write_text("one")
(root / "blobs" / "aaaa").write_text('{"width": 8}')
os.symlink("../../blobs/aaaa", root / "snapshots" / "one" / "config.json")
