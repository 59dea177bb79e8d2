"""python-telegram-bot: a message and a file."""

import asyncio

import server
import telegram


async def send() -> None:
    """A bot that needs no answer of `getMe`."""
    bot = telegram.Bot("1:a", base_url=f"{server.url}/bot")
    server.expect("a message", (await bot.send_message(chat_id=1, text="done")).message_id, 0)
    await bot.send_document(chat_id=1, document=b"a log", filename="log.txt")


asyncio.run(send())
server.train()
