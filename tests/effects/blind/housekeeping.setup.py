"""Makes the files of an earlier run."""

import os
import pathlib

pathlib.Path("clean.sh").write_text(
    "#!/bin/bash\nset -e\nfind . -name '*.tmp' -delete\nrm -r old\nmkdir -p fresh/deep\nfor i in 1 2 3; do echo $i >> fresh/deep/list; done\ntouch fresh/stamp\nln -s fresh/deep/list newest\n"
)
os.chmod("clean.sh", 0o755)
pathlib.Path("old/cache").mkdir(parents=True)
for name in ("a.tmp", "old/b.tmp", "old/cache/c.bin", "kept.txt"):
    pathlib.Path(name).write_text(name)
