"""slack_sdk: messages by a client, one that waits, a webhook, and a file; a read reaches the server."""

import asyncio

import server
from slack_sdk import WebClient, WebhookClient
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

client = WebClient("xoxb-none", base_url=f"{server.url}/api/")
server.expect("a message", client.chat_postMessage(channel="C1", text="done")["ok"], True)
client.files_upload_v2(channel="C1", content="a log", filename="log.txt")
server.expect("a webhook", WebhookClient(f"{server.url}/hook").send(text="done").status_code, 200)


async def send() -> None:
    """The same by clients that wait."""
    await AsyncWebClient("xoxb-none", base_url=f"{server.url}/api/").chat_postMessage(channel="C1", text="done")
    await AsyncWebhookClient(f"{server.url}/hook").send(text="done")


asyncio.run(send())
server.train()
