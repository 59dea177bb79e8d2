"""ClearML: a task with a scalar, and no folder of it at the end."""

import os

import server

os.environ.update(CLEARML_API_HOST=server.url, CLEARML_WEB_HOST=server.url, CLEARML_FILES_HOST=server.url)
os.environ.update(CLEARML_API_ACCESS_KEY="a", CLEARML_API_SECRET_KEY="b", CLEARML_CACHE_DIR=os.path.abspath("cache"))

from clearml import Task

Task.set_offline(False)
task = Task.init(project_name="p", task_name="mine", auto_connect_frameworks=False)
task.connect({"lr": 1})
task.get_logger().report_scalar("loss", "train", value=1.0, iteration=1)
task.close()
server.train()
