"""The allocated blocks of PyTorch's caching allocator."""

import bisect

_ROUNDING = 512


class Blocks:
    """The allocated blocks of one device, in order of their addresses."""

    def __init__(self, device: int, allocated_bytes: int, reserved_bytes: int) -> None:
        self.device, self.allocated_bytes, self.reserved_bytes = device, allocated_bytes, reserved_bytes
        self._addresses: list[int] = []
        self._sizes: list[int] = []
        # Sizes by address of storages outside known blocks: another allocator shows no blocks.
        self._others: dict[int, int] = {}
        self._private: set[int] = set()

    def add(self, address: int, size: int, is_private: bool) -> None:
        """Adds a block behind all others."""
        self._addresses.append(address)
        self._sizes.append(size)
        if is_private:
            self._private.add(address)

    def find(self, address: int, storage_bytes: int) -> int | None:
        """The address of the block around a storage; `None` for memory from elsewhere."""
        index = bisect.bisect_right(self._addresses, address) - 1
        if index >= 0 and address < self._addresses[index] + self._sizes[index]:
            return self._addresses[index]
        if self._addresses:
            return None
        self._others[address] = -(-storage_bytes // _ROUNDING) * _ROUNDING
        return address

    def list_all(self) -> dict[int, int]:
        """The sizes by address."""
        return {**dict(zip(self._addresses, self._sizes)), **self._others}

    def is_private(self, address: int) -> bool:
        """True in the private pool of a CUDA graph or of a `MemPool`."""
        return address in self._private


def read_all(torch) -> dict[int, Blocks]:
    """The blocks of every used device. CUDA must be initialised."""
    found = _read_counters(torch)
    for _ in range(3):
        _fill(found, _segments(torch))
        again = _read_counters(torch)
        if [it.allocated_bytes for it in again.values()] == [it.allocated_bytes for it in found.values()]:
            break
        # Another thread has allocated meanwhile.
        found = again
    return found


def _read_counters(torch) -> dict[int, Blocks]:
    devices = range(torch.cuda.device_count())
    every = [Blocks(it, torch.cuda.memory_allocated(it), torch.cuda.memory_reserved(it)) for it in devices]
    return {it.device: it for it in every if it.reserved_bytes or it.allocated_bytes}


def _segments(torch) -> list[dict]:
    """The allocator's segments, without the history of allocations if this PyTorch can leave the history out."""
    try:
        return torch.cuda.memory_snapshot(include_traces=False)
    except TypeError:
        return torch.cuda.memory_snapshot()


def _fill(found: dict[int, Blocks], segments: list[dict]) -> None:
    for segment in sorted(segments, key=lambda it: it["address"]):
        address = segment["address"]
        is_private = tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0)
        for block in segment["blocks"]:
            if block["state"] == "active_allocated" and segment["device"] in found:
                found[segment["device"]].add(address, block["size"], is_private)
            address += block["size"]
