"""What each mistake costs: by how much `mistake.py` and `clean.py` of a rule differ, computed from the shapes in their text.

None of these numbers was copied from a run. A byte count that PyTorch or NVIDIA fix has its name below. All sizes are multiples of the
allocator's 512 bytes unless `_block` rounds them.
"""

from dataclasses import dataclass

FLOAT, INT64, BF16 = 4, 8, 2
KIB, MIB = 1 << 10, 1 << 20
# PyTorch's own: `:4096:2:16:8` for each thread and stream that uses cuBLAS, 1 MiB for cuBLASLt.
CUBLAS = 2 * 4096 * KIB + 8 * 16 * KIB
CUBLAS_LT = 1024 * KIB


def _block(size: int) -> int:
    """What the allocator counts for a request."""
    return -(-size // 512) * 512


SCALAR = _block(FLOAT)


def _linear(inputs: int, outputs: int, width: int = FLOAT) -> int:
    """Weight and bias of a linear layer."""
    return _block(inputs * outputs * width) + _block(outputs * width)


@dataclass(frozen=True)
class Case:
    """The pair of a rule."""

    rule: str
    # Which count of `measures.py` the mistake changes, and by how much.
    measure: str
    difference: int | str
    # Processes that `mistake.py` and `clean.py` are run in, and GPUs that they see.
    ranks: tuple[int, int] = (1, 1)
    gpus: int = 1
    # Why this is not the effect itself, which no dry run shows; the page says it in these words.
    unmeasured: str | None = None
    # Another rule that the same mistake breaks.
    also: str | None = None
    # A package that the programs import.
    needs: str | None = None
    # Bytes by which the difference may be off, where it is not the allocator's alone.
    tolerance: int = 0


# An output of 1024 samples and 1024 features.
OUT = 1024 * 1024 * FLOAT
# Two layers of 1024 by 1024: their parameters, their gradients, a copy of either.
STUDENT = 2 * _linear(1024, 1024)
# Six layers of 1024 by 1024 save six outputs, and make one more on the way; without a graph two are alive at a time.
UNUSED_GRAPH = (6 + 1 - 2) * OUT
# A process that trains a linear layer has, between steps, its parameters, what cuBLAS has for forward and backward, and the loss.
RANK = _linear(1024, 1024) + 2 * CUBLAS + CUBLAS_LT + SCALAR

CONTEXTS = "Contexts of workers that are spawned are not in PyTorch's counters"

CASES = [
    # The batch, and the output of ReLU, which the next layer saves as well.
    Case("accumulated-graph", "growth", OUT + OUT),
    # Two outputs of ReLU, the log-probabilities of ten classes, and the sum of weights that the loss divides by.
    Case("accumulation-skips-backward", "end", 2 * 8192 * 256 * FLOAT + 8192 * 10 * FLOAT + SCALAR),
    Case("accumulation-without-division", "peak", 0, unmeasured="What differs are values, which a dry run does not compute"),
    # Batches of 80, 100 and 120 MiB: each in a segment of its own, or all in one that grows.
    Case("alloc-conf-after-cuda", "reserved", (20480 + 25600) * 1024 * FLOAT),
    Case("amp-argument-names", "error", "TypeError", unmeasured="ends the program before its first step"),
    # 65 layers: product, transposition, two leaves; softmax and loss.
    Case("anomaly-detection-left-on", "stacks", 65 * 4 + 2),
    # Scores and probabilities, in place of the output and its log-sum-exp, and seed and offset of a dropout.
    Case("attention-matrix", "peak", 2 * 16 * 2048 * 2048 * BF16 - 16 * 2048 * 64 * BF16 - 16 * 2048 * FLOAT - 2 * SCALAR),
    # A copy of all parameters.
    Case("backward-in-autocast", "peak", 6 * _linear(1024, 1024, BF16)),
    # Batch and state side by side, and what tanh gives.
    Case("carried-hidden-state", "growth", 2 * OUT + OUT, also="retain-graph-in-loop"),
    # All four parts and the whole, at the last step as behind the loop.
    Case("cat-in-loop", "peak", 0),
    # The block's output, which is computed again, and the gradient with respect to it: both are held until the block's backward ends.
    Case("checkpoint-without-use-reentrant", "peak", OUT + OUT),
    # Two outputs that forward saved, and three gradients with respect to outputs.
    Case("create-graph-in-backward", "end", 2 * OUT + 3 * OUT),
    Case("cuda-in-dataset", "error", "RuntimeError", unmeasured=CONTEXTS),
    # A batch with its labels.
    Case("cycle-keeps-batches", "host growth", 1024 * 1024 * FLOAT + 1024 * INT64),
    # The other half of the log-probabilities and of two gradients, of the batch and its labels; and forward runs in a thread of its own,
    # with a workspace of its own.
    Case("data-parallel", "peak", 2048 * (3 * 16384 * FLOAT + 64 * FLOAT + INT64) + CUBLAS_LT, ranks=(1, 2), gpus=2),
    # Images and labels.
    Case("dataset-on-gpu", "end", 8192 * 1024 * FLOAT + 8192 * INT64),
    Case("deprecated-cuda-amp", "peak", 0),
    # In three of four steps, the two segments of the body's outputs.
    Case("empty-cache-in-loop", "mallocs", 3 * 2),
    # The last of 8 batches: itself, 7 before it, all 8 in one; in place of two of its size in the loss. Besides, hidden states.
    Case("eval-logits-on-gpu", "peak", (1 + 7 + 8 - 2) * 2 * 128 * 8192 * FLOAT, needs="accelerate", tolerance=128 * KIB),
    Case("every-rank-on-gpu-0", "end", RANK, ranks=(2, 2), gpus=2),
    # The batch, a local variable of the frame that failed.
    Case("exception-kept", "growth", 4096 * 1024 * FLOAT),
    Case("forward-without-no-grad", "peak", UNUSED_GRAPH),
    Case("gc-collect-in-loop", "collections", 8),
    Case("grad-recorded-in-eval", "peak", UNUSED_GRAPH),
    Case("gradients-kept-as-zeros", "peak", STUDENT),
    Case("graph-in-collection", "growth", OUT + OUT),
    # The batch, and the output of ReLU.
    Case("hook-keeps-tensors", "growth", OUT + OUT),
    # The target.
    Case("hook-registered-in-loop", "growth", OUT),
    # The state of both ranks.
    Case("load-without-map-location", "end", 2 * _linear(1024, 1024), ranks=(2, 2), gpus=2),
    # All images and labels once more.
    Case("loader-in-list", "host end", 8192 * 1024 * FLOAT + 8192 * INT64),
    # Two workers, in three of four steps.
    Case("loader-restarted-in-loop", "forks", 3 * 2),
    Case("local-rank-unused", "end", RANK, ranks=(2, 2), gpus=2),
    # A storage of all elements in place of one number.
    Case("loss-kept-with-storage", "growth", OUT - SCALAR),
    # Two halves of a batch beside the large block that is free.
    Case("max-split-size-with-expandable-segments", "reserved", 2 * 15360 * 1024 * FLOAT),
    # An allocation, a free and its completion for each of 40,000 additions; the first tensor and its segment.
    Case("memory-history-unbounded", "history", 4 * 10_000 * 3 + 2 - 100_000),
    Case("method-not-called", "peak", STUDENT),
    Case("missing-zero-grad", "peak", STUDENT),
    Case("model-copied-in-loop", "peak", STUDENT),
    Case("no-grad-not-entered", "peak", UNUSED_GRAPH),
    # One-hot rows as int64 and as float, in place of the embeddings.
    Case("one-hot-of-vocabulary", "peak", 1024 * 50257 * (INT64 + FLOAT) - 1024 * 64 * FLOAT),
    # The scores of a batch.
    Case("outputs-kept-on-gpu", "growth", 1024 * 256 * FLOAT),
    # Differences and squares, in place of the distances.
    Case("pairwise-by-broadcasting", "peak", 2 * 2048 * 2048 * 128 * FLOAT - 2048 * 2048 * FLOAT),
    # 32 batches, of which a schedule would keep two.
    Case("profiler-without-schedule", "profiled", 32 - 2),
    # The outputs of ReLU and of the difference.
    Case("retain-graph-in-loop", "end", OUT + OUT),
    # The batch of the first try.
    Case("retry-in-except", "peak", 4096 * 1024 * FLOAT),
    # All masks but the last.
    Case("tensors-in-cache", "end", (512**2 + 1024**2 + 1536**2) * FLOAT),
    Case("workers-with-gpu-tensors", "error", "RuntimeError", unmeasured=CONTEXTS),
    Case("zero-grad-after-forward", "peak", STUDENT),
]
