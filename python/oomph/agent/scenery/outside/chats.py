"""Messages to people: `slack_sdk`, Apprise, Telegram."""

import sys
from collections.abc import Callable

from . import acts

# The last words of methods of `slack_sdk` that read.
_READING = ("list", "info", "test", "history", "replies", "members", "get", "identity", "messages", "files", "all", "open")
# The members that programs read from the answers of `slack_sdk`.
_ANSWER = {"ok": True, "ts": "0.0", "channel": "", "message": {"ts": "0.0"}, "file": {"id": ""}, "files": [], "upload_url": "", "file_id": ""}
_TELEGRAM_MESSAGE = {"message_id": 0, "date": 0, "chat": {"id": 0, "type": "private"}}


def _change_slack(module: str, client: str, response: str) -> None:
    kind = getattr(sys.modules[module], client)
    acts.replace(kind, "api_call", lambda original: _call_slack(original, getattr(sys.modules[module], response)))
    acts.suppress(kind, ["_upload_file"], "slack_sdk", lambda *args, **kwargs: _upload_result(), acts.UPLOAD)


def _upload_result():
    """The result by which `files_upload_v2` knows a success."""
    return sys.modules["slack_sdk.web.file_upload_v2_result"].FileUploadV2Result(status=200, body="")


def _call_slack(original: Callable, response: type) -> Callable:
    suppressing = acts.suppressing(original, "slack_sdk", acts.MESSAGE, lambda self, method, **kwargs: _answer_slack(response, self, method))

    def stand_in(self, api_method, *args, **kwargs):
        is_reading = api_method.split(".")[-1] in _READING
        return (original if is_reading else suppressing)(self, api_method, *args, **kwargs)

    return stand_in


def _answer_slack(response: type, client, method: str):
    return response(client=client, http_verb="POST", api_url=method, req_args={}, data=dict(_ANSWER), headers={}, status_code=200)


def _change_webhook(module: str, client: str) -> None:
    def answer(self, *args, **kwargs):
        return sys.modules["slack_sdk.webhook.webhook_response"].WebhookResponse(url=self.url, status_code=200, body="ok", headers={})

    acts.suppress(getattr(sys.modules[module], client), ["send", "send_dict"], "slack_sdk", answer, acts.MESSAGE)


def _change_apprise() -> None:
    acts.suppress(sys.modules["apprise"].Apprise, ["notify", "async_notify"], "apprise", lambda *args, **kwargs: True, acts.MESSAGE)


def _change_telegram() -> None:
    acts.replace(sys.modules["telegram"].Bot, "_do_post", _post_to_telegram)


def _post_to_telegram(original: Callable) -> Callable:
    suppressing = acts.suppressing(original, "telegram", acts.MESSAGE, lambda self, endpoint, *args, **kwargs: _answer_telegram(endpoint))

    async def stand_in(self, endpoint, *args, **kwargs):
        is_reading = endpoint.startswith("get")
        return await (original if is_reading else suppressing)(self, endpoint, *args, **kwargs)

    return stand_in


def _answer_telegram(endpoint: str):
    if endpoint == "sendMediaGroup":
        return [dict(_TELEGRAM_MESSAGE)]
    is_message = endpoint.startswith(("send", "edit", "forward")) and endpoint != "sendChatAction"
    return dict(_TELEGRAM_MESSAGE) if is_message else True


HOOKS = {
    "slack_sdk.web.base_client": lambda: _change_slack("slack_sdk.web.base_client", "BaseClient", "SlackResponse"),
    "slack_sdk.web.async_base_client": lambda: _change_slack("slack_sdk.web.async_base_client", "AsyncBaseClient", "AsyncSlackResponse"),
    "slack_sdk.webhook.client": lambda: _change_webhook("slack_sdk.webhook.client", "WebhookClient"),
    "slack_sdk.webhook.async_client": lambda: _change_webhook("slack_sdk.webhook.async_client", "AsyncWebhookClient"),
    "apprise": _change_apprise,
    "telegram": _change_telegram,
}
