"""Iterators of loaders: positions, jumps, and the list of open iterators."""

import gc
import random
import unittest

import torch
from oomph.agent import hooks
from oomph.agent.life import loaders
from oomph.agent.life.loaders import passes as passes_of
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler, TensorDataset

loaders.install()
NAME = "torch.utils.data.dataloader:_BaseDataLoaderIter.__init__"


class Rows(Dataset):
    """Rows with their index as content; the row `bad` raises an error."""

    def __init__(self, size=10, bad=None):
        self.size, self.bad = size, bad

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if index == self.bad:
            raise KeyError(index)
        return torch.tensor([index])


class OfWorkers(Rows):
    """Rows without content in the main process."""

    rows = None

    def __getitem__(self, index):
        return self.rows[index]


def open_rows(_worker):
    dataset = torch.utils.data.get_worker_info().dataset
    dataset.rows = list(torch.arange(dataset.size).view(-1, 1))


class Stream(IterableDataset):
    """A stream of `size` numbers, endless for `None`, with a claimed `length`."""

    def __init__(self, size, length=None):
        self.size, self.length = size, length

    def __iter__(self):
        number = 0
        while self.size is None or number < self.size:
            yield torch.tensor([number])
            number += 1

    def __len__(self):
        if self.length is None:
            raise TypeError
        return self.length


class Draws:
    """A sampler with random numbers of the program for each batch, and a count of its iterators."""

    def __init__(self, batches=6, bad=None):
        self.batches, self.bad, self.asked = batches, bad, 0

    def __iter__(self):
        self.asked += 1
        for number in range(self.batches):
            if number == self.bad:
                raise OSError(number)
            yield [random.randrange(10), torch.randint(10, ()).item()]

    def __len__(self):
        return self.batches


def flat(batches):
    return [batch.flatten().tolist() for batch in batches]


def first(iterator):
    return next(iterator).flatten().tolist()


class JumpTest(unittest.TestCase):
    def test_without_a_jump_batches_are_pytorchs(self):
        for options in (
            {"batch_size": 3},
            {"batch_size": 3, "drop_last": True},
            {"batch_size": 3, "num_workers": 2},
            {"batch_size": None},
            {"batch_size": 4, "shuffle": True},
            {"batch_sampler": [[1, 2], [3]]},
            {"batch_size": 2, "collate_fn": lambda rows: torch.stack(rows) + 1},
        ):
            found = []
            for change in (lambda *_: None, hooks.without, hooks.around):
                change(NAME, passes_of.enter)
                torch.manual_seed(3)
                found.append(flat(DataLoader(Rows(), **options)))
            self.assertEqual(found[1:], [found[0]] * 2, options)

    def test_a_jump_goes_to_a_batch_of_the_epoch(self):
        for options in (
            {"batch_size": 3},
            {"batch_size": 3, "num_workers": 2},
            {"batch_size": 3, "num_workers": 1, "persistent_workers": True},
            {"batch_sampler": [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]},
            {"batch_sampler": BatchSampler(range(10), 3, False), "num_workers": 2},
        ):
            passes = iter(DataLoader(Rows(), **options))
            self.assertEqual((passes.position, passes.total, first(passes)), (0, 4, [0, 1, 2]), options)
            self.assertTrue(passes.jump(3), options)
            self.assertEqual((passes.position, first(passes), passes.position), (3, [9], 4), options)
            self.assertTrue(passes.jump(1), options)
            self.assertEqual(flat(passes), [[3, 4, 5], [6, 7, 8], [9]], options)
            self.assertEqual(list(passes), [], options)
            self.assertFalse(passes.jump(5), options)
        passes = iter(DataLoader(Rows(), batch_size=None, shuffle=True))
        self.assertTrue(passes.jump(8))
        self.assertEqual([batch.shape for batch in passes], [(1,)] * 2)
        passes = iter(DataLoader(Rows(), 3, drop_last=True))
        self.assertEqual((passes.total, passes.jump(4), passes.jump(2), first(passes)), (3, False, True, [6, 7, 8]))

    def test_the_order_is_the_one_that_the_epoch_would_have(self):
        for options in ({"shuffle": True}, {"sampler": RandomSampler(Rows(), replacement=True, num_samples=17)}):
            for workers in (0, 2):
                torch.manual_seed(1)
                expected = flat(DataLoader(Rows(), 2, num_workers=workers, **options))
                torch.manual_seed(1)
                passes = iter(DataLoader(Rows(), 2, num_workers=workers, **options))
                found = []
                for position in reversed(range(len(expected))):
                    self.assertTrue(passes.jump(position))
                    found.append(first(passes))
                self.assertEqual(found[::-1], expected)

    def test_random_numbers_of_the_program_are_as_before(self):
        states = []
        for goal in (None, 5):
            sampler = Draws()
            torch.manual_seed(1)
            random.seed(1)
            passes = iter(DataLoader(Rows(), batch_sampler=sampler))
            next(passes)
            if goal is not None:
                self.assertTrue(passes.jump(goal))
            next(passes)
            states.append((random.random(), torch.rand(()).item(), sampler.asked))
        self.assertEqual(states[0], states[1])

    def test_a_sampler_that_raises_raises_at_its_place(self):
        passes = iter(DataLoader(Rows(), batch_sampler=Draws(bad=3)))
        next(passes)
        self.assertFalse(passes.jump(5))
        self.assertFalse(passes.jump(3))
        self.assertTrue(passes.jump(1))
        self.assertEqual([len(next(passes)), len(next(passes))], [2, 2])
        self.assertRaises(OSError, next, passes)
        self.assertRaises(StopIteration, next, passes)

    def test_a_batch_that_raises_raises_where_it_is_fetched(self):
        for workers in (0, 2):
            passes = iter(DataLoader(Rows(bad=4), 2, num_workers=workers))
            self.assertEqual(first(passes), [0, 1])
            self.assertEqual(passes.jump(2), workers == 0)
            if workers:
                # Without a change: the workers' next batch.
                self.assertEqual(first(passes), [2, 3])
            self.assertRaises(KeyError, next, passes)
            self.assertTrue(passes.jump(3))
            self.assertEqual(first(passes), [6, 7])

    def test_rows_that_only_a_worker_can_read_come_in_their_order(self):
        passes = iter(DataLoader(OfWorkers(), 2, num_workers=1, worker_init_fn=open_rows))
        self.assertEqual((first(passes), passes.jump(4)), ([0, 1], False))
        self.assertEqual(flat(passes), [[2, 3], [4, 5], [6, 7], [8, 9]])

    def test_a_jump_in_a_stream_counts(self):
        for workers in (0, 1):
            passes = iter(DataLoader(Stream(None), 2, num_workers=workers))
            self.assertEqual((first(passes), passes.total), ([0, 1], None))
            self.assertTrue(passes.jump(1000))
            self.assertEqual((first(passes), passes.position, passes.jump(10)), ([2, 3], 1001, False))
            passes = iter(DataLoader(Stream(20, 20), 2, num_workers=workers))
            self.assertTrue(passes.jump(8))
            self.assertEqual((passes.total, flat(passes)), (10, [[0, 1], [2, 3]]))

    def test_a_stream_longer_than_it_says_has_no_total(self):
        passes = iter(DataLoader(Stream(6, 4), 2))
        self.assertEqual(passes.total, 2)
        self.assertEqual(len(flat(passes)), 3)
        self.assertIsNone(passes.total)

    def test_a_set_of_many_rows_is_not_read(self):
        for options in ({}, {"shuffle": False, "drop_last": True}):
            passes = iter(DataLoader(Rows(10**8), 30, **options))
            last = passes.total - 1
            self.assertTrue(passes.jump(last))
            self.assertEqual(first(passes), list(range(last * 30, 10**8))[:30])
            self.assertRaises(StopIteration, next, passes)

    def test_far_batches_of_an_unknown_order_have_their_length(self):
        rows = 3_000_010
        sampler = BatchSampler(iter(range(rows)), 100, False)
        sampler.sampler = RandomSampler(Rows(rows))
        passes = iter(DataLoader(Rows(rows), batch_sampler=sampler))
        self.assertTrue(passes.jump(passes.total - 2))
        self.assertEqual([len(batch) for batch in passes], [100, 10])

    def test_an_endless_sampler_has_no_total(self):
        class Repeated:
            def __iter__(self):
                while True:
                    yield [0, 1]

        passes = iter(DataLoader(Rows(), batch_sampler=Repeated()))
        self.assertIsNone(passes.total)
        self.assertTrue(passes.jump(1000))
        self.assertEqual(first(passes), [0, 1])


class OpenedTest(unittest.TestCase):
    def test_open_iterators_are_in_the_order_of_their_start(self):
        outer, inner = iter(DataLoader(Rows(), 5)), iter(DataLoader(Rows(), 5))
        self.assertEqual(list(loaders.opened), [outer, inner])
        self.assertIs(loaders.opened[-1], inner)
        list(inner)
        self.assertEqual(list(loaders.opened), [outer])
        del outer
        gc.collect()
        self.assertEqual(list(loaders.opened), [])

    def test_persistent_workers_serve_each_epoch(self):
        loader = DataLoader(Rows(6), 2, num_workers=1, persistent_workers=True)
        passes = iter(loader)
        workers = [worker.pid for worker in passes._workers]
        self.assertTrue(passes.jump(2))
        self.assertEqual(flat(passes), [[4, 5]])
        self.assertEqual(list(loaders.opened), [])
        self.assertIs(iter(loader), passes)
        self.assertEqual((passes.position, list(loaders.opened)), (0, [passes]))
        self.assertEqual(flat(passes), [[0, 1], [2, 3], [4, 5]])
        self.assertEqual([worker.pid for worker in passes._workers], workers)

    def test_workers_end_with_their_epoch(self):
        passes = iter(DataLoader(Rows(), 2, num_workers=2))
        workers = passes._workers
        self.assertTrue(passes.jump(4))
        self.assertEqual(flat(passes), [[8, 9]])
        self.assertEqual([worker.is_alive() for worker in workers], [False, False])

    def test_an_iterator_is_of_pytorchs_class(self):
        loader = DataLoader(TensorDataset(torch.zeros(4)), 2)
        passes = iter(loader)
        self.assertIsInstance(passes, torch.utils.data.dataloader._SingleProcessDataLoaderIter)
        self.assertIsInstance(passes, loaders.LoaderPasses)
        self.assertEqual(type(passes).__name__, "_SingleProcessDataLoaderIter")
        self.assertIs(passes.loader, loader)
        self.assertIs(passes._dataset, loader.dataset)


if __name__ == "__main__":
    unittest.main()
