"""A report as HTML: inline styles alone, in the colours of the page around, so that dark and light themes fit."""

import html

from . import sentences
from .report import Device, Report, Row
from .text import MOST_ROWS, render

_LINE = "1px solid rgba(128,128,128,.35)"
_CELL = "padding:3px 10px;vertical-align:top;border:0;background:none"
_NUMBER = f"{_CELL};text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"
_TEXT = f"{_CELL};text-align:left"
_COLOURS = {
    "variable": "#4c8dd6", "output": "#8a6fd1", "traceback": "#d9534f", "cycle": "#d98e2b",
    "module": "#3f9c8f", "thread": "#3f9c8f", "graph": "#7a8793", "workspace": "#7a8793", "other": "#7a8793",
}  # fmt: skip


class Display:
    """A report for IPython to show; plain figures and text."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def __repr__(self) -> str:
        return render(self.report)

    def _repr_pretty_(self, printer, _cycle: bool) -> None:
        printer.text(repr(self))

    def _repr_html_(self) -> str:
        parts = [f'<p style="margin:0 0 6px;font-weight:600">{_code(sentences.first_sentence(self.report))}</p>']
        parts += [_device(it) for it in self.report.devices]
        return f'<div style="font-size:13px;line-height:1.45;max-width:900px;color:inherit">{"".join(parts)}</div>'


def _code(text: str) -> str:
    """Escapes a sentence; the odd parts between backticks are code."""
    parts = html.escape(text).split("`")
    style = "font-family:monospace;background:rgba(128,128,128,.16);padding:0 3px;border-radius:3px;color:inherit"
    return "".join(f'<code style="{style}">{it}</code>' if number % 2 else it for number, it in enumerate(parts))


def _device(device: Device) -> str:
    rows = "".join(_row(it, device) for it in device.rows[:MOST_ROWS])
    rest = len(device.rows) - MOST_ROWS
    notes = [f"{rest} more rows: `%oomph --json` has all"] if rest > 0 else []
    notes += [it for it in [sentences.shared_line(device)] if it]
    heads = "".join(
        f'<th style="{_NUMBER if it in ("size", "frees") else _TEXT};font-weight:600;opacity:.75">{it}</th>' for it in ("name", "size", "", "frees", "")
    )
    table = f'<table style="border-collapse:collapse;border:0;margin:6px 0;color:inherit"><tr style="border-bottom:{_LINE};background:none">{heads}</tr>{rows}</table>'
    lines = "".join(f'<div style="opacity:.75">{_code(it)}</div>' for it in notes)
    return f'<div>{_code(sentences.device_line(device))}{_bar(device)}{table if rows else ""}{lines}</div>'


def _bar(device: Device) -> str:
    """The device as a bar: each row with what it counts, then the cache."""
    parts = [(_COLOURS[it.kind], it.counted_bytes, it.name) for it in device.rows]
    parts.append(("rgba(128,128,128,.45)", device.reserved_bytes - device.allocated_bytes, "cache"))
    cells = "".join(_part(colour, 100 * count / device.total_bytes, f"{name} {sentences.size(count)}") for colour, count, name in parts if count)
    return f'<div style="display:flex;height:10px;margin:5px 0;border-radius:3px;overflow:hidden;background:rgba(128,128,128,.16)">{cells}</div>'


def _part(colour: str, share: float, title: str) -> str:
    return f'<div title="{html.escape(title)}" style="width:{share:.3f}%;background:{colour};border-right:1px solid rgba(255,255,255,.5);box-sizing:border-box"></div>'


def _row(row: Row, device: Device) -> str:
    share = 100 * row.bytes / max(device.allocated_bytes, 1)
    bar = f'<div style="width:90px;height:8px;margin-top:5px;background:rgba(128,128,128,.16);border-radius:2px"><div style="width:{share:.1f}%;height:8px;background:{_COLOURS[row.kind]};border-radius:2px"></div></div>'
    name = f'<code style="font-family:monospace;background:none;color:inherit;padding:0;white-space:nowrap">{html.escape(row.name)}</code>'
    kind = "" if row.kind == "variable" or row.kind in row.name or row.kind == "cycle" else f' <span style="opacity:.65">{row.kind}</span>'
    cells = [(f"{_TEXT};white-space:nowrap", name + kind), (_NUMBER, sentences.size(row.bytes)), (_TEXT, bar), (_NUMBER, sentences.size(row.frees_bytes)), (_TEXT, _code(sentences.detail(row)))]
    return f'<tr style="background:none">{"".join(f"<td style={chr(34)}{style}{chr(34)}>{text}</td>" for style, text in cells)}</tr>'
