"""huggingface_hub: a repository, uploads in three ways, a tag and a removal; a read reaches the server."""

import os
import pathlib

import server

os.environ["HF_ENDPOINT"] = server.url

# The names are imported before torch.
from huggingface_hub import HfApi, create_repo, upload_file
from huggingface_hub.errors import HfHubHTTPError

path = pathlib.Path("weights.bin")
path.write_bytes(bytes(8))
server.expect("a repository", create_repo("mine", token="hf_none").repo_id, "user/mine")
commit = upload_file(path_or_fileobj=path, path_in_repo="weights.bin", repo_id="me/mine", commit_message="done", token="hf_none")
server.expect("a commit", (commit.commit_message, commit.repo_url.repo_id), ("done", "me/mine"))
api = HfApi(token="hf_none")
server.expect("a folder, later", api.upload_folder(folder_path=".", repo_id="me/mine", run_as_future=True).result().oid, "0" * 40)
api.create_tag("me/mine", tag="v1")
api.delete_repo("me/mine")
try:
    api.repo_info("me/mine")
except HfHubHTTPError as error:
    server.expect("a read", error.response.status_code, 404)
server.train()
