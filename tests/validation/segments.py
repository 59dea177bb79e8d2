"""The allocator's requests to the device, in short: `[times, action, size]`, with equal requests in a row as one."""

ACTIONS = {"segment_alloc": "alloc", "segment_free": "free", "segment_map": "map", "segment_unmap": "unmap"}


def runs(history: list[dict]) -> list[list]:
    """The requests in a device's memory history, in their order."""
    found: list[list] = []
    for event in history:
        action = ACTIONS.get(event["action"])
        if action is None:
            continue
        if found and found[-1][1:] == [action, event["size"]]:
            found[-1][0] += 1
        else:
            found.append([1, action, event["size"]])
    return found


def agreement(recorded: list[list], predicted: list[list]) -> tuple[int, int]:
    """The number of requests that agree from the first on, and the number recorded."""
    one, other = ([request[1:] for request in found for _ in range(request[0])] for found in (recorded, predicted))
    same = next((i for i, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))
    return same, len(one)
