"""Figures in words: sizes, and the sentences of a report."""

from .report import Device, Report, Row

# The kinds that `%oomph free` removes.
REMOVABLE = ("variable", "output", "traceback", "cycle")
# The names in one suggestion.
_MOST_NAMES = 4
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    """`2.10 GiB`."""
    value, unit = float(count), 0
    while abs(value) >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{value:.2f} {_UNITS[unit]}"


def first_sentence(report: Report) -> str:
    """The most useful sentence about a report."""
    if report.reason:
        return report.reason
    device = max(report.devices, key=lambda it: it.allocated_bytes, default=None)
    if device is None or not device.allocated_bytes:
        return "nothing is allocated on a GPU" + _on_cache(device)
    on = f" on GPU {device.device}" if len(report.devices) > 1 else ""
    return f"{size(device.allocated_bytes)} allocated{on}; {_on_removal(device)}"


def _on_cache(device: Device | None) -> str:
    kept = device.reserved_bytes - device.allocated_bytes if device else 0
    return f"; PyTorch's cache keeps {size(kept)}: `%oomph free cache` releases it" if kept else ""


def _on_removal(device: Device) -> str:
    best = max(device.rows, key=lambda it: it.removal_bytes, default=None)
    if best is None or not best.removal_bytes:
        first = device.rows[0]
        return f"`{first.name}` holds {size(first.bytes)} of it, and {_on_names(device, first)}"
    held, freed = size(best.bytes), size(best.removal_bytes)
    what = f"all {held}" if best.removal_bytes == best.bytes else freed
    return f"`{best.name}` holds {held} of it: `%oomph free {best.name}` frees {what}"


def _on_names(device: Device, row: Row) -> str:
    """The names that free a row together, if a few do."""
    names = [row.name, *row.also_held_by]
    freed = sum(count for count, holders in device.blocks if holders and holders <= set(names))
    known = {it.name for it in device.rows if it.kind in REMOVABLE}
    if len(names) > _MOST_NAMES or not known.issuperset(names):
        return "no name alone frees memory"
    return f"`%oomph free {' '.join(names)}` frees {size(freed)}"


def detail(row: Row) -> str:
    """The facts of a row: type, graph, other names and holders."""
    parts = [row.detail] if row.detail else []
    if row.graph_bytes:
        parts.append(f"{size(row.graph_bytes)} of it by its autograd graph")
    if row.aliases and row.kind == "output":
        parts.append("also " + ", ".join(f"`{it}`" for it in row.aliases))
    if row.also_held_by:
        rest = len(row.also_held_by) - 3
        more = f" and {rest} more" if rest > 0 else ""
        parts.append("also held by " + ", ".join(f"`{it}`" for it in row.also_held_by[:3]) + more)
    return "; ".join(parts)


def device_line(device: Device) -> str:
    """The figures of a device."""
    cache = device.reserved_bytes - device.allocated_bytes
    return f"GPU {device.device}: {size(device.allocated_bytes)} allocated, {size(cache)} more in PyTorch's cache, of {size(device.total_bytes)}"


def shared_line(device: Device) -> str:
    """The sum of the rows; empty if no block is in two rows."""
    total = sum(it.bytes for it in device.rows)
    return f"Shared memory is in several rows; counted once, the rows are {size(device.allocated_bytes)}" if total != device.allocated_bytes else ""
