"""The drawing of an HTML page, read as its script reads it: Note [Page data] in crates/report/src/render/html/data.rs."""

import base64
import json

# Texts that would load from the network.
LOADING = ("src=\"http", "src='http", "href=\"http", "@import", "url(http", "fetch(", "<iframe")


def drawings(page: str) -> list[dict[str, list[int]]]:
    """The columns of each device of a page."""
    data = json.loads(page.partition('id="page-data">')[2].partition("</script>")[0])
    return [{name: _numbers(column) for name, column in device["columns"].items()} for device in data["devices"]]


def _numbers(column: dict) -> list[int]:
    numbers, number, shift, last = [], 0, 0, 0
    for byte in base64.b64decode(column["data"]):
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte >= 0x80:
            continue
        if column["delta"]:
            last = number = last + (number >> 1 ^ -(number & 1))
        numbers.append(number)
        number = shift = 0
    assert len(numbers) == column["length"], f"{len(numbers)} numbers, expected {column['length']}"
    return numbers
