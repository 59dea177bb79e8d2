"""The whole life of a job in one dry run: each loop of the program runs the first passes, the passes that differ, and the last pass.

Note [Life]
~~~~~~~~~~~
The first steps of a job seldom run out of memory. The longest batch does, or the first evaluation, the first checkpoint, the second epoch. So the
program is not stopped after some steps: loops are shortened, and the program runs to the end.

- `rewriting` changes the loops of the program's own sources as Python compiles a source (`loading`); files stay the same.
- `passes` runs a loop. Passes that leave the same bytes and made the same allocations repeat (`signature`). Then the loop jumps to the next
  pass in which a condition of the body changes (`plan`, by `expressions`), and finally to the last pass. `items` jumps over the passes of each
  kind of iterable, `loaders` over batches of a `DataLoader`.
- `reached` lists the program's own code that a pass runs: called functions, and properties, operators, conditions, backwards and schedules, which
  no call names. Not followed: `forward` and hooks, whose parts under a counter `ahead.unnoted` names where no pass came to them, closures, generators.
- Counters (`i`, `global_step`, `self.step`) and lists get the values and lengths of a full run (`counters`).
- A loop whose memory grows is not shortened, and a loop without a working model is left alone.
- `known` holds what earlier runs of a loop have shown, `lots` finds sizes that are drawn by lot.
- `untaken` names branches with an unknown condition that no pass took.
- `stages` names the part of the job to which each allocation belongs.
- `frameworks` does the same for loops of libraries.

Where a loop takes too long, the program is stopped after some steps, as without a visit of the whole life (`position.course`).
"""
