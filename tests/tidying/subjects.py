"""The subjects of commits (STYLE.md): a part, a colon, one change in the imperative, at most 72 characters.

    python3 tests/tidying/subjects.py FILE     exit status 1 if the message in FILE has a wrong subject: the commit-msg hook
"""

import pathlib
import re
import sys

LONGEST = 72
# Subjects that git writes.
OF_GIT = re.compile(r"(Merge|Revert|fixup!|squash!|amend!) ")


def complaints(subject: str):
    """The problems of a subject."""
    if OF_GIT.match(subject):
        return
    if len(subject) > LONGEST:
        yield f"{len(subject)} characters, at most {LONGEST}"
    if ";" in subject:
        yield "a semicolon: two changes are two commits"
    if not re.match(r"[\w/. -]+: [a-z]", subject):
        yield "expected `part: verb …`, in lower case"
    if subject.endswith("."):
        yield "a full stop"


def main() -> None:
    """Checks the message that git hands to its hook."""
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    subject = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    problems = list(complaints(subject))
    for problem in problems:
        print(f"the subject `{subject}`: {problem}", file=sys.stderr)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
