"""transformers: a model and its configuration are pushed to the Hub."""

import os

import server

os.environ["HF_ENDPOINT"] = server.url

import transformers

config = transformers.GPT2Config(n_layer=1, n_head=1, n_embd=8, vocab_size=8)
server.expect("a model", transformers.GPT2LMHeadModel(config).push_to_hub("me/mine").repo_url.repo_id, "me/mine")
server.expect("a configuration", config.push_to_hub("me/mine").oid, "0" * 40)
server.train()
