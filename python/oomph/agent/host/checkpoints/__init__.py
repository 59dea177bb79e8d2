"""Checkpoint files in a dry run.

`unread` skips weights that a phantom GPU would not hold, `safetensors_files` and `moves` keep renames working under the two guards.
"""
