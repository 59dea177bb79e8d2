"""Neptune: a run, and a run to be resumed."""

import base64
import json
import os

import server

token = base64.b64encode(json.dumps({"api_address": server.url, "api_url": server.url, "api_key": "a"}).encode()).decode()
os.environ.update(NEPTUNE_API_TOKEN=token, NEPTUNE_PROJECT="me/mine")

import neptune

run = neptune.init_run(mode="async")
run["lr"] = 1
run["loss"].append(1.0)
run.stop()
resumed = neptune.init_run(with_id="MINE-1")
resumed["loss"].append(1.0)
resumed.stop()
server.train()
