"""The variables of running functions are read, and not kept alive."""

import sys
import unittest
import weakref

from oomph.agent.process import local_variables


class Value:
    """A value that can be watched."""

    def eval(self) -> None:
        """As a module's."""


def make() -> Value:
    """A value that the caller alone holds."""
    return Value()


def delete(value: Value) -> bool:
    """True if nothing holds a deleted variable of this function after a read."""
    local_variables.read(sys._getframe(), "value")
    watched = weakref.ref(value)
    del value
    return watched() is None


def delete_after_eval(value: Value) -> bool:
    """The same in a function with a method of the name of a reader."""
    value.eval()
    local_variables.read(sys._getframe(), "value")
    watched = weakref.ref(value)
    del value
    return watched() is None


def count_locals(value: Value) -> int:
    """A function that holds the dict itself."""
    own = locals()
    local_variables.read(sys._getframe(), "value")
    return len(own) if value else 0


class LocalVariables(unittest.TestCase):
    def test_a_read_keeps_nothing_alive(self) -> None:
        for function in (delete, delete_after_eval):
            with self.subTest(function.__name__):
                self.assertTrue(function(make()))

    def test_a_dict_of_the_programs_own_stays(self) -> None:
        self.assertGreaterEqual(count_locals(Value()), 1)


if __name__ == "__main__":
    unittest.main()
