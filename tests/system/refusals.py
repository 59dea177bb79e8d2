"""Small programs, and the shape of a refusal: a clear sentence, a hint, exit status 2, no insides of oomph."""

import documents
from harness import EXAMPLES, Box, Case, Result, contains, expect

MLP = EXAMPLES / "mlp.py"
MODEL = "import torch\nmodel = torch.nn.Linear(64, 64).cuda()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
STEPS = "for _ in range(3):\n    model(torch.randn(8, 64, device='cuda')).sum().backward()\n    optimizer.step()\n"


def refused(result: Result, *says: str) -> None:
    """Checks oomph's own refusal: nothing on standard output but the error as JSON on request, a single error, and the next step."""
    if "--json" in result.words:
        error = documents.parse_error(result.stdout)
        expect(result, (result.status, error["message"].splitlines()[0] in result.stderr), (2, True), "status, and the message on standard error")
    else:
        expect(result, (result.status, result.stdout), (2, ""), "status and standard output")
    contains(result, result.stderr, "error: ", *says)
    assert "hint: " in result.stderr or "try '--help'" in result.stderr, f"expected a hint\n{result}"
    no_noise(result)


def no_noise(result: Result) -> None:
    """Nothing of our insides, and no escape codes."""
    for noise in ("panicked", "RUST_BACKTRACE", "oomph agent:", "_oomph_agent", "oomph/agent", "\x1b"):
        assert noise not in result.stdout + result.stderr, f"unexpected {noise!r}\n{result}"


def refuses(box: Box, says: tuple[str, ...], *words, **options) -> Result:
    """Runs a check that must be refused."""
    result = box.check(*words, **options)
    refused(result, *says)
    return result


def table(function, rows, prefix: str) -> list[Case]:
    """A case for each row: its name, then the arguments of `function`."""
    return [Case(prefix + name, lambda box, rest=rest: function(box, *rest)) for name, *rest in rows]
