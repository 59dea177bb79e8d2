"""Makes the files of an earlier run."""

import os

for name in ("model.bin", "secret.key", "old.log"):
    with open(name, "w") as file:
        file.write(f"{name} of the last run\n")
    os.utime(name, (1_500_000_000, 1_500_000_000))
try:
    os.setxattr("model.bin", "user.run", b"last")
    os.setxattr("model.bin", "user.kept", b"kept")
except OSError:
    pass
