"""Makes the files of an earlier run."""

import os

with open(f"/dev/shm/table-{os.environ['EFFECTS_TOKEN']}", "wb") as file:
    file.write(b"t" * 4096)
