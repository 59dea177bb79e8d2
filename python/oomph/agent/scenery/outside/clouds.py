"""Stores and queues of Amazon, Google and Microsoft: nothing is written, sent or removed. Reads stay."""

import datetime
import re
import types

from ...failure import guarded
from ...hooks import innermost
from ...hooks.rows import libraries
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


def _request(call, client, operation_model, *args, **kwargs):
    """Answers in place of the server. The operation's parameters have been checked by then."""
    name = operation_model.name
    if not _is_changing(name):
        return call(client, operation_model, *args, **kwargs)
    if name not in _PARTS:
        acts.note(_AMAZON, acts.kind_of(name))
    http = types.SimpleNamespace(status_code=200, headers={}, content=b"")
    return http, {**_fill(operation_model.output_shape), "ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0}}


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


def _make_bucket(self, bucket, *args, **kwargs):
    return self.bucket(bucket) if isinstance(bucket, str) else bucket


def _answer_microsoft(client, name: str, args: tuple, kwargs: dict):
    """Clients of containers and blobs are made as the originals make them; all other answers are the properties of a blob."""
    if name == "create_container":
        return client.get_container_client(args[0] if args else kwargs["name"]) if hasattr(client, "get_container_client") else None
    if name == "upload_blob" and hasattr(client, "get_blob_client"):
        return client.get_blob_client(args[0] if args else kwargs["name"])
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"etag": '"0"', "last_modified": now, "copy_id": "0", "copy_status": "success", "version_id": None}


def _suppress_microsoft(call, client, *args, **kwargs):
    name = innermost(call).__name__
    acts.note(_MICROSOFT, acts.kind_of(name))
    return guarded(_answer_microsoft)(client, name, args, kwargs)


_change = acts.suppress(_GOOGLE)
_upload = acts.suppress(_GOOGLE, action=acts.UPLOAD)
_copy = acts.suppress(_GOOGLE, lambda _bucket, source, *args, **kwargs: source)
_BLOB, _BUCKET, _CLIENT = "google.cloud.storage:Blob.", "google.cloud.storage:Bucket.", "google.cloud.storage:Client."
LAYERS = {
    "botocore.client:BaseClient._make_request": acts.unless_online(_request),
    "aiobotocore.client:AioBaseClient._make_request": acts.unless_online(_request),
    # Amazon's transfer library in C, which `boto3` chooses on machines with GPUs, passes by the client's requests.
    "boto3.s3.transfer:_should_use_crt": acts.unless_online(lambda _call, *args, **kwargs: False),
    **{_BLOB + name: _upload for name in libraries.GOOGLE_UPLOADS},
    _BLOB + "create_resumable_upload_session": acts.suppress(_GOOGLE, lambda *args, **kwargs: "", acts.UPLOAD),
    _BLOB + "rewrite": acts.suppress(_GOOGLE, lambda *args, **kwargs: (None, 0, 0)),
    **{kind + name: _change for kind in (_BLOB, _BUCKET) for name in libraries.GOOGLE_CHANGES},
    _BUCKET + "delete_blob": _change,
    _BUCKET + "delete_blobs": _change,
    **{_BUCKET + name: _copy for name in libraries.GOOGLE_COPIES},
    _CLIENT + "create_bucket": acts.suppress(_GOOGLE, _make_bucket),
    # `Blob.open("w")`.
    "google.cloud.storage.fileio:BlobWriter._upload_chunks_from_buffer": acts.suppress(
        _GOOGLE, lambda writer, *args: writer._buffer.read() and writer._buffer.flush(), acts.UPLOAD
    ),
    **dict.fromkeys(libraries.AZURE, acts.unless_online(_suppress_microsoft)),
}
