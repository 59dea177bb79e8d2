"""The containers of tensors, by name."""

import collections
import functools
import unittest

import torch

from oomph.agent.memory import keepers

COUNT = 12
shelf = {}


class Store:
    """An object with a list of tensors."""

    def __init__(self):
        self.kept = []

    def fill(self):
        for _ in range(COUNT):
            self.kept.append(torch.zeros(2))


@functools.lru_cache(maxsize=None)
def cached(_number):
    return torch.zeros(2)


def find(tensors) -> tuple[str, str, str]:
    """The container, the owner and the name of the record of these tensors."""
    wanted = {it.data_ptr() for it in tensors}
    records = keepers.list_keepers(lambda tensor: {tensor.data_ptr(): tensor.nbytes} if tensor.data_ptr() in wanted else {})
    return next(((it["container"], it["owner"], it["name"]) for it in records if it["name"] not in ("tensors", "wanted")), ("", "", ""))


class KeepersTest(unittest.TestCase):
    def test_containers_are_named(self):
        store = Store()
        store.fill()
        self.assertEqual(find(iter(store.kept)), ("list", "Store", "kept"))
        shelf.update({number: torch.zeros(2) for number in range(COUNT)})
        self.assertEqual(find(iter(shelf.values())), ("dict", "", "shelf"))
        for number in range(COUNT):
            cached(number)
        self.assertEqual(find(cached(number) for number in range(COUNT)), ("cache", "", "cached"))

    def test_few_tensors_are_named(self):
        store = Store()
        store.kept = [torch.zeros(2) for _ in range(3)]
        self.assertEqual(find(iter(store.kept)), ("list", "Store", "kept"))

    def test_a_list_in_a_dict_has_its_name(self):
        store = Store()
        store.kept = collections.defaultdict(list)
        store.kept["layer"] += [torch.zeros(2) for _ in range(COUNT)]
        self.assertEqual(find(iter(store.kept["layer"])), ("list", "Store", "kept"))

    def test_one_tensor_is_no_collection(self):
        store = Store()
        store.kept = [torch.zeros(2)]
        self.assertEqual(find(iter(store.kept)), ("", "", ""))

    def test_containers_in_a_container_are_its_own(self):
        store = Store()
        store.kept = [{"loss": torch.zeros(2), "step": number} for number in range(3)]
        self.assertEqual(find(it["loss"] for it in store.kept), ("list", "Store", "kept"))

    def test_parameters_are_no_collection(self):
        layer = torch.nn.Linear(2, 2)
        self.assertEqual(find(layer.parameters()), ("", "", ""))


if __name__ == "__main__":
    unittest.main()
