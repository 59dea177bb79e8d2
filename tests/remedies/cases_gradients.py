"""Remedies of gradients."""

from case import Case
from peaks import Tower


CASES = [
    Case(
        "set_to_zero",
        "set-to-none",
        Tower.ZEROED,
        Tower.RELU,
        ("set-to-none was applied: zero_grad(set_to_none=True) (line 17)",),
        by_hand=(("set_to_none=False", "set_to_none=True"),),
    ),
    Case("zero_grad_late", "set-to-none", Tower.LATE, Tower.LATE, ("set-to-none was not applied: zero_grad sets gradients to None already",)),
    Case(
        "zero_grad_late",
        "set-to-none:place=after-step",
        Tower.LATE,
        Tower.RELU,
        ("zero_grad(set_to_none=True) straight after step (line 17)",),
        by_hand=((
            "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n",
            "    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n",
        ),),
    ),
    Case(
        "mlp_relu",
        "set-to-none:place=after-step",
        Tower.RELU,
        Tower.RELU,
        ("set-to-none was not applied: zero_grad comes before the next forward already",),
    ),
]
