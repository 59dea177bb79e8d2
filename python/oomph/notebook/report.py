"""The rows of a device as plain figures; no object of the user's is kept."""

from dataclasses import dataclass, field


@dataclass
class Row:
    """A holder of device memory."""

    name: str
    # variable, output, traceback, cycle, module, thread, graph, workspace or other.
    kind: str
    # The bytes of all reachable blocks; shared blocks count in several rows.
    bytes: int
    # The freed bytes after the removal of this holder alone.
    frees_bytes: int
    # The bytes of the blocks with this row as their first: the sum over all rows is the allocated memory.
    counted_bytes: int
    tensors: int
    # The bytes reachable through autograd graphs alone.
    graph_bytes: int = 0
    detail: str = ""
    also_held_by: list[str] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    # The freed bytes after `%oomph free NAME`: with equal outputs, and with the cycles.
    removal_bytes: int = 0

    def to_json(self) -> dict:
        """The object of `--json`."""
        names = ("name", "kind", "bytes", "frees_bytes", "counted_bytes", "graph_bytes", "tensors", "also_held_by", "aliases", "detail")
        return {name: getattr(self, name) for name in names}


@dataclass
class Device:
    """A used device."""

    device: int
    allocated_bytes: int
    reserved_bytes: int
    total_bytes: int
    rows: list[Row]
    # The size of each block, with the names of its rows.
    blocks: list[tuple[int, frozenset[str]]] = field(default_factory=list)

    def to_json(self) -> dict:
        """The object of `--json`."""
        figures = {"device": self.device, "allocated_bytes": self.allocated_bytes, "reserved_bytes": self.reserved_bytes}
        return {**figures, "total_bytes": self.total_bytes, "rows": [it.to_json() for it in self.rows]}


@dataclass
class Report:
    """The used devices; without one, the reason."""

    devices: list[Device]
    reason: str = ""

    def to_json(self) -> dict:
        """The object of `--json`."""
        return {"devices": [it.to_json() for it in self.devices], **({"reason": self.reason} if self.reason else {})}
