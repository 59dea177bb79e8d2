"""The guessed number of tokens of a text is a record where it matters."""

import unittest
from unittest import mock

from oomph.agent.scenery.texts import lengths


class TestLengths(unittest.TestCase):
    def test_the_longest_text_is_a_record_where_no_length_was_asked_for(self):
        cases = (
            (False, (448, 2048), []),
            (True, (0, 0), [None]),
            (True, (448, 2048), [None, (448, 2048)]),
            (True, (448, 10**30), [None, (448, None)]),
        )
        for is_guessed, longest, expected in cases:
            with mock.patch.multiple(lengths, _is_guessed=is_guessed, _longest=longest):
                found = [(row["tokens"], row["allowed"]) if "tokens" in row else None for row in lengths.list_records()]
            self.assertEqual(found, expected)
