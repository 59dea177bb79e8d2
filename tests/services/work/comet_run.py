"""Comet: an experiment by its class, and one by `start`."""

import os

import server

os.environ.update(COMET_API_KEY="a" * 25, COMET_URL_OVERRIDE=f"{server.url}/clientlib/")

import comet_ml

comet_ml.login()
experiment = comet_ml.Experiment(project_name="p")
experiment.log_metric("loss", 1.0, step=1)
experiment.end()
started = comet_ml.start(project_name="p")
started.log_metric("loss", 1.0)
started.end()
server.expect("experiments that are alive", (experiment.alive, started.alive), (False, False))
server.train()
