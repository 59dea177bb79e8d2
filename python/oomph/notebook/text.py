"""A report as text of at most 80 columns."""

import textwrap

from . import sentences
from .report import Device, Report

WIDTH = 80
MOST_ROWS = 20
_NAME = 22


def render(report: Report) -> str:
    """The text of a report."""
    lines = textwrap.wrap(sentences.first_sentence(report), WIDTH, break_on_hyphens=False)
    for device in report.devices:
        lines += ["", *_render_device(device)]
    return "\n".join(lines)


def _render_device(device: Device) -> list[str]:
    lines = textwrap.wrap(sentences.device_line(device), WIDTH)
    if not device.rows:
        return lines
    lines.append(f"{'size':>12} {'frees':>12}  name")
    for row in device.rows[:MOST_ROWS]:
        lines += _render_row(row)
    rest = device.rows[MOST_ROWS:]
    if rest:
        lines.append(f"{sentences.size(sum(it.counted_bytes for it in rest)):>12} {'':>12}  {len(rest)} more rows; `%oomph --json` has all")
    shared = sentences.shared_line(device)
    return lines + (textwrap.wrap(shared, WIDTH) if shared else [])


def _render_row(row) -> list[str]:
    start = f"{sentences.size(row.bytes):>12} {sentences.size(row.frees_bytes):>12}  "
    label = f"{row.name:<{_NAME}}  {sentences.detail(row)}".rstrip()
    return textwrap.wrap(label, WIDTH, initial_indent=start, subsequent_indent=" " * (len(start) + 2), break_on_hyphens=False)
