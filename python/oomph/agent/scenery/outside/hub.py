"""The Hugging Face Hub: no repository is made, changed or removed. Downloads stay."""

import inspect
import sys
from collections.abc import Callable

from . import acts

_LIBRARY = "huggingface_hub"
# The first words of the names of functions that change the Hub.
_CHANGING = (
    "accept", "add", "batch", "cancel", "change", "comment", "copy", "create", "delete", "disable", "duplicate", "edit", "enable", "grant",
    "hide", "like", "merge", "move", "pause", "permanently", "preupload", "reject", "rename", "request", "rerun", "restart", "resume", "run",
    "scale", "set", "super", "suspend", "sync", "trigger", "unlike", "update", "upload",
)  # fmt: skip
_LOCAL = ("run_as_future",)
_COMMITS = ("create_commit", "upload_file", "upload_folder", "delete_file", "delete_files", "delete_folder", "create_commits_on_pr")
_REPOSITORIES = ("create_repo", "duplicate_repo", "duplicate_space")
_NO_COMMIT = "0" * 40
# Modules that send by themselves, after reading the repository, which is missing here, and their classes.
_PUSHING = {
    "transformers.utils.hub": ("PushToHubMixin",),
    "datasets.arrow_dataset": ("Dataset",),
    "datasets.dataset_dict": ("DatasetDict", "IterableDatasetDict"),
    "datasets.iterable_dataset": ("IterableDataset",),
}


def _change_api() -> None:
    module = sys.modules["huggingface_hub.hf_api"]
    kind = module.HfApi
    names = [name for name, value in vars(kind).items() if inspect.isfunction(value) and name.split("_")[0] in _CHANGING and name not in _LOCAL]
    for name in names:
        acts.suppress(kind, [name], _LIBRARY, _answer_as(name, getattr(kind, name)))
    _bind_again(module, names)


def _bind_again(module, names: list[str]) -> None:
    """The functions of the module are methods of one object, which were bound before the change."""
    for name in names:
        bound = getattr(module, name, None)
        if inspect.ismethod(bound):
            setattr(module, name, getattr(bound.__self__, name))


def _answer_as(name: str, original: Callable) -> Callable:
    """A function that returns a result of the type of `original`, or a future with the result."""

    def answer(api, *args, **kwargs):
        is_future = kwargs.pop("run_as_future", False)
        result = _answer(name, api, inspect.signature(original).bind_partial(api, *args, **kwargs).arguments)
        return _finished(result) if is_future else result

    return answer


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


def _change_pushing(name: str) -> None:
    for kind in (getattr(sys.modules[name], kind, None) for kind in _PUSHING[name]):
        if kind is not None and "push_to_hub" in vars(kind):
            acts.suppress(kind, ["push_to_hub"], _LIBRARY, lambda self, repo_id=None, *args, **kwargs: commit(repo_id), acts.UPLOAD)


def _change_card() -> None:
    """The Hub checks the description of a model (`RepoCard`) before the upload."""
    acts.suppress(sys.modules["huggingface_hub.repocard"].RepoCard, ["validate"], _LIBRARY, action=acts.CHANGE)


def _change_conversion() -> None:
    """A download of a checkpoint without safetensors asks a Space to open a pull request (`safetensors_conversion.py`, transformers 4.46 to 5.17)."""
    acts.suppress(sys.modules["transformers.safetensors_conversion"], ["spawn_conversion"], _LIBRARY, action=acts.CHANGE)


HOOKS = {
    "huggingface_hub.hf_api": _change_api,
    "huggingface_hub.repocard": _change_card,
    **{name: lambda name=name: _change_pushing(name) for name in _PUSHING},
    "transformers.safetensors_conversion": _change_conversion,
}
