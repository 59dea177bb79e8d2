"""The largest batches of loaders, without running a model."""

import random
import unittest
from unittest import mock

import torch
from oomph.agent.life import loaders
from oomph.agent.life.loaders import passes as passes_of
from oomph.agent.life.loaders import worst
from oomph.agent.life.loaders.sizes import measure
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, Subset

loaders.install()


class Texts(Dataset):
    """Texts as lists of tokens, by their lengths, and a count of the texts read."""

    def __init__(self, lengths):
        self.tokens, self.read = lengths, 0

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        self.read += 1
        return {"input_ids": [7] * self.tokens[index], "label": index % 2}


def pad(samples):
    rows = [torch.tensor(it["input_ids"]) for it in samples]
    ids = pad_sequence(rows, batch_first=True)
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": torch.tensor([it["label"] for it in samples])}


def pack(samples):
    return torch.tensor([token for it in samples for token in it["input_ids"]])


def make_corpora(rows):
    """Lengths of texts: uniform, log-normal, one outlier, sorted, two modes."""
    numbers = random.Random(5)
    normal = [int(min(max(numbers.lognormvariate(4, 0.8), 4), 2000)) for _ in range(rows)]
    outlier = [64] * rows
    outlier[rows * 2 // 3] = 1900
    return {
        "uniform": [numbers.randint(8, 512) for _ in range(rows)],
        "log-normal": normal,
        "one outlier": outlier,
        "sorted": sorted(normal),
        "two modes": [numbers.choice((40, 900)) + numbers.randint(0, 60) for _ in range(rows)],
    }


def largest_of_all(loader):
    """The largest size over all batches, by running through them."""
    return max((sum(it.nbytes for it in (batch.values() if isinstance(batch, dict) else [batch]))) for batch in loader)


def seeded(loader, seed=2):
    torch.manual_seed(seed)
    return iter(loader)


class CorporaTest(unittest.TestCase):
    def test_the_largest_batch_is_that_of_a_scan_over_all(self):
        # The last column: the share of the time in which all batches are collated.
        for collate, options, share in ((pack, {}, 1), (pad, {"shuffle": True}, 1), (pack, {"shuffle": True}, 0), (pad, {}, 0)):
            rows = 1_600
            for name, lengths in make_corpora(rows).items():
                loader = DataLoader(Texts(lengths), 8, collate_fn=collate, **options)
                expected = largest_of_all(seeded(loader))
                passes = seeded(loader)
                next(passes)
                with mock.patch.object(worst, "_ALL", share):
                    positions = passes.list_largest(3)
                found = passes.scan
                case = (name, collate.__name__, options, share)
                self.assertEqual((found.is_complete, found.scanned, found.bound), (True, rows // 8, ""), case)
                self.assertEqual(found.sizes[positions[-1]].bytes, expected, case)
                sizes = [found.sizes[at].bytes for at in positions]
                self.assertEqual(sizes, sorted(sizes), case)
                self.assertTrue(passes.jump(positions[-1]), case)
                self.assertEqual(measure(next(passes)).bytes, expected, case)

    def test_columns_tell_lengths_without_reading_samples(self):
        lengths = make_corpora(60_000)["log-normal"]

        class Slow(Texts):
            def __getitem__(self, index):
                sum(range(3_000))
                return super().__getitem__(index)

        class Grouped:
            """A sampler with the lengths of all samples."""

            def __init__(self):
                self.lengths = lengths

            def __iter__(self):
                return iter(range(len(lengths)))

            def __len__(self):
                return len(lengths)

        dataset = Slow(lengths)
        passes = iter(DataLoader(dataset, 8, sampler=Grouped(), collate_fn=pad))
        at = passes.list_largest(1)[0]
        expected = max(range(len(lengths) // 8), key=lambda at: max(lengths[at * 8 : at * 8 + 8]))
        self.assertEqual((at, passes.scan.is_complete), (expected, True))
        self.assertLess(dataset.read, 1_000)
        part = Subset(dataset, range(20_000))
        dataset.lengths = lengths
        passes = iter(DataLoader(part, 8, collate_fn=pad))
        self.assertEqual(passes.list_largest(1), [max(range(2_500), key=lambda at: max(lengths[at * 8 : at * 8 + 8]))])

    def test_the_longest_texts_are_tried_where_only_a_part_can_be_read(self):
        class Letters(Dataset):
            def __init__(self):
                numbers = random.Random(3)
                self.texts = ["a " * numbers.randint(3, 60) for _ in range(50_000)]
                self.texts[31_111] = "ab " * 400

            def __len__(self):
                return len(self.texts)

            def __getitem__(self, index):
                sum(range(20_000))
                return {"input_ids": [len(it) for it in self.texts[index].split()], "label": 0}

        with mock.patch.object(passes_of, "_SECONDS", 0.5):
            passes = iter(DataLoader(Letters(), 8, collate_fn=pad))
            self.assertEqual(passes.list_largest(1), [31_111 // 8])
        self.assertFalse(passes.scan.is_complete)

    def test_a_large_first_batch_does_not_shorten_the_scan(self):
        lengths = [3] * 2_000 + [9] * 200
        batches = [list(range(2_000)), *([2_000 + at] for at in range(200))]
        passes = iter(DataLoader(Texts(lengths), batch_sampler=batches, collate_fn=pad))
        with mock.patch.object(worst, "_SAMPLES", 2_200):
            self.assertEqual((passes.list_largest(1), passes.scan.scanned, passes.scan.is_complete), ([0], 201, True))

    def test_lengths_that_tell_something_else_are_not_used(self):
        lengths = make_corpora(6_000)["uniform"]
        dataset = Texts(lengths)
        dataset.lengths = lengths[::-1]
        passes = iter(DataLoader(dataset, 8, collate_fn=pad))
        self.assertEqual(passes.list_largest(1), [max(range(750), key=lambda at: max(lengths[at * 8 : at * 8 + 8]))])


    def test_a_later_epoch_uses_the_samples_of_the_first(self):
        class Growing(Texts):
            factor = 1

            def __getitem__(self, index):
                found = super().__getitem__(index)
                return {**found, "input_ids": found["input_ids"] * self.factor}

        dataset = Growing(make_corpora(2_400)["log-normal"])
        loader = DataLoader(dataset, 8, shuffle=True, collate_fn=pad)
        # The most texts read in an epoch, and the factor of their lengths.
        for most, factor in ((3_000, 1), (500, 1), (4_000, 2)):
            dataset.factor, dataset.read = factor, 0
            expected = largest_of_all(seeded(loader, most))
            dataset.read = 0
            passes = seeded(loader, most)
            self.assertEqual(passes.scan.sizes[passes.list_largest(1)[-1]].bytes, expected)
            self.assertLess(dataset.read, most)
            self.assertTrue(passes.scan.is_complete)


class ShapesTest(unittest.TestCase):
    def test_batches_of_one_shape_are_alike(self):
        same = Texts([64] * 100)
        for loader, expected in (
            (DataLoader(same, 8, collate_fn=pad), True),
            (DataLoader(Texts([64] * 40 + [65] + [64] * 59), 8, collate_fn=pad), False),
            (DataLoader(Texts([64] * 96 + [63] * 4), 8, collate_fn=pad), True),
            (DataLoader(torch.utils.data.TensorDataset(torch.zeros(100, 3)), 8), True),
        ):
            passes = iter(loader)
            self.assertEqual(passes.are_alike, expected, loader.dataset)
            self.assertEqual(passes.list_largest(2) == [], expected)

    def test_a_shape_is_named_by_its_key(self):
        self.assertEqual(measure(pad([{"input_ids": [7] * 5, "label": 0}] * 2)).shape, "input_ids 2x5, labels 2")
        self.assertEqual(measure([torch.zeros(8, 3, 4, 4), torch.zeros(8)]).shape, "8x3x4x4, 8")
        self.assertEqual(measure(("a", None, 3)).shape, "")

    def test_positions_have_different_shapes_and_come_next(self):
        passes = iter(DataLoader(Texts([9, 5, 9, 3, 9, 5]), 1, collate_fn=pad))
        next(passes)
        self.assertEqual(passes.list_largest(2), [1, 2])
        self.assertEqual(passes.list_largest(9), [3, 1, 2])
        self.assertTrue(passes.bring(2))
        self.assertEqual([next(passes)["input_ids"].numel() for _ in range(3)], [9, 9, 3])
        self.assertEqual(passes.position, 4)


@mock.patch.object(passes_of, "_SECONDS", 0.6)
class BoundsTest(unittest.TestCase):
    def test_a_large_set_is_read_in_part(self):
        class Many(Texts):
            max_length = 2048

            def __init__(self):
                super().__init__([])

            def __len__(self):
                return 10**8

            def __getitem__(self, index):
                return {"input_ids": [7] * (1 + index % 97), "label": 0}

        passes = iter(DataLoader(Many(), 10, collate_fn=pad))
        largest = passes.list_largest(2)
        found = passes.scan
        self.assertEqual((found.total, found.is_complete, len(largest)), (10**7, False, 2))
        self.assertRegex(found.bound, r"^[\d,]+ of 100,000,000 samples were read; the data set allows 2,048 tokens$")
        self.assertTrue(passes.jump(largest[-1]))

    def test_samples_that_raise_end_the_scan(self):
        class Bad(Texts):
            def __getitem__(self, index):
                if index == 50:
                    raise OSError
                return super().__getitem__(index)

        passes = iter(DataLoader(Bad([5] * 40 + [6] * 60), 4, collate_fn=pad))
        self.assertIsNotNone(passes.list_largest(1))
        self.assertIn("OSError was raised", passes.scan.bound)
        self.assertEqual(len(next(passes)["labels"]), 4)

        class Worse(Texts):
            def __getitem__(self, index):
                raise OSError

        self.assertIsNone(iter(DataLoader(Worse([5] * 40), 4, collate_fn=pad)).list_largest(1))

    def test_samples_that_never_end_are_left(self):
        class Endless(Texts):
            def __getitem__(self, index):
                while index > 6:
                    pass
                return super().__getitem__(index)

        passes = iter(DataLoader(Endless([5] * 40), 4, collate_fn=pad))
        self.assertFalse(passes.are_alike)

    def test_sizes_that_change_are_not_known(self):
        sizes = random.Random(4)

        def crop(samples):
            return torch.zeros(len(samples), sizes.randint(2, 90))

        class InWorkers(Texts):
            def __getitem__(self, index):
                return torch.zeros(3 if torch.utils.data.get_worker_info() is None else 50)

        for dataset, options in ((Texts([5] * 800), {"collate_fn": crop}), (InWorkers([5] * 400), {"num_workers": 1, "collate_fn": torch.stack})):
            for is_begun in (True, False)[: 2 - ("num_workers" in options)]:
                passes = iter(DataLoader(dataset, 8, **options))
                if is_begun:
                    next(passes)
                self.assertEqual((passes.are_alike, passes.scan.is_complete), (False, False))
                self.assertIn("a batch had two sizes", passes.scan.bound)

    def test_a_stream_has_no_largest_batch(self):
        class Stream(torch.utils.data.IterableDataset):
            max_length = 100

            def __iter__(self):
                return iter([torch.zeros(3), torch.zeros(7), torch.zeros(3), torch.zeros(3)])

        passes = iter(DataLoader(Stream()))
        self.assertEqual((passes.are_alike, passes.list_largest(2)), (False, None))
        self.assertEqual([batch.shape[1] for batch in passes], [3, 7, 3, 3])
        bound = "the data set allows 100 tokens"
        self.assertEqual(passes.describe(), {"scanned": 4, "total": None, "largest": 1, "shape": "1x7", "bound": bound})

    def test_random_numbers_and_the_order_stay(self):
        class Augmented(Texts):
            def __getitem__(self, index):
                random.random(), torch.rand(3)
                return super().__getitem__(index)

        states = []
        for is_scanned in (False, True):
            random.seed(4)
            passes = seeded(DataLoader(Augmented(list(range(1, 200))), 4, shuffle=True, collate_fn=pad))
            if is_scanned:
                self.assertIsNotNone(passes.list_largest(1))
            batches = [next(passes)["input_ids"].shape for _ in range(5)]
            states.append((batches, random.random(), torch.rand(()).item()))
        self.assertEqual(states[0], states[1])

    def test_a_collate_function_makes_its_tensors_on_the_host(self):
        def to_gpu(samples):
            batch = {name: each.to("cuda", non_blocking=True).cuda() for name, each in pad(samples).items()}
            return {**batch, "more": torch.zeros(4, device=torch.device("cuda", 0))}

        passes = iter(DataLoader(Texts([5, 6, 7, 9]), 1, collate_fn=to_gpu))
        self.assertEqual((passes.list_largest(1), passes.scan.shape), ([3], "input_ids 1x9, more 4, labels 1"))


if __name__ == "__main__":
    unittest.main()
