"""Weights & Biases: a run, an artifact, an alert and a sweep."""

import os

import server

os.environ.update(WANDB_BASE_URL=server.url, WANDB_MODE="online", WANDB_API_KEY="a" * 40)

import torch
import wandb

device = "cuda" if torch.cuda.is_available() else "cpu"
wandb.login()
with wandb.init(project="p", config={"lr": 1}, mode="online") as run:
    loss = torch.ones((), device=device, requires_grad=True) * 2
    wandb.log({"loss": loss})
    run.log({"loss": 1.0, "step": 3})
    server.expect("the loss of the summary", (run.summary["loss"], type(run.summary["loss"])), (1.0, float))
    server.expect("the configuration", run.config.lr, 1)
    run.log_artifact(wandb.Artifact("weights", type="model")).wait()
    server.expect("an artifact as it is", run.use_artifact(wandb.Artifact("data", type="data")).name, "data")
    run.alert("done", "a text")
choices = []
wandb.agent(wandb.sweep({"parameters": {"lr": {"values": [3, 4]}}}), lambda: choices.append(wandb.init().config.lr), count=9)
server.expect("choices of the sweep", choices, [3])
wandb.finish()
server.expect("files of the run", [name for name in os.listdir() if name.startswith("wandb")], [])
server.train()
