"""MLflow, with a server: an experiment, a resumed run, a metric and a file."""

import os

import server

os.environ.update(MLFLOW_HTTP_REQUEST_MAX_RETRIES="0", MLFLOW_RUN_ID="0123456789abcdef0123456789abcdef")

import mlflow

mlflow.set_tracking_uri(server.url)
mlflow.set_experiment("mine")
with mlflow.start_run(run_id="fedcba9876543210fedcba9876543210") as run:
    mlflow.log_param("lr", 1)
    mlflow.log_metric("loss", 1.0)
    mlflow.log_dict({"a": 1}, "a.json")
server.expect("the metric", mlflow.get_run(run.info.run_id).data.metrics, {"loss": 1.0})
server.expect("the place of the runs", mlflow.get_tracking_uri().partition(":")[0], "file")
server.expect("a client's place of the runs", mlflow.MlflowClient("databricks").tracking_uri, mlflow.get_tracking_uri())
server.train()
