"""Callbacks of trainers: the memory of the GPU beside the loss, in whichever tracker the trainer logs to.

* `from oomph.callbacks.transformers import OomphCallback`, for `transformers.Trainer` and the trainers built on it;
* `from oomph.callbacks.lightning import OomphCallback`, for Lightning.

Each module imports its own trainer, this one nothing. The figures (`figures.py`) are PyTorch's counters, read at the steps at which the trainer logs.
"""
