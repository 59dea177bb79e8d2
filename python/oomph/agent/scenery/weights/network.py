"""Without a network, `huggingface_hub` answers at once: the first refused connection to the Hub closes the Hub for the process."""

import functools
import os
import sys
from collections.abc import Callable

from ... import wire

_reason: str | None = None


def close_if_asked() -> None:
    """Closes the Hub in a run without a network; the variable of a fork server's child is set after the imports."""
    if os.environ.get(wire.OFFLINE) == "1":
        close("this run has no network, as with `--offline`")


def describe() -> str | None:
    """The reason for no connection to the Hub; `None` if there was no failure."""
    if _reason is None and sys.modules["huggingface_hub.constants"].HF_HUB_OFFLINE:
        return "`HF_HUB_OFFLINE` is set"
    return _reason


def close(reason: str) -> None:
    """`HF_HUB_OFFLINE` of the library (constants.py, 1.33), with the first reason."""
    global _reason
    if _reason is not None:
        return
    _reason = reason
    sys.modules["huggingface_hub.constants"].HF_HUB_OFFLINE = True


def stop_retries() -> None:
    """Makes the library's loop of retries (`utils/_http.py`, 0.26 to 1.33) end with the first refused connection."""
    module = sys.modules["huggingface_hub.utils._http"]
    original = getattr(module, "_http_backoff_base", None)
    if original is not None:
        module._http_backoff_base = _stopping(original, module._DEFAULT_RETRY_ON_EXCEPTIONS)
    adapter = getattr(module, "UniqueRequestIdAdapter", None)
    if adapter is not None:
        adapter.send = _sending(adapter.send, module.OfflineModeIsEnabled)
    close_if_asked()


def _stopping(original: Callable, default: tuple) -> Callable:
    httpx = sys.modules["httpx"]
    refused = (httpx.ConnectError, httpx.ConnectTimeout)

    @functools.wraps(original)
    def stand_in(method, url, *, retry_on_exceptions=default, **kwargs):
        errors = retry_on_exceptions if isinstance(retry_on_exceptions, tuple) else (retry_on_exceptions,)
        try:
            yield from original(method, url, retry_on_exceptions=_without(errors, refused), **kwargs)
        except refused as error:
            if _is_of_hub(url):
                close(f"no network: {error}")
            raise

    return stand_in


def _sending(original: Callable, closed: type[Exception]) -> Callable:
    """The sessions before version 1 are those of requests, and read `HF_HUB_OFFLINE` once: after a refused connection they raise the library's
    error for a closed Hub, which no loop tries again."""
    requests = sys.modules["requests"]

    @functools.wraps(original)
    def send(self, request, *args, **kwargs):
        if _reason is not None and _is_of_hub(request.url):
            raise closed(f"Cannot reach {request.url}: {_reason}")
        try:
            return original(self, request, *args, **kwargs)
        except requests.ConnectionError as error:
            if not _is_of_hub(request.url) or not _is_refused(error):
                raise
            close(f"no network: {_describe(error)}")
            raise closed(f"Cannot reach {request.url}: {_reason}") from error

    return send


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
