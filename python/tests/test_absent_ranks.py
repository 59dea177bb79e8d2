"""A rank that runs alone: variables, store, gathered objects."""

import unittest

from oomph.agent.ranks.job_rank import JobRank

from .support import needs_torch


class JobRankTest(unittest.TestCase):
    """The variables of a launcher."""

    def test_the_last_rank_of_eight_machines(self):
        variables = JobRank(rank=63, world_size=64, local_world_size=8).variables
        expected = {"RANK": "63", "LOCAL_RANK": "7", "WORLD_SIZE": "64", "GROUP_RANK": "7", "GROUP_WORLD_SIZE": "8"}
        self.assertEqual({name: variables[name] for name in expected}, expected)


@needs_torch
class StoreTest(unittest.TestCase):
    """Answers of the store for absent ranks."""

    def setUp(self):
        from oomph.agent.ranks.absent_ranks_store import AbsentRank, LoneStore

        self.store, self.absent = LoneStore(4), AbsentRank

    def test_what_was_set_is_kept(self):
        self.store.set("key", "text")
        self.assertEqual((self.store.get("key"), self.store.check(["key"])), (b"text", True))
        self.assertTrue(self.store.delete_key("key"))
        self.assertFalse(self.store.check(["key"]))

    def test_identifiers_of_nccl_are_answered_for(self):
        for key in ("0", "default_pg/0//cuda//12", "pp/0:3", "default_pg/0//cuda//UniqueNCCLID:1"):
            self.assertEqual(len(self.store.get(key)), 128, key)

    def test_what_another_rank_alone_knows_is_an_error_that_names_it(self):
        for ask in (self.store.get, lambda key: self.store.wait([key])):
            with self.assertRaisesRegex(self.absent, "'its-address'.*torchrun"):
                ask("its-address")

    def test_every_rank_has_arrived_at_a_counter(self):
        self.assertEqual(self.store.add("barrier", 1), 4)
        self.store.wait(["barrier:last_worker"])


if __name__ == "__main__":
    unittest.main()
