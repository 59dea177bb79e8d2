"""Remedies of activations and of the loss."""

import re
from pathlib import Path

from case import Case, blocks
from peaks import CUBLAS, SCALAR, Residual, Wide

PAGES = Path(__file__).resolve().parents[2] / "docs" / "remedies"


class Bigram:
    """tiny_lm.py: 4096 tokens, 32768 words, 128 features."""

    TOKENS, WORDS, WIDTH, CHUNKS = 4096, 32768, 128, 8
    LOGITS = TOKENS * WORDS * 4
    # Two matrices, tokens and targets, the hidden states.
    FIXED = 2 * WORDS * WIDTH * 4 + 2 * TOKENS * 8 + TOKENS * WIDTH * 4 + 2 * CUBLAS + 2 * SCALAR
    # In backward of the softmax: the logits, their logarithms of softmax, a gradient of each.
    PEAK = FIXED + 4 * LOGITS
    # Logits, their gradient, the softmax of a chunk; the number of counted targets, and for the chunk's targets their indices and the
    # subtracted values.
    CHUNKED = FIXED + 2 * LOGITS + LOGITS // CHUNKS + SCALAR + blocks(TOKENS // CHUNKS * 8, TOKENS // CHUNKS * 4)
    # Targets that are distributions instead of indices: the targets, the logits, the logarithms and two gradients.
    SOFT = FIXED - TOKENS * 8 + 5 * LOGITS


def snippet(page: str) -> str:
    """The code that a page shows."""
    found = re.search(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, f"{page}.md shows no code"
    return found[1]


CASES = [
    Case(
        "residual_blocks",
        "activation-checkpointing",
        Residual.PEAK,
        Residual.CHECKPOINTED,
        ("activation-checkpointing was applied: checkpoint(6 × Block in blocks, use_reentrant=False)",),
        by_hand=(Residual.CHECKPOINT_IMPORT, ("x = block(x)", "x = checkpoint(block, x, use_reentrant=False)")),
    ),
    Case(
        "residual_blocks",
        "activation-checkpointing:blocks=2",
        Residual.PEAK,
        Residual.FIRST_TWO,
        ("activation-checkpointing was applied: checkpoint(the first 2 of 6 × Block in blocks, use_reentrant=False)",),
        by_hand=(Residual.CHECKPOINT_IMPORT, (Residual.LOOP, Residual.FIRST_TWO_LOOP)),
    ),
    Case(
        "tiny_lm",
        "activation-checkpointing",
        Bigram.PEAK,
        Bigram.PEAK,
        ("activation-checkpointing was not applied: Bigram has no repeated blocks",),
    ),
    Case(
        "residual_blocks",
        "activation-offload",
        Residual.PEAK,
        Residual.OFFLOADED,
        ("activation-offload was applied: save_on_cpu(pin_memory=True) around Net",),
        by_hand=((Residual.LOOP, Residual.OFFLOADED_LOOP),),
    ),
    Case(
        "wide_layers",
        "activation-offload",
        Wide.INFERRED,
        Wide.INFERRED,
        ("activation-offload was not applied",),
        arguments=("--infer",),
    ),
    Case(
        "tiny_lm",
        "chunked-cross-entropy",
        Bigram.PEAK,
        Bigram.CHUNKED,
        ("chunked-cross-entropy was applied: cross_entropy of 4096 × 32768 logits in 8 chunks",),
        by_hand=(
            ("class Bigram(nn.Module):", snippet("chunked-cross-entropy") + "\n\nclass Bigram(nn.Module):"),
            ("F.cross_entropy(logits, target)", "ChunkedCrossEntropy.apply(logits, target, 8)"),
        ),
    ),
    Case(
        "tiny_lm",
        "chunked-cross-entropy",
        Bigram.SOFT,
        Bigram.SOFT,
        ("chunked-cross-entropy was not applied: cross_entropy has probabilities for a target",),
        arguments=("--soft",),
    ),
]
