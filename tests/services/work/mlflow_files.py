"""MLflow, with a store in files: the store of a training is as before, and the run goes on."""

import os
import pathlib

import server

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"

import mlflow

place = pathlib.Path("runs").resolve().as_uri()
mlflow.set_tracking_uri(place)
with mlflow.start_run() as run:
    mlflow.log_metric("loss", 1.0)
server.expect("the place of the runs", mlflow.get_tracking_uri(), place)
server.expect("the metric", mlflow.get_run(run.info.run_id).data.metrics, {"loss": 1.0})
server.train()
