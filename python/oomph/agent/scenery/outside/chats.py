"""Messages to people: `slack_sdk`, Apprise, Telegram."""

import sys

from ...hooks.replacing import Layer
from . import acts

# The last words of methods of `slack_sdk` that read.
_READING = ("list", "info", "test", "history", "replies", "members", "get", "identity", "messages", "files", "all", "open")
# The members that programs read from the answers of `slack_sdk`.
_ANSWER = {"ok": True, "ts": "0.0", "channel": "", "message": {"ts": "0.0"}, "file": {"id": ""}, "files": [], "upload_url": "", "file_id": ""}
_TELEGRAM_MESSAGE = {"message_id": 0, "date": 0, "chat": {"id": 0, "type": "private"}}


def _upload_result(*args, **kwargs):
    """The result by which `files_upload_v2` knows a success."""
    return sys.modules["slack_sdk.web.file_upload_v2_result"].FileUploadV2Result(status=200, body="")


def _call_slack(module: str, response: str) -> Layer:
    """Calls of methods that read pass; the others get an answer of the class `response`."""

    def answer(client, method, **kwargs):
        kind = getattr(sys.modules[module], response)
        return kind(client=client, http_verb="POST", api_url=method, req_args={}, data=dict(_ANSWER), headers={}, status_code=200)

    suppress = acts.suppress("slack_sdk", answer, acts.MESSAGE)

    def layer(call, client, api_method, *args, **kwargs):
        if api_method.split(".")[-1] in _READING:
            return call(client, api_method, *args, **kwargs)
        return suppress(call, client, api_method, *args, **kwargs)

    return layer


def _answer_webhook(client, *args, **kwargs):
    return sys.modules["slack_sdk.webhook.webhook_response"].WebhookResponse(url=client.url, status_code=200, body="ok", headers={})


def _answer_telegram(_bot, endpoint: str, *args, **kwargs):
    if endpoint == "sendMediaGroup":
        return [dict(_TELEGRAM_MESSAGE)]
    is_message = endpoint.startswith(("send", "edit", "forward")) and endpoint != "sendChatAction"
    return dict(_TELEGRAM_MESSAGE) if is_message else True


_suppress_telegram = acts.suppress("telegram", _answer_telegram, acts.MESSAGE)


def _post_to_telegram(call, bot, endpoint, *args, **kwargs):
    if endpoint.startswith("get"):
        return call(bot, endpoint, *args, **kwargs)
    return _suppress_telegram(call, bot, endpoint, *args, **kwargs)


_upload = acts.suppress("slack_sdk", _upload_result, acts.UPLOAD)
_send = acts.suppress("slack_sdk", _answer_webhook, acts.MESSAGE)
_notify = acts.suppress("apprise", lambda *args, **kwargs: True, acts.MESSAGE)
LAYERS = {
    "slack_sdk.web.base_client:BaseClient.api_call": _call_slack("slack_sdk.web.base_client", "SlackResponse"),
    "slack_sdk.web.base_client:BaseClient._upload_file": _upload,
    "slack_sdk.web.async_base_client:AsyncBaseClient.api_call": _call_slack("slack_sdk.web.async_base_client", "AsyncSlackResponse"),
    "slack_sdk.web.async_base_client:AsyncBaseClient._upload_file": _upload,
    "slack_sdk.webhook.client:WebhookClient.send": _send,
    "slack_sdk.webhook.client:WebhookClient.send_dict": _send,
    "slack_sdk.webhook.async_client:AsyncWebhookClient.send": _send,
    "slack_sdk.webhook.async_client:AsyncWebhookClient.send_dict": _send,
    "apprise:Apprise.notify": _notify,
    "apprise:Apprise.async_notify": _notify,
    "telegram:Bot._do_post": _post_to_telegram,
}
