"""The whole life of a job in one dry run: every loop of the program runs its first passes, those that differ, and its last.

Note [Life]
~~~~~~~~~~~
What runs a job out of memory is seldom among its first steps: the longest batch, the first evaluation, the first checkpoint, the second epoch. So a
program is not stopped after some steps. Its loops are shortened, and the program runs to its own end:

- `rewriting` changes the loops of the program's own sources as Python compiles them (`loading`); files stay as they are.
- `passes` runs a loop. Passes that leave the same bytes and made the same allocations repeat (`signature`), and the loop jumps to the next
  pass in which a condition of its body changes (`ahead_of`, by `expressions`), at last to its last pass. `items` knows how the passes of each
  kind of iterable are jumped over, `loaders` those of a `DataLoader`.
- Counters (`i`, `global_step`, `self.step`) and lists have the values and lengths that they would have had (`counters`).
- A loop whose memory grows is not shortened, and a loop in which no model works is left alone.
- `stages` names the part of the job that each allocation belongs to.

Where a loop takes too long, the program is stopped after its steps, as without this (`position.course`).
"""
