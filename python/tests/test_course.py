"""The steps after which a program is stopped."""

import unittest

from oomph.agent.position.course import Course


def stopped_at(peaks, wanted=3, more=0, looks=True, events=501):
    """The step after which a program with these peaks is stopped; nothing is ahead of it. `None` if it never is. `events` of each step."""
    course = Course(wanted, more, looks)
    for step, peak in enumerate(peaks, 1):
        course.note_step([{"allocated_peak_bytes": peak, "allocated_bytes": 1}], step * events)
        if course.is_enough(step, None):
            return step
    return None


class CourseTest(unittest.TestCase):
    def test_a_program_is_stopped_when_its_peak_repeats(self):
        cases = (
            ([9, 9, 9, 9, 9], {}, 3),
            ([9, 9, 9, 9, 9], {"more": 10}, 3),
            # The peak rises in the third step, and repeats in the fifth.
            ([7, 8, 9, 10, 10, 10], {"more": 10}, 5),
            ([7, 8, 9, 10, 10, 10], {}, 3),
            (range(1, 99), {"more": 10}, 13),
            ([9, 9, 9], {"wanted": 1}, 1),
            ([9, 9, 9, 9], {"wanted": 0, "more": 10}, None),
            ([9, 9, 9, 9], {"looks": False}, 3),
            # A step is too long, and the steps after the third are.
            (range(1, 99), {"more": 10, "events": 5_001}, 3),
            (range(1, 99), {"more": 90, "events": 5_000}, 44),
            # Very small steps are made in any case.
            ([9] * 98, {"more": 90, "events": 100}, 93),
            ([9] * 300, {"more": 999, "events": 500}, 204),
        )
        for peaks, options, expected in cases:
            self.assertEqual(stopped_at(peaks, **options), expected, (peaks, options))

    def test_what_was_seen_ahead_is_recorded_once_the_program_is_stopped(self):
        course = Course(2, 0, looks=True)
        self.assertEqual(list(course.list_records()), [])
        for step in (1, 2):
            course.note_step([{"allocated_peak_bytes": 9, "allocated_bytes": 1}], step)
            course.is_enough(step, None)
        self.assertEqual([record["kind"] for record in course.list_records()], ["course"])


if __name__ == "__main__":
    unittest.main()
