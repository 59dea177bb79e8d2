"""Without a network, `huggingface_hub` answers at once: the first refused connection to the Hub closes the Hub for the process."""

import os
import sys

from ... import wire
from ...hooks import put

# `HF_HUB_OFFLINE` of the library (constants.py, 1.33).
_SWITCH = "huggingface_hub.constants:HF_HUB_OFFLINE"
_ASKED = "this run has no network, as with `--offline`"
_reason: str | None = None


def close_if_asked() -> None:
    """Closes the Hub in a run without a network; the variable of a fork server's child is set after the imports."""
    if os.environ.get(wire.OFFLINE) == "1":
        close(_ASKED)


def describe() -> str | None:
    """The reason for no connection to the Hub; `None` if there was no failure."""
    if _reason is None and sys.modules["huggingface_hub.constants"].HF_HUB_OFFLINE:
        return "`HF_HUB_OFFLINE` is set"
    return _reason


def close(reason: str) -> None:
    """Closes the Hub, with the first reason."""
    global _reason
    if _reason is not None:
        return
    _reason = reason
    put(_SWITCH, True)


def _keep_closed(is_closed: bool) -> bool:
    """The value of the library's switch after the import."""
    global _reason
    if os.environ.get(wire.OFFLINE) != "1":
        return is_closed
    _reason = _reason or _ASKED
    return True


def _stop(call, method, url, *, retry_on_exceptions=None, **kwargs):
    """Ends the library's loop of retries with the first refused connection."""
    httpx = sys.modules["httpx"]
    refused = (httpx.ConnectError, httpx.ConnectTimeout)
    errors = sys.modules["huggingface_hub.utils._http"]._DEFAULT_RETRY_ON_EXCEPTIONS if retry_on_exceptions is None else retry_on_exceptions
    errors = errors if isinstance(errors, tuple) else (errors,)
    try:
        yield from call(method, url, retry_on_exceptions=_without(errors, refused), **kwargs)
    except refused as error:
        if _is_of_hub(url):
            close(f"no network: {error}")
        raise


def _send(call, adapter, request, *args, **kwargs):
    """The sessions before version 1 are those of requests, and read `HF_HUB_OFFLINE` once: after a refused connection they raise the library's
    error for a closed Hub, which no loop tries again."""
    requests, closed = sys.modules["requests"], sys.modules["huggingface_hub.utils._http"].OfflineModeIsEnabled
    if _reason is not None and _is_of_hub(request.url):
        raise closed(f"Cannot reach {request.url}: {_reason}")
    try:
        return call(adapter, request, *args, **kwargs)
    except requests.ConnectionError as error:
        if not _is_of_hub(request.url) or not _is_refused(error):
            raise
        close(f"no network: {_describe(error)}")
        raise closed(f"Cannot reach {request.url}: {_reason}") from error


def _is_refused(error: Exception) -> bool:
    """True for a connection that was not made. The same class has those that were cut (`HTTPAdapter.send`, requests 2.34)."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return any(kind.__name__ in ("ConnectTimeout", "NewConnectionError") for kind in (*type(error).__mro__, *type(reason).__mro__))


def _describe(error: Exception) -> str:
    """The reason in a line: the text of urllib3's error without the connection in front of it."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return str(error if reason is None else reason).partition("): ")[2] or str(error)


def _is_of_hub(url: object) -> bool:
    return str(url).startswith(sys.modules["huggingface_hub.constants"].ENDPOINT)


def _without(errors: tuple, refused: tuple) -> tuple:
    """The errors without those of refused connections; a class above these is replaced by its other classes."""
    listed = (below for error in errors for below in (error.__subclasses__() if _is_above(error, refused) else [error]))
    return tuple(error for error in listed if not _is_above(error, refused))


def _is_above(error: type, refused: tuple) -> bool:
    return any(issubclass(one, error) for one in refused)


LAYERS = {
    "huggingface_hub.utils._http:_http_backoff_base": _stop,
    "huggingface_hub.utils._http:UniqueRequestIdAdapter.send": _send,
}
VALUES = {_SWITCH: _keep_closed}
