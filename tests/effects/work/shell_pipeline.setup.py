"""Makes the files of an earlier run."""

import pathlib
import tarfile

pathlib.Path("a.txt").write_text("pear\napple\npear\nfig\n")
pathlib.Path("config.yaml").write_text("lr: 0.1\nepochs: 90\n")
pathlib.Path("data.bin").write_bytes(b"\x00" * 4096)
pathlib.Path("old.log").write_text("0123456789" * 100)
pathlib.Path("notes.txt").write_text("notes\n")
pathlib.Path("w").mkdir()
for name in ("w/1.bin", "w/2.bin"):
    pathlib.Path(name).write_bytes(name.encode() * 100)
with tarfile.open("weights.tar", "w") as file:
    file.add("w")
for name in ("w/1.bin", "w/2.bin"):
    pathlib.Path(name).unlink()
pathlib.Path("w").rmdir()
