"""The table of remedies, as far as Python reads it.

Written by `make generate`; not to be edited.
"""

# Every remedy.
NAMES = (
    "allocator-settings",
    "set-to-none",
    "no-grad-in-eval",
    "inplace-activations",
    "optimizer-fused",
    "optimizer-foreach-off",
    "sdpa",
    "chunked-cross-entropy",
    "gradient-accumulation",
    "activation-checkpointing",
    "activation-memory-budget",
    "optimizer-offload",
    "activation-offload",
    "autocast",
    "optimizer-8bit",
    "optimizer-paged",
    "optimizer-adafactor",
    "lora",
    "weights-8bit",
    "weights-4bit",
    "weights-offload",
    "fully-shard",
    "sequence-length",
    "resolution",
    "batch-size",
    "own-options",
    "empty-cache",
    "gc-collect",
    "num-workers",
    "pin-memory",
    "bigger-gpu",
)

# Remedies whose module has a `prepare`.
BEFORE_TORCH = (
    "fully-shard",
    "sequence-length",
    "resolution",
    "batch-size",
    "own-options",
)

# Remedies that plans may contain.
PLANNED = (
    "allocator-settings",
    "set-to-none",
    "no-grad-in-eval",
    "inplace-activations",
    "optimizer-fused",
    "optimizer-foreach-off",
    "sdpa",
    "chunked-cross-entropy",
    "gradient-accumulation",
    "activation-checkpointing",
    "activation-memory-budget",
    "optimizer-offload",
    "activation-offload",
    "autocast",
    "optimizer-8bit",
    "optimizer-paged",
    "optimizer-adafactor",
    "lora",
    "weights-8bit",
    "weights-4bit",
    "weights-offload",
    "fully-shard",
    "sequence-length",
    "resolution",
    "batch-size",
)
