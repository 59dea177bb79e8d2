# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [28]
# keeps_mib = 32
# allocates = [25]
# full_at = [108, 116]
# why = "a dictionary comprehension keeps 256 x 32,768 x 4 B = 32 MiB of probabilities for each of 160 temperatures: 5 GiB"
# ///
"""Distributions of the next token over a sweep of temperatures, by temperature."""

import torch

PROMPTS, VOCABULARY, TEMPERATURES = 256, 32_768, 160


class Sweep:
    def __init__(self):
        self.logits = torch.randn(PROMPTS, VOCABULARY, device="cuda")

    def distribution(self, temperature):
        return torch.softmax(self.logits / temperature, dim=-1)

    def run(self, temperatures):
        return {temperature: self.distribution(temperature) for temperature in temperatures}


distributions = Sweep().run([0.05 * number for number in range(1, TEMPERATURES + 1)])
print("temperatures", len(distributions))
