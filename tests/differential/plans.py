"""Plans of random programs, and the choice of each operation."""

import dataclasses
import random

import settings
from state import State

MIB = 1 << 20
GIB = 1 << 30

# Kinds of operations besides allocating, freeing and emptying the cache.
KINDS = ("streams", "pools", "captures", "threads", "fraction", "settings", "resets", "raw")
# Sizes around the thresholds of the allocator's rules.
EDGES = [512, MIB, 2 * MIB, 10 * MIB, 20 * MIB, 32 * MIB, 128 * MIB, GIB]


@dataclasses.dataclass
class Plan:
    """The constants of a program."""

    version: tuple[int, int]
    kinds: list[str]
    source: settings.Source
    settings: str
    # The value of set_per_process_memory_fraction at the start, or empty.
    fraction: str
    device_bytes: int
    streams: int
    shuffle: int
    threads: int
    # The largest usual request, and the target share of allocated memory.
    largest: int
    fill: float
    # The share of requests that repeat an earlier size, which creates blocks of equal size.
    repeats: float

    @staticmethod
    def drawn(chance: random.Random, kinds: list[str], version: str) -> "Plan":
        """A random plan with some of the kinds."""
        torch_version = tuple(int(part) for part in version.split(".")[:2])
        # `use_mem_pool` took the requests of all threads in these versions, which the model lacks.
        kinds = [kind for kind in kinds if kind != "pools" or torch_version >= (2, 11)]
        chosen = [kind for kind in kinds if chance.random() < 0.6]
        source = settings.Source(chance, torch_version, "settings" in chosen)
        device_bytes = int(chance.choice([0.55, 0.7, 1, 2, 3, 4, 6, 8, 11, 24]) * GIB) - chance.choice([0, 0, 1, 3, 100]) * MIB // 2
        return Plan(
            version=torch_version,
            kinds=chosen,
            source=source,
            settings=source.draw(),
            fraction=chance.choice(["0.3", "0.5", "0.8", "0.95", "1.0"]) if "fraction" in chosen and chance.random() < 0.8 else "",
            device_bytes=device_bytes - chance.choice([0, 0, 4096, 65536]),
            streams=chance.choice([2, 3, 4]) if "streams" in chosen or "captures" in chosen else 1,
            shuffle=chance.randrange(1000),
            threads=chance.choice([2, 3]) if "threads" in chosen else 1,
            largest=chance.choice([MIB // 2, 4 * MIB, 64 * MIB, *(device_bytes // part for part in (64, 16, 4, 1))]),
            fill=chance.choice([0.3, 0.8, 1.0, 1.3]),
            repeats=chance.choice([0.0, 0.3, 0.7]),
        )


def play(plan: Plan, chance: random.Random, machine, operations: int) -> None:
    """Executes random operations until the program is long enough."""
    state = State(plan, chance, machine)
    actions = weighted(plan)
    choices, weights = list(actions), list(actions.values())
    while len(machine.operations) < operations:
        choice, = chance.choices(choices, weights)
        getattr(state, choice)()


def weighted(plan: Plan) -> dict[str, float]:
    """The weight of each kind of operation."""
    weights = {"alloc_or_free": 100.0, "empty_cache": 0.8, "snapshot": 0.4, "free_many": 0.3, "alloc_huge": 0.3, "alloc_absurd": 0.03}
    extra = {
        "streams": {"record_stream": 6, "hold_events": 1, "complete_events": 1.5, "complete_stream": 1, "synchronize": 0.5},
        "pools": {"create_pool": 0.7, "begin_or_end_pool": 4, "delete_pool": 0.5},
        "captures": {"begin_or_end_capture": 3, "join_capture": 1, "destroy_graph": 0.6},
        "threads": {},
        "fraction": {"set_fraction": 0.4},
        "settings": {"set_settings": 0.5},
        "resets": {"reset_peak": 0.5, "reset_accumulated": 0.2},
        "raw": {},
    }
    for kind in plan.kinds:
        weights |= extra[kind]
    return weights


def size(plan: Plan, chance: random.Random, earlier: list[int]) -> int:
    """The size of a request: an earlier size, a size near a threshold, or any."""
    if earlier and chance.random() < plan.repeats:
        return chance.choice(earlier)
    if chance.random() < 0.15:
        edges = [edge for edge in EDGES if edge <= plan.largest] or [512]
        return max(1, chance.choice(edges) + chance.choice([-512, -1, 0, 1, 512]))
    return int(2 ** chance.uniform(0, plan.largest.bit_length() - 1))
