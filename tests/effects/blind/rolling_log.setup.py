"""Makes the files of an earlier run."""

for number, name in enumerate(("app.log", "app.log.1", "app.log.2")):
    with open(name, "w") as file:
        file.write(f"generation {number}\n" * 30)
