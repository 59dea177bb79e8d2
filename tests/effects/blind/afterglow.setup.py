"""Makes the files of an earlier run."""

with open("status.txt", "w") as file:
    file.write("idle\n")
