"""Makes the files of an earlier run."""

with open("dashboard.html", "w") as file:
    file.write("<p>the last run</p>\n")
