"""Stores and queues of Amazon, Google and Microsoft: nothing is written, sent or removed. Reads stay."""

import datetime
import inspect
import re
import sys
import types
from collections.abc import Callable

from . import acts

_AMAZON, _GOOGLE, _MICROSOFT = "boto3", "google-cloud-storage", "azure-storage-blob"

# The first words of Amazon's operations that change the outside.
_CHANGING = frozenset((
    "Abort", "Add", "Associate", "Attach", "Cancel", "Change", "Complete", "Copy", "Create", "Delete", "Deregister", "Detach", "Disable",
    "Disassociate", "Enable", "Import", "Modify", "Publish", "Purge", "Put", "Reboot", "Register", "Remove", "Replace", "Reset", "Restore",
    "Run", "Send", "Set", "Signal", "Start", "Stop", "Submit", "Subscribe", "Tag", "Terminate", "Unsubscribe", "Untag", "Update", "Upload",
    "Write",
))  # fmt: skip
# Operations with such a word that read, or that open a session for reading.
_READING = ("CreateSession", "CreateToken", "StartQuery", "StartQueryExecution", "CreateLogAnomalyDetector")
_BATCHES = ("BatchWriteItem", "BatchDeleteImage", "BatchPutMessage", "TransactWriteItems", "PutRecordBatch")
# Parts of an upload, which counts once.
_PARTS = ("CreateMultipartUpload", "UploadPart", "UploadPartCopy", "AbortMultipartUpload")


def _is_changing(operation: str) -> bool:
    word = re.match("[A-Z][a-z]*", operation)
    return operation in _BATCHES or (operation not in _READING and word is not None and word.group() in _CHANGING)


def _change_botocore(module: str, client: str) -> None:
    acts.replace(getattr(sys.modules[module], client), "_make_request", _request)


def _request(original: Callable) -> Callable:
    """Answers in place of the server. The operation's parameters have been checked by then."""

    def stand_in(self, operation_model, *args, **kwargs):
        name = operation_model.name
        if acts.is_online() or not _is_changing(name):
            return original(self, operation_model, *args, **kwargs)
        if name not in _PARTS:
            acts.note(_AMAZON, acts.kind_of(name))
        http = types.SimpleNamespace(status_code=200, headers={}, content=b"")
        answer = http, {**_fill(operation_model.output_shape), "ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0}}
        return _later(answer) if inspect.iscoroutinefunction(original) else answer

    return stand_in


async def _later(answer):
    return answer


def _fill(shape) -> dict:
    """The members of an answer: programs read identifiers from answers."""
    members = {} if shape is None else shape.members
    return {name: value for name, member in members.items() if (value := _value_of(member)) is not None}


def _value_of(shape):
    """A plausible value; `None` for members that an answer may lack."""
    kinds = {"string": "0", "integer": 0, "long": 0, "float": 0.0, "double": 0.0, "boolean": False, "list": [], "map": {}}
    if shape.type_name == "timestamp":
        return datetime.datetime.now(datetime.timezone.utc)
    return kinds.get(shape.type_name)


def _change_transfers() -> None:
    """Amazon's transfer library in C, which `boto3` chooses on machines with GPUs, passes by the client's requests."""

    def make(original: Callable) -> Callable:
        return lambda *args, **kwargs: original(*args, **kwargs) if acts.is_online() else False

    acts.replace(sys.modules["boto3.s3.transfer"], "_should_use_crt", make)


def _change_google() -> None:
    blob, bucket, client = (sys.modules[f"google.cloud.storage.{name}"] for name in ("blob", "bucket", "client"))
    uploads = ("upload_from_file", "upload_from_filename", "upload_from_string", "_prep_and_do_upload")
    acts.suppress(blob.Blob, uploads, _GOOGLE, action=acts.UPLOAD)
    acts.suppress(blob.Blob, ["create_resumable_upload_session"], _GOOGLE, lambda *args, **kwargs: "", acts.UPLOAD)
    acts.suppress(blob.Blob, ["rewrite"], _GOOGLE, lambda *args, **kwargs: (None, 0, 0))
    for kind in (blob.Blob, bucket.Bucket):
        acts.suppress(kind, ["delete", "patch", "update", "make_public", "make_private", "compose", "update_storage_class", "create"], _GOOGLE)
    acts.suppress(bucket.Bucket, ["delete_blob", "delete_blobs"], _GOOGLE)
    acts.suppress(bucket.Bucket, ["copy_blob", "rename_blob", "move_blob", "restore_blob"], _GOOGLE, lambda self, source, *args, **kwargs: source)
    acts.suppress(client.Client, ["create_bucket"], _GOOGLE, _make_bucket)


def _make_bucket(self, bucket, *args, **kwargs):
    return self.bucket(bucket) if isinstance(bucket, str) else bucket


def _change_google_files() -> None:
    """`Blob.open("w")`."""
    writer = sys.modules["google.cloud.storage.fileio"].BlobWriter
    acts.suppress(writer, ["_upload_chunks_from_buffer"], _GOOGLE, lambda self, *args: self._buffer.read() and self._buffer.flush(), acts.UPLOAD)


def _change_microsoft(package: str) -> None:
    module = sys.modules[package]
    changing = ("upload", "delete", "undelete", "set", "create", "start_copy", "abort", "stage", "commit", "append", "clear", "resize", "seal")
    for name in ("BlobClient", "ContainerClient", "BlobServiceClient"):
        kind = getattr(module, name)
        names = [each for each, value in vars(kind).items() if callable(value) and each.startswith(changing)]
        for each in names:
            acts.suppress(kind, [each], _MICROSOFT, lambda self, *args, each=each, **kwargs: _answer_microsoft(self, each, args, kwargs))


def _answer_microsoft(client, name: str, args: tuple, kwargs: dict):
    """Clients of containers and blobs are made as the originals make them; all other answers are the properties of a blob."""
    if name == "create_container":
        return client.get_container_client(args[0] if args else kwargs["name"]) if hasattr(client, "get_container_client") else None
    if name == "upload_blob" and hasattr(client, "get_blob_client"):
        return client.get_blob_client(args[0] if args else kwargs["name"])
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"etag": '"0"', "last_modified": now, "copy_id": "0", "copy_status": "success", "version_id": None}


HOOKS = {
    "botocore.client": lambda: _change_botocore("botocore.client", "BaseClient"),
    "aiobotocore.client": lambda: _change_botocore("aiobotocore.client", "AioBaseClient"),
    "boto3.s3.transfer": _change_transfers,
    "google.cloud.storage": _change_google,
    "google.cloud.storage.fileio": _change_google_files,
    "azure.storage.blob": lambda: _change_microsoft("azure.storage.blob"),
    "azure.storage.blob.aio": lambda: _change_microsoft("azure.storage.blob.aio"),
}
