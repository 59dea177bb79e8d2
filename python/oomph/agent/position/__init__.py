"""The program's position: the step, phase, module and loops it is in, and the work it has done and still has before it."""
