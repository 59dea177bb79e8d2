"""boto3: a file in parts, a removal, a queue, a topic and a table; a read reaches the store."""

import asyncio
import os
import pathlib

import server

os.environ.update(AWS_ENDPOINT_URL=server.url, AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_DEFAULT_REGION="us-east-1", AWS_MAX_ATTEMPTS="1")

import aiobotocore.session
import boto3

path = pathlib.Path("weights.bin")
path.write_bytes(bytes(20 << 20))
store = boto3.client("s3")
store.upload_file(str(path), "bucket", "weights.bin")
boto3.resource("s3").Object("bucket", "log.txt").put(Body=b"done")
store.delete_object(Bucket="bucket", Key="old.bin")
server.expect("a message", boto3.client("sns").publish(TopicArn="arn:aws:sns:us-east-1:1:t", Message="done")["ResponseMetadata"]["HTTPStatusCode"], 200)
server.expect("a message of a queue", boto3.client("sqs").send_message(QueueUrl=f"{server.url}/1/q", MessageBody="done")["MessageId"], "0")
boto3.client("dynamodb").put_item(TableName="t", Item={"id": {"S": "a"}})
try:
    store.get_object(Bucket="bucket", Key="weights.bin")
except store.exceptions.ClientError as error:
    server.expect("a read", error.response["ResponseMetadata"]["HTTPStatusCode"], 404)


async def remove() -> None:
    """The same by a client that waits."""
    async with aiobotocore.session.get_session().create_client("s3") as later:
        server.expect("an upload", (await later.put_object(Bucket="bucket", Key="a", Body=b"done"))["ETag"], "0")
        await later.delete_object(Bucket="bucket", Key="a")


asyncio.run(remove())
server.train()
