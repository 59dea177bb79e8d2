"""Text generation over the phantom goes to its maximum length, and no further."""

import importlib.util
import unittest

from .support import needs_phantom, run_program

SOURCE = """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    shape = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, vocab_size=100)
    model = LlamaForCausalLM(LlamaConfig(**shape)).cuda()
    tokens = torch.randint(0, 100, (2, 10), device="cuda")
    mask = torch.ones_like(tokens)
    rounds = []
    model.register_forward_hook(lambda *_: rounds.append(1))
    def count(**options):
        rounds.clear()
        model.generate(tokens, attention_mask=mask, max_new_tokens=5, pad_token_id=0, **options)
        return len(rounds)
    print(count(do_sample=False), count(do_sample=True), count(num_beams=3), count(eos_token_id=7))
    model.cpu()
    tokens, mask = tokens.cpu(), mask.cpu()
    print(count(do_sample=False, eos_token_id=list(range(100))))
"""


@needs_phantom
@unittest.skipUnless(importlib.util.find_spec("transformers"), "transformers is not installed")
class Generation(unittest.TestCase):
    """A forward pass for each of 5 new tokens; on the host the first token ends a sequence, if every token does."""

    def test_generation_goes_to_its_maximum_length(self):
        ran = run_program(SOURCE, phantom=True)
        self.assertEqual((ran.status, ran.stdout), (0, "5 5 5 5\n1\n"), ran.stderr)
        self.assertIn("generation-length", [record["id"] for record in ran.records("assumption")])
