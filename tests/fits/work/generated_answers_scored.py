# /// expect
# run = "check"
# vram = "6GiB"
# kind = 12
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.6, 3.4]
# why = "a Llama of two layers with 32 answers of 48 tokens: weights 8 MiB, cache some MiB, logits 32 x 64 x 2048 x 4 B = 16 MiB"
# ///
"""Trains a tiny Llama of transformers, and scores generated answers: the mean length, and the share of distinct ones."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

VOCABULARY, WIDTH, BATCH, PROMPT, ANSWER, STEPS = 2048, 256, 32, 16, 48, 3

config = LlamaConfig(
    vocab_size=VOCABULARY,
    hidden_size=WIDTH,
    intermediate_size=2 * WIDTH,
    num_hidden_layers=2,
    num_attention_heads=4,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)
model = LlamaForCausalLM(config).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(STEPS):
    ids = torch.randint(3, VOCABULARY, (BATCH, PROMPT + ANSWER), device="cuda")
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
prompts = torch.randint(3, VOCABULARY, (BATCH, PROMPT), device="cuda")
answers = model.generate(prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=ANSWER, do_sample=True)[:, PROMPT:]
lengths = [(row == config.eos_token_id).nonzero()[0].item() if (row == config.eos_token_id).any() else len(row) for row in answers]
distinct = len({tuple(row) for row in answers.tolist()})
print("mean length", sum(lengths) / len(lengths), "distinct", distinct, "first letters", answers[:, 0].tolist()[0])
