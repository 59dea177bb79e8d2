"""Makes the files of an earlier run."""

import os
import pathlib

for name in ("inbox/1.bin", "inbox/2.bin", "store/1.bin", "store/x/deep.bin", "blue/name.txt", "green/name.txt"):
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(name).write_text(name)
out = pathlib.Path(os.environ["EFFECTS_OUT"])
(out / "vault").mkdir()
(out / "vault" / "old.bin").write_text("vault/old.bin")
