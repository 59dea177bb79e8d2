"""Remedies of the optimizer."""

from case import Case, block
from peaks import WIDE, Mlp, Residual, Wide


# Small enough that a sum over a matrix's columns is computed at once; for larger matrices PyTorch keeps partial sums, by the GPU's size.
DEEP = Mlp(512, 64)
DEEP_ARGUMENTS = ("--width", "512", "--layers", "64")

# mlp_sgd.py has no state.
SGD = WIDE.in_backward(0)
SGD_WITH_MOMENTUM = WIDE.in_backward(WIDE.parameters)
# The 8-bit state of a single moment, and a table.
SGD_IN_8_BITS = WIDE.in_backward((WIDE.layers * (2 * (block(WIDE.numbers) + WIDE.bias)) + WIDE.scales()) // 2)
MOMENTUM = ("--momentum", "0.9")


CASES = [
    Case(
        "mlp_adamw",
        "optimizer-fused",
        WIDE.as_it_is,
        WIDE.fused,
        ("optimizer-fused was applied: AdamW(fused=True) (line 15)",),
        by_hand=(("lr=1e-3)", "lr=1e-3, fused=True)"),),
    ),
    Case(
        "mlp_sgd",
        "optimizer-fused",
        SGD,
        SGD,
        ("optimizer-fused was applied: SGD(fused=True) (line 13)",),
        by_hand=(("momentum=args.momentum)", "momentum=args.momentum, fused=True)"),),
    ),
    Case(
        "mlp_adamw",
        "optimizer-foreach-off",
        WIDE.as_it_is,
        WIDE.foreach_off,
        ("optimizer-foreach-off was applied: AdamW(foreach=False) (line 15)",),
        by_hand=(("lr=1e-3)", "lr=1e-3, foreach=False)"),),
    ),
    Case(
        "mlp_sgd",
        "optimizer-foreach-off",
        SGD,
        SGD,
        ("optimizer-foreach-off was applied: SGD(foreach=False) (line 13)",),
        by_hand=(("momentum=args.momentum)", "momentum=args.momentum, foreach=False)"),),
    ),
    Case(
        "mlp_adamw",
        "optimizer-adafactor",
        DEEP.as_it_is,
        DEEP.adafactor,
        ("optimizer-adafactor was applied: Adafactor in place of AdamW (line 15)",),
        by_hand=(("torch.optim.AdamW(", "torch.optim.Adafactor("),),
        arguments=DEEP_ARGUMENTS,
    ),
    Case("mlp_sgd", "optimizer-adafactor", SGD, SGD, ("optimizer-adafactor was not applied: SGD without momentum keeps no state",)),
    Case(
        "mlp_adamw",
        "optimizer-8bit",
        WIDE.as_it_is,
        WIDE.in_8_bits,
        ("optimizer-8bit was applied: bitsandbytes.optim.AdamW8bit in place of AdamW (line 15)",),
        by_hand=(("import torch\n", "import bitsandbytes\nimport torch\n"), ("torch.optim.AdamW(", "bitsandbytes.optim.AdamW8bit(")),
        needs=("bitsandbytes",),
    ),
    Case(
        "mlp_sgd",
        "optimizer-8bit",
        SGD_WITH_MOMENTUM,
        SGD_IN_8_BITS,
        ("optimizer-8bit was applied: bitsandbytes.optim.SGD8bit in place of SGD (line 13)",),
        by_hand=(("import torch\n", "import bitsandbytes\nimport torch\n"), ("torch.optim.SGD(", "bitsandbytes.optim.SGD8bit(")),
        arguments=MOMENTUM,
        needs=("bitsandbytes",),
    ),
    Case("mlp_sgd", "optimizer-8bit", SGD, SGD, ("optimizer-8bit was not applied: SGD without momentum keeps no state",)),
    Case(
        "mlp_adamw",
        "optimizer-8bit",
        DEEP.as_it_is,
        DEEP.as_it_is,
        ("optimizer-8bit was not applied: bitsandbytes is not installed: pip install bitsandbytes",),
        arguments=DEEP_ARGUMENTS,
        lacks=("bitsandbytes",),
    ),
    Case(
        "mlp_adamw",
        "optimizer-paged",
        WIDE.as_it_is,
        WIDE.paged,
        ("optimizer-paged was applied: bitsandbytes.optim.PagedAdamW in place of AdamW (line 15)",),
        by_hand=(("import torch\n", "import bitsandbytes\nimport torch\n"), ("torch.optim.AdamW(", "bitsandbytes.optim.PagedAdamW(")),
        needs=("bitsandbytes",),
    ),
    Case(
        "mlp_adamw",
        "optimizer-paged:bits=8",
        WIDE.as_it_is,
        WIDE.paged_in_8_bits,
        ("bitsandbytes.optim.PagedAdamW8bit in place of AdamW (line 15)",),
        by_hand=(("import torch\n", "import bitsandbytes\nimport torch\n"), ("torch.optim.AdamW(", "bitsandbytes.optim.PagedAdamW8bit(")),
        needs=("bitsandbytes",),
    ),
    Case(
        "mlp_sgd",
        "optimizer-paged",
        SGD_WITH_MOMENTUM,
        SGD_WITH_MOMENTUM,
        ("optimizer-paged was not applied: bitsandbytes has no PagedSGD",),
        arguments=MOMENTUM,
        needs=("bitsandbytes",),
    ),
    Case(
        "wide_layers",
        "optimizer-offload",
        Wide.TRAINED,
        Wide.OFFLOADED_STATE,
        ("optimizer-offload was applied: CPUOffloadOptimizer(optimizer_class=AdamW)",),
        needs=("torchao",),
    ),
    Case(
        "residual_blocks",
        "optimizer-offload",
        Residual.PEAK,
        Residual.PEAK,
        ("optimizer-offload was not applied: SGD without momentum keeps no state",),
    ),
]
