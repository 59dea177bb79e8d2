"""chunked-cross-entropy: on a CPU, with real arithmetic, loss and gradients are those of PyTorch's own."""

import importlib.util
import json
import unittest

from .support import needs_torch, run_program

_CHUNKED = json.dumps([{"remedy": "chunked-cross-entropy", "settings": {"chunks": 3}}])
_PLAIN = """
    import json
    import torch
    from torch.nn import functional as F

    torch.manual_seed(0)
    settings = [{}, {"reduction": "sum"}, {"label_smoothing": 0.1}, {"ignore_index": 2}, {"ignore_index": 2, "label_smoothing": 0.2}]
    for given in settings:
        logits = torch.randn(10, 7, requires_grad=True)
        loss = F.cross_entropy(logits, torch.randint(0, 7, (10,)), **given)
        (3 * loss).backward()
        print(json.dumps([loss.item(), *logits.grad.flatten().tolist()]))
"""
# Compiled too: what the compiler sees has the chunks.
_COMPILED = """
    import json
    import torch

    @torch.compile(backend="eager", fullgraph=True)
    def loss_of(logits, targets):
        return torch.nn.functional.cross_entropy(2 * logits, targets)

    torch.manual_seed(0)
    logits = torch.randn(10, 7, requires_grad=True)
    loss = loss_of(logits, torch.randint(0, 7, (10,)))
    loss.backward()
    print(json.dumps([loss.item(), *logits.grad.flatten().tolist()]))
"""
_MODEL = """
    import json
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    size = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=50)
    for tied in (False, True):
        model = LlamaForCausalLM(LlamaConfig(**size, tie_word_embeddings=tied))
        tokens = torch.randint(0, 50, (2, 9))
        labels = tokens.masked_fill(torch.rand(2, 9) < 0.3, -100)
        loss = model(input_ids=tokens, labels=labels).loss
        loss.backward()
        print(json.dumps([loss.item(), *(value for p in model.parameters() for value in p.grad.flatten().tolist())]))
        assert model(input_ids=tokens).logits.shape == (2, 9, 50)
"""


@needs_torch
class ChunkedLossTest(unittest.TestCase):
    """The program as it is, and with the loss in three chunks."""

    def check(self, source: str, note: str) -> None:
        """Runs both, and compares the printed numbers."""
        whole, chunked = run_program(source), run_program(source, OOMPH_REMEDIES=_CHUNKED)
        self.assertEqual((whole.status, chunked.status), (0, 0), whole.stderr + chunked.stderr)
        self.assertIn(note, {record["text"] for record in chunked.records("remedy") if record["applied"]})
        for expected, found in zip(whole.stdout.splitlines(), chunked.stdout.splitlines(), strict=True):
            self.assert_close(json.loads(found), json.loads(expected))

    def assert_close(self, found: list[float], expected: list[float]) -> None:
        """Up to rounding in float32."""
        self.assertTrue(any(expected))
        for one, other in zip(found, expected, strict=True):
            self.assertAlmostEqual(one, other, delta=1e-6 + 1e-5 * abs(other))

    def test_a_loss_of_logits(self):
        self.check(_PLAIN, "cross_entropy of 10 × 7 logits in 3 chunks")

    def test_a_compiled_loss(self):
        self.check(_COMPILED, "cross_entropy of 10 × 7 logits in 3 chunks")

    @unittest.skipUnless(importlib.util.find_spec("transformers"), "transformers is not installed")
    def test_a_language_model(self):
        self.check(_MODEL, "LlamaForCausalLM: output layer and loss in 3 chunks")


if __name__ == "__main__":
    unittest.main()
