"""google-cloud-storage: uploads in three ways, a copy, a bucket and removals; a read reaches the store."""

import os

import server

os.environ["STORAGE_EMULATOR_HOST"] = server.url

from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

client = storage.Client(project="p", credentials=AnonymousCredentials())
bucket = client.create_bucket("mine")
server.expect("the bucket", bucket.name, "mine")
blob = bucket.blob("weights.bin")
blob.upload_from_string(b"done")
with open("weights.bin", "wb") as file:
    file.write(bytes(8))
blob.upload_from_filename("weights.bin")
with blob.open("wb") as file:
    file.write(bytes(1 << 20))
blob.patch()
server.expect("a copy", bucket.copy_blob(blob, bucket, "copy.bin").name, "weights.bin")
bucket.delete_blob("old.bin")
blob.delete()
server.expect("a blob that is there", bucket.blob("config.json").exists(), False)
server.train()
