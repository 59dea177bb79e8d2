"""Makes the files of an earlier run."""

with open("old.bin", "wb") as file:
    file.write(b"old" * 1000)
with open("kept.bin", "wb") as file:
    file.write(b"kept")
