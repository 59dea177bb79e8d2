"""Functions of Python, PyTorch and other libraries, replaced: the only place of the agent that assigns to them.

Note [Replacements]
~~~~~~~~~~~~~~~~~~~
The agent enters what is not its own in two ways, and no other:

`around`, `put`     replace a name of a module or a class. The table (`table.ROWS`) has a row for each name: which part of the agent changes it,
                    and why. A name is replaced once, by a stand-in with layers: `around(name, layer)` has `layer(call, *args, **kwargs)`
                    run in place of the function, where `call` is the function with the layers of parts that came before. `put(name, value)`
                    puts a value in place of another.
registration        hands a function to PyTorch or to Python, through what they offer for it: hooks of modules and optimizers, kernels of
                    operators (`kernels`), handlers of forks. Nothing is replaced.

A name is `module:attribute`, as in `torch.optim.optimizer:Optimizer.__init__`. Where the module is not imported yet, the name is replaced
right after the import. A name that a version of the library does not have is passed over.

`known.json` holds the parameters that recorded runs of the tests met for each name, with the versions of the libraries, and the versions in
which a program called the function (`tests/hooks/record.py`). A function with other parameters is replaced all the same, and the report
names it (`part`): after a new release that is where to look first.
"""

from .replacing import after_import, around, find_caller, innermost, masked, put, spread, without

__all__ = ["after_import", "around", "find_caller", "innermost", "masked", "put", "spread", "without"]
