"""Compares the rows of a callback with PyTorch's counters, and with the event file that the trainer wrote."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

_COUNTERS = {
    "allocated_bytes": "allocated_bytes.all.current",
    "reserved_bytes": "reserved_bytes.all.current",
    "peak_bytes": "allocated_bytes.all.peak",
}


def compare(rows: dict, counters: dict, logs: str, prefix: str) -> None:
    """Every row is the counters of its step; the event files have the last of them, in single precision."""
    assert sorted(rows) == sorted(counters), (sorted(rows), sorted(counters))
    for step, row in rows.items():
        found = {name: row[f"oomph/{name}"] for name in _COUNTERS}
        assert found == {name: counters[step][key] for name, key in _COUNTERS.items()}, (step, found)
        assert row["oomph/cache_bytes"] == found["reserved_bytes"] - found["allocated_bytes"], row
        assert row["oomph/spare_bytes"] > 0 and row["oomph/growth_bytes_per_step"] >= 0, row
    if rows:
        last = rows[max(rows)]
        logged = _read(Path(logs))
        for name in [key for key in last if key.startswith("oomph/")]:
            value = logged[prefix + name.removeprefix("oomph/")]
            assert abs(value - last[name]) <= last[name] / (1 << 23), (name, value, last[name])
    figures = {key for row in rows.values() for key in row if key.startswith("oomph/")}
    print(f"compared {len(rows)} rows of {len(figures)} figures")


def _read(logs: Path) -> dict[str, float]:
    found = {}
    for file in logs.rglob("events.out.tfevents.*"):
        events = EventAccumulator(str(file))
        events.Reload()
        found |= {name: events.Scalars(name)[-1].value for name in events.Tags()["scalars"]}
    return found
