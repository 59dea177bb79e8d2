"""Makes the files of an earlier run."""

with open("weights.bin", "wb") as file:
    file.write(bytes(range(256)) * 4096)
with open("index.bin", "wb") as file:
    file.write(b"i" * 1000)
