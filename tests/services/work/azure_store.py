"""azure-storage-blob: a container, blobs by three clients, one of them asynchronous, and removals; a read reaches the store."""

import asyncio

import server
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import BlobServiceClient
from azure.storage.blob.aio import BlobServiceClient as Later

CONNECTION = f"DefaultEndpointsProtocol=http;AccountName=a;AccountKey=YQ==;BlobEndpoint={server.url}/a;"
OPTIONS = {"retry_total": 0}
service = BlobServiceClient.from_connection_string(CONNECTION, **OPTIONS)
container = service.create_container("mine")
server.expect("the container", container.container_name, "mine")
blob = container.upload_blob("weights.bin", bytes(8))
server.expect("the blob", blob.blob_name, "weights.bin")
server.expect("an upload", blob.upload_blob(bytes(8), overwrite=True)["etag"], '"0"')
blob.set_blob_metadata({"a": "b"})
container.delete_blob("old.bin")
try:
    blob.download_blob().readall()
except ResourceNotFoundError:
    pass


async def upload() -> None:
    """The same by a client that waits."""
    async with Later.from_connection_string(CONNECTION, **OPTIONS) as later:
        await later.get_blob_client("mine", "weights.bin").upload_blob(bytes(8))
        await later.delete_container("mine")


asyncio.run(upload())
server.train()
