"""Apprise: a message to a server of JSON, and one that waits."""

import asyncio

import apprise
import server

notes = apprise.Apprise()
notes.add(server.url.replace("http:", "json:"))
server.expect("a message", notes.notify(title="done", body="a text"), True)
server.expect("a message that waits", asyncio.run(notes.async_notify(body="a text")), True)
server.train()
