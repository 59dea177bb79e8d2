"""Selects a few lines of many: the shortest for each outcome and kind of text.

    python tests/settings/pick.py --lines 200 run.jsonl >> crates/allocator/tests/settings/corpus.jsonl
"""

import argparse
import collections
import json
import re

import texts


def main():
    """Prints the selected lines unchanged."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, required=True)
    parser.add_argument("runs", nargs="+", type=argparse.FileType())
    arguments = parser.parse_args()
    shortest = {}
    for line in (line for run in arguments.runs for line in run):
        key = kind(json.loads(line))
        if key not in shortest or len(line) < len(shortest[key]):
            shortest[key] = line
    for line in in_turn(shortest)[: arguments.lines]:
        print(line, end="")


def in_turn(shortest):
    """The lines: one for each outcome, then a second for each, and so on."""
    seen = collections.Counter()
    ranked = []
    for key, line in sorted(shortest.items(), key=lambda item: len(item[1])):
        ranked.append((seen[key[:3]], line))
        seen[key[:3]] += 1
    return [line for _, line in sorted(ranked, key=lambda item: item[0])]


def kind(record):
    """The outcome without numbers, and the kind of the text."""
    message = re.sub(r"\d+|'.*'|\".*\"", "", record.get("message", ""))
    named = tuple(key for key in texts.KINDS if key in record["text"]) if not message.startswith("Unrec") else ()
    return record["way"], record.get("raised"), message, named[:2], record["text"] in texts.PICKED and record["text"]


if __name__ == "__main__":
    main()
