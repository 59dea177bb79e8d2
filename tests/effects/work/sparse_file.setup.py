"""Makes the files of an earlier run."""

with open("index.bin", "wb") as file:
    file.write(b"\x01" * 1000)
    file.truncate(1 << 30)
