"""The Hugging Face Hub: no repository is made, changed or removed. Downloads stay."""

import inspect
import sys
from collections.abc import Callable

from ...failure import guarded
from ...hooks import innermost
from ...hooks.rows import libraries
from . import acts

_LIBRARY = "huggingface_hub"
_COMMITS = ("create_commit", "upload_file", "upload_folder", "delete_file", "delete_files", "delete_folder", "create_commits_on_pr")
_REPOSITORIES = ("create_repo", "duplicate_repo", "duplicate_space")
_NO_COMMIT = "0" * 40


def _suppress(call, *args, **kwargs):
    """Returns a result of the type of the function's, or a future with the result. The functions of the module are methods of one object."""
    function = innermost(call)
    acts.note(_LIBRARY, acts.kind_of(function.__name__))
    is_future = kwargs.pop("run_as_future", False)
    result = guarded(_answer_as)(function, (function.__self__, *args) if inspect.ismethod(function) else args, kwargs)
    return _finished(result) if is_future else result


def _answer_as(function: Callable, args: tuple, kwargs: dict):
    plain = getattr(function, "__func__", function)
    return _answer(function.__name__, args[0], inspect.signature(plain).bind_partial(*args, **kwargs).arguments)


def _answer(name: str, api, arguments: dict):
    module = sys.modules["huggingface_hub.hf_api"]
    if name in _REPOSITORIES:
        repository = arguments.get("to_id") or arguments.get("repo_id") or arguments.get("from_id")
        return module.RepoUrl(_url_of(api.endpoint, repository, arguments.get("repo_type")), endpoint=api.endpoint)
    return commit(arguments.get("repo_id"), arguments.get("repo_type"), arguments.get("commit_message")) if name in _COMMITS else None


def _url_of(endpoint: str, repository: str, repository_type: str | None) -> str:
    """The address; a name without an owner gets one, since the owner would be the account."""
    name = repository if "/" in repository else f"user/{repository}"
    return "/".join([endpoint, *([f"{repository_type}s"] if repository_type not in (None, "model") else []), name])


def commit(repository: str | None, repository_type: str | None = None, message: str | None = None):
    """The result of a commit that nothing has made."""
    module = sys.modules["huggingface_hub.hf_api"]
    url = _url_of(module.api.endpoint, repository or "repository", repository_type)
    return module.CommitInfo(commit_url=f"{url}/commit/{_NO_COMMIT}", commit_message=message or "", commit_description="", oid=_NO_COMMIT)


def _finished(result):
    """A future with its result. The Hub's library has imported the module of futures."""
    future = sys.modules["concurrent.futures"].Future()
    future.set_result(result)
    return future


_push = acts.suppress(_LIBRARY, lambda _self, repo_id=None, *args, **kwargs: commit(repo_id), acts.UPLOAD)
LAYERS = {
    **dict.fromkeys(libraries.HUB_CHANGES, acts.unless_online(_suppress)),
    **dict.fromkeys(libraries.HUB_PUSHES, _push),
    # The Hub checks the description of a model before the upload.
    "huggingface_hub.repocard:RepoCard.validate": acts.suppress(_LIBRARY, action=acts.CHANGE),
    # A download of a checkpoint without safetensors asks a Space to open a pull request (`safetensors_conversion.py`, transformers 4.46 to 5.17).
    "transformers.safetensors_conversion:spawn_conversion": acts.suppress(_LIBRARY, action=acts.CHANGE),
}
