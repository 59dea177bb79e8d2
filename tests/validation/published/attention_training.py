"""Forward and backward of a language model in half precision, without an optimizer: what authors of attention measured.

The loop of a benchmark that many additions of scaled dot-product attention to transformers were measured with: ten rounds to
warm up (three here), then rounds of `zero_grad`, forward, `logits.sum().backward()`.
"""

import argparse

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, BertConfig, DistilBertConfig, GPT2Config, GPTNeoXConfig, OPTConfig

# The configurations of the checkpoints of these names.
MODELS = {
    "opt-350m": (
        AutoModelForCausalLM,
        OPTConfig(
            hidden_size=1024, word_embed_proj_dim=512, num_hidden_layers=24, num_attention_heads=16, ffn_dim=4096,
            do_layer_norm_before=False, vocab_size=50272, max_position_embeddings=2048,
        ),
    ),
    "pythia-410m": (
        AutoModelForCausalLM,
        GPTNeoXConfig(
            hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096, vocab_size=50304,
            max_position_embeddings=2048, rotary_pct=0.25, use_parallel_residual=True, tie_word_embeddings=False,
        ),
    ),
    "bert-base": (AutoModelForMaskedLM, BertConfig()),
    "distilbert-base": (AutoModelForMaskedLM, DistilBertConfig()),
    "gpt2-large": (AutoModelForCausalLM, GPT2Config(n_embd=1280, n_layer=36, n_head=20)),
}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", choices=MODELS)
parser.add_argument("--attention", choices=["eager", "sdpa"], required=True)
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--length", type=int, required=True)
parser.add_argument("--after", nargs="*", default=[], metavar="BATCHxLENGTH", help="rows of a table that the process measures before")
parser.add_argument("--first", choices=["eager", "sdpa"], help="those rows are measured with this attention, by a model that is deleted then")
parser.add_argument("--cast", action="store_true", help="the weights come to the GPU in float32 and are cast there")
args = parser.parse_args()

maker, config = MODELS[args.model]


def make(attention):
    with torch.device("cuda"):
        dtype = torch.float32 if args.cast else torch.float16
        return maker.from_config(config, dtype=dtype, attn_implementation=attention).half().train()


def measure(model, batch, length):
    """The most that is allocated in three rounds."""
    tokens = torch.randint(config.vocab_size - 1, (batch, length)).cuda()
    for step in range(6):
        if step == 3:
            torch.cuda.reset_peak_memory_stats()
            torch.cuda.empty_cache()
        model.zero_grad()
        # As in the published loop, the outputs stay until the next outputs exist: the logits, and cached keys and values.
        outputs = model(input_ids=tokens)
        loss = outputs.logits.sum()
        loss.backward()
    return torch.cuda.max_memory_allocated() / 1e6


model = make(args.first or args.attention)
for row in args.after:
    measure(model, *map(int, row.split("x")))
if args.first:
    del model
    model = make(args.attention)
print(measure(model, args.batch, args.length), "MB; asked for", torch.cuda.memory_stats()["requested_bytes.all.peak"] / 1e6)
