"""Random small programs of tensor operations, each of which runs on a CPU.

Statements that raise there are left out, so all shapes and dtypes of PyTorch may come. At the end each tensor is read separately: `read`
returns the values, or "unknown" if the phantom does not know them.
"""

import random
import resource

import torch

# `{a}`, `{b}` are existing tensors, `{n}` is a new one, `{k}` a small number.
FACTORIES = (
    "{n} = torch.tensor([[3, 1, 2, 0], [1, 5, 1, 7], [0, 2, 2, 9]]).to(device)",
    "{n} = torch.tensor([0.5, -1.0, 2.0, {k}], device=device)",
    "{n} = torch.arange({k}, {k} + 4, device=device)",
    "{n} = torch.full((3, 4), {k}, device=device)",
    "{n} = torch.zeros(3, 4, device=device)",
    "{n} = torch.ones(4, dtype=torch.int32, device=device)",
    "{n} = torch.tensor({k}, device=device)",
    "{n} = torch.tensor([True, False, True, True]).to(device)",
    "{n} = torch.eye(4, device=device)",
    "{n} = torch.linspace(0, {k}, 4, device=device)",
    "{n} = torch.zeros(8, device=device).add_({k})[::2]",
    "{n} = torch.tensor([250, 3, 128, {k}], dtype=torch.uint8).to(device)",
)
# Of more than 1 MiB: what is made of them is computed when it is read.
LARGE = (
    "{n} = (torch.arange(300_000) % 7).to(device)",
    "{n} = (torch.arange(300_000) * {k} % 11 - 2).to(device)",
    "{n} = (torch.arange(1_200_000) % 5 == {k}).to(device)",
    "{n} = torch.arange(300_000).div(1000).to(device)",
    "{n} = (torch.arange(300_000).view(3, -1) % 9).to(device)",
    "{n} = torch.arange({k}, {k} + 300_000, device=device)",
    "{n} = torch.zeros(300_000, dtype=torch.long, device=device)",
    "{n} = torch.full((300_000,), {k}, dtype=torch.int32, device=device)",
    "{n} = torch.empty(300_000, dtype=torch.long, device=device); {n}[:150_000] = {k}; {n}[150_000:] = 1",
)
STATEMENTS = (
    *(f"{{n}} = {{a}} {operator} {{b}}" for operator in ("+", "-", "*", "/", "//", "%", "==", "<", ">=", "!=", "&", "|", "^")),
    *(f"{{n}} = {{a}} {operator} {{k}}" for operator in ("+", "*", "/", "//", "%", "==", "<", "**", "&")),
    *(f"{{n}} = {{a}} {operator} 2.5" for operator in ("+", "*", "/", ">")),
    *(f"{{n}} = {{a}}.{method}()" for method in (
        "sum", "max", "min", "any", "mean", "prod", "argmax", "clone", "abs", "neg", "float", "long", "bool", "int", "half",
        "flatten", "t", "nonzero", "unique", "contiguous", "logical_not", "sign", "detach", "unique_consecutive", "squeeze", "double",
        "count_nonzero", "sigmoid", "isnan", "bitwise_not", "diff", "argsort", "aminmax", "median",
    )),
    *(f"{{n}} = {{a}}.{method}" for method in (
        "sum(0)", "sum(-1, keepdim=True)", "cumsum(0)", "max(0)[0]", "min(-1)[1]", "any(0)", "all(-1)", "sort()[0]", "sort(descending=True)[1]",
        "topk(2)[0]", "flip(0)", "roll(1, 0)", "view(-1)", "unsqueeze(0)", "clamp(0, 3)", "expand(2, *{a}.shape)", "repeat(2, 1)", "reshape(-1)",
        "to(torch.int32)", "to(torch.uint8)", "view(torch.uint8)", "view(torch.int32)", "gather(-1, {b})", "index_select(0, {b})",
        "masked_fill({a} > {k}, {k})", "tril()", "triu(1)", "cumprod(-1)", "data", "repeat_interleave(2)", "repeat_interleave({b})", "std()",
        "new_zeros(3)", "new_full((2,), {k})", "new_tensor([1, 2])", "type_as({b})", "chunk(2)[1]", "split(2)[0]", "movedim(0, -1)", "var(0)",
        "isin({b})", "scatter_add(-1, {b}, {b})", "index_add(0, {b}, {b})", "bincount()", "histc(4, 0, 8)", "kthvalue(2)[0]",
    )),
    "{n} = {a}[{a} > {k}]",
    "{n} = {a}[{b}]",
    "{n} = {a}[0]",
    "{n} = {a}[1:]",
    "{n} = {a}[..., ::2]",
    "{n} = {a}[-1:]",
    "{n} = torch.where({a} > {k}, {a}, {b})",
    "{n} = torch.where({a}.bool(), {a}, 0)",
    "{n} = torch.cat([{a}.flatten(), {b}.flatten()])",
    "{n} = torch.stack([{a}, {b}])",
    "{n} = torch.maximum({a}, {b})",
    "{n} = torch.bincount({a}.flatten().long().clamp(0, 9))",
    "{n} = F.one_hot({a}.long().clamp(0, 5))",
    "{n} = F.pad({a}, (1, 1), value={k})",
    "{n} = torch.unique({a}, return_counts=True)[1]",
    "{n} = torch.unique({a}, return_inverse=True)[1]",
    "{n} = torch.searchsorted({a}.flatten().sort()[0], {b})",
    "{n} = torch.bucketize({b}, {a}.flatten().sort()[0])",
    "{n} = torch.zeros_like({a})",
    "{n} = torch.full_like({a}, {k})",
    "{n} = torch.empty_like({a}).copy_({b})",
    "{n} = torch.empty(6, device=device); {n}[:3] = {k}; {n}[3:] = 1",
)
WRITES = (
    *(f"{{a}}.{method}" for method in (
        "add_({k})", "mul_({b})", "sub_({b})", "div_(2)", "zero_()", "fill_({k})", "copy_({b})", "clamp_(0, 4)", "neg_()", "abs_()",
        "masked_fill_({a} > {k}, {k})", "cumsum_(0)", "scatter_(-1, {b}, {k})", "index_fill_(0, {b}, {k})", "sort()[0].add_(1)",
        "logical_not_()", "bitwise_or_({b})", "data.add_({k})", "view(-1).add_(1)", "detach().zero_()", "t_()", "unsqueeze_(0)",
        "index_copy_(0, {b}, {b})", "fill_diagonal_({k})", "masked_scatter_({a} > 0, {b}.clone())", "exp_()", "floor_()", "put_({b}, {b})",
        "tril_()", "eq_({b})", "lerp_({b}, 0.5)", "erf_()", "addcmul_({b}, {b})", "swapaxes_(0, -1)", "frac_()", "random_(0, 1)",
    )),
    "{a}[0] = {k}",
    "{a}[1:] = {b}[1:]",
    "{a}[{a} > {k}] = {k}",
    "{a}[{b}] = {k}",
    "{a}[..., 0] += {k}",
    "{a}[::2] *= 2",
    "{a} += {b}",
    "torch.add({a}, {k}, out={b})",
    "torch.clamp({a}, 0, 2, out={b})",
    *(f"torch.{name}({{a}}.clone(), 0, out=({{b}}, torch.zeros_like({{b}}, dtype=torch.long)))" for name in ("max", "min", "median", "nanmedian", "mode", "cummax", "cummin", "sort")),
    *(f"torch.{name}({{a}}, {{b}}.clone(), out={{b}})" for name in ("maximum", "minimum", "sub", "mul")),
    "torch.cumsum({a}, 0, out={b})",
    "torch.cat([{a}, {b}], out={a})",
    "with torch.inference_mode(): torch.minimum({a}, {b}, out={b})",
    "with torch.inference_mode(): {a}.add_({k})",
    "torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack({a})).add_({k})",
    "torch.from_dlpack({a}).mul_({b})",
    "{a}.untyped_storage().fill_({k})",
    "torch._foreach_add_([{a}], {k})",
    "torch._foreach_mul_([{a}, {b}], 2)",
    "with torch.no_grad(): {a}.mul_({k})",
    "{a}.set_({b})",
    "{a}.resize_(2)",
    "del {a}",
    "del {b}",
)
# No kernel runs, so the result is unknown.
UNKNOWN = ("{n} = {a}.float() @ {a}.float().t()", "{n} = F.softmax({a}.float(), -1) @ {b}.float().t()", "{n} = torch.erfinv({a}.float() / 99)")
KINDS = ((FACTORIES, 25), (STATEMENTS, 45), (WRITES, 27), (UNKNOWN, 3))
LARGE_KINDS = ((LARGE, 40), *KINDS[1:])
LENGTH = 12
PROGRAMS = 500
# The share of programs with large tensors, and the largest number of elements.
LARGE_SHARE = 0.2
MOST_ELEMENTS, MOST_LARGE_ELEMENTS = 4096, 2_500_000


# Host memory that a statement may take: a generated statement asked for a tensor of 10^10 elements.
MOST_BYTES = 4 << 30


def make(seed: int) -> list:
    """The programs of a seed, as cases."""
    draw = random.Random(seed)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, before[1]))
    try:
        return [(f"seed {seed}, program {number}", None, program(draw)) for number in range(PROGRAMS)]
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def program(draw: random.Random) -> str:
    """The source of a program that raises nothing on a CPU."""
    scope = {"torch": torch, "F": torch.nn.functional, "device": "cpu"}
    is_large = draw.random() < LARGE_SHARE
    kinds, most = (LARGE_KINDS, MOST_LARGE_ELEMENTS) if is_large else (KINDS, MOST_ELEMENTS)
    lines = [f"x0 = torch.tensor([{draw.randrange(9)}, 2, {draw.randrange(9)}, 1]).to(device)"]
    exec(lines[0], scope)
    while len(lines) < LENGTH:
        line = statement(draw, kinds, sorted(name for name in scope if name.startswith("x")), len(lines))
        if runs(line, scope, most):
            lines.append(line)
    left = sorted(name for name in scope if name.startswith("x") and isinstance(scope[name], torch.Tensor))
    return "\n".join([*lines, f"answer = [{', '.join(f'read({name})' for name in left)}]"])


def statement(draw: random.Random, kinds: tuple, names: list[str], number: int) -> str:
    """A statement; its operands are mostly the latest tensors."""
    choices, weights = zip(*kinds)
    text = draw.choice(draw.choices(choices, weights)[0] if names else FACTORIES)
    first, second = (draw.choice(names[-3:]) for _ in range(2)) if names else ("", "")
    return text.format(a=first, b=second, n=f"x{number:02}", k=draw.randrange(5))


def runs(line: str, scope: dict, most: int) -> bool:
    """Runs a statement; returns False if it raises, or makes a tensor of more than `most` elements."""
    try:
        exec(line, scope)
    except Exception:
        return False
    return all(it.numel() < most for it in scope.values() if isinstance(it, torch.Tensor))
