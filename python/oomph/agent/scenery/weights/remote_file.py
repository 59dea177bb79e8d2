"""Reads parts of remote files by HTTP range requests, and keeps the parts for later runs, which have no network.

The requests are those of `torch.hub` (`torch/hub.py`, 2.11), with a range. No more of a file is ever fetched than its header.
"""

import contextlib
import hashlib
import http.client
import json
import os
import ssl
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

_PATIENCE_SECONDS = 10
_PAGE_BYTES = 1 << 14
# A header with more bytes is none of a checkpoint's.
_MOST_BYTES = 64 << 20
_EXPECTED = "expected a part of a checkpoint"
# The hosts that did not answer: a second request would wait again.
_silent: dict[str, str] = {}


class NoNetworkError(URLError):
    """An address that cannot be reached."""

    # The report has the name of the class, and of the module.
    __module__ = "oomph"

    def __str__(self) -> str:
        return str(self.reason)


class AnswerError(URLError):
    """An answer that is no part of a checkpoint."""

    __module__ = "oomph"

    def __str__(self) -> str:
        return str(self.reason)


# The errors of huggingface_hub (1.33), and of its libraries of HTTP, for an address that cannot be reached.
_UNREACHABLE = {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout", "ConnectionError"}


def is_unreachable(error: BaseException | None) -> bool:
    """True if an error, or a cause of it, says that an address cannot be reached."""
    while error is not None:
        if isinstance(error, NoNetworkError) or any(kind.__name__ in _UNREACHABLE for kind in type(error).__mro__):
            return True
        error = error.__cause__ or error.__context__
    return False


@dataclass
class RemoteFile:
    """A file of an address: its size, and the pages that were fetched."""

    url: str
    size: int
    tag: str
    # False for a server that ignores ranges: then the first page is all there is.
    has_ranges: bool = True
    pages: dict[int, bytes] = field(default_factory=dict)
    fetched_bytes: int = 0

    def read(self, start: int, size: int) -> bytes:
        """The bytes of a range, fetched if need be."""
        if start < 0 or start + size > self.size:
            raise AnswerError(f"{self.url} ends at {self.size} bytes, expected {start + size} by its header")
        numbers = range(start // _PAGE_BYTES, -(-(start + size) // _PAGE_BYTES))
        for first, last in _join(number for number in numbers if number not in self.pages):
            self._fetch(first, last)
        data = b"".join(self.pages[number] for number in numbers)
        skipped = start - numbers.start * _PAGE_BYTES
        return data[skipped : skipped + size]

    def _fetch(self, first: int, last: int) -> None:
        if not self.has_ranges:
            raise AnswerError(f"{self.url} was sent whole ({self.size} bytes), {_EXPECTED}: the server has no range requests")
        if self.fetched_bytes + (last - first + 1) * _PAGE_BYTES > _MOST_BYTES:
            raise AnswerError(f"{self.url} has a header of more than {_MOST_BYTES} bytes, {_EXPECTED}")
        start, end = first * _PAGE_BYTES, min(self.size, (last + 1) * _PAGE_BYTES)
        answer = _request(self.url, start, end - start)
        if len(answer.data) != end - start or answer.size != self.size:
            raise AnswerError(f"{self.url} sent {len(answer.data)} of {answer.size} bytes, expected {end - start} of {self.size}")
        self.add(first, answer.data)

    def add(self, first: int, data: bytes) -> None:
        """Keeps fetched pages."""
        self.fetched_bytes += len(data)
        self.pages.update(_split(first, data))


@dataclass(frozen=True)
class _Answer:
    data: bytes
    size: int
    tag: str
    has_ranges: bool


def open_remote(url: str) -> RemoteFile:
    """Opens the file of an address with its first page; the parts of an earlier run if there is no network."""
    try:
        answer = _request(url, 0, _PAGE_BYTES)
    except NoNetworkError:
        kept = _find_kept(url)
        if kept is None:
            raise
        return kept
    remote = RemoteFile(url, answer.size, answer.tag, answer.has_ranges)
    remote.add(0, answer.data)
    return remote


def _request(url: str, start: int, size: int) -> _Answer:
    host = urlsplit(url).netloc
    if host in _silent:
        raise NoNetworkError(_silent[host])
    request = Request(url, headers={"User-Agent": "torch.hub", "Range": f"bytes={start}-{start + size - 1}"})
    try:
        with _open(request, host) as answer:
            return _read(url, answer, start, size)
    except http.client.IncompleteRead as error:
        raise AnswerError(f"{url} was cut after {len(error.partial)} bytes of {size}, {_EXPECTED}") from error
    except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
        raise AnswerError(f"{url} was cut ({type(error).__name__}: {error}), {_EXPECTED}") from error


def _open(request: Request, host: str):
    url = request.full_url
    try:
        return urlopen(request, timeout=_PATIENCE_SECONDS)
    except HTTPError as error:
        error.msg = f"{' '.join(error.msg.split())}: {url}, {_EXPECTED}"
        raise
    except URLError as error:
        if isinstance(error.reason, ssl.SSLError):
            raise AnswerError(f"{url} answered with a bad certificate ({error.reason}), {_EXPECTED}") from error
        if isinstance(error.reason, http.client.HTTPException):
            raise AnswerError(f"{url} was cut ({error.reason}), {_EXPECTED}") from error
        _silent[host] = f"{url} cannot be reached ({error.reason}), {_EXPECTED}"
        raise NoNetworkError(_silent[host]) from error


def _read(url: str, answer, start: int, size: int) -> _Answer:
    has_ranges = answer.status == http.HTTPStatus.PARTIAL_CONTENT
    stated = answer.headers.get("Content-Range", "").rpartition("/")[2] if has_ranges else answer.headers.get("Content-Length", "")
    if not stated.isdigit():
        raise AnswerError(f"{url} states no size, {_EXPECTED}")
    wanted = min(size, int(stated) - start)
    data = answer.read(wanted)
    if len(data) != wanted:
        raise AnswerError(f"{url} was cut after {len(data)} bytes of {wanted}, {_EXPECTED}")
    return _Answer(data, int(stated), answer.headers.get("ETag", ""), has_ranges)


def _join(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and last of each run of neighbours."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def _split(first: int, data: bytes) -> dict[int, bytes]:
    return {first + index: data[start : start + _PAGE_BYTES] for index, start in enumerate(range(0, len(data), _PAGE_BYTES))}


def keep(remote: RemoteFile) -> None:
    """Keeps the fetched pages for later runs."""
    path = os.path.join(_folder(), f"{_digest(remote.url)}-{_digest(f'{remote.size} {remote.tag}')}")
    numbers = sorted(remote.pages)
    head = {"url": remote.url, "size": remote.size, "tag": remote.tag, "pages": numbers}
    # Without the kept pages a later run asks the network, or says that there is none.
    with contextlib.suppress(OSError):
        os.makedirs(_folder(), exist_ok=True)
        part = f"{path}.{os.getpid()}.part"
        with open(part, "wb") as file:
            file.write(json.dumps(head).encode() + b"\n")
            file.writelines(remote.pages[number] for number in numbers)
        os.replace(part, path)


def _find_kept(url: str) -> RemoteFile | None:
    """The kept pages of an address, the newest if the file has changed; `None` if nothing was kept."""
    try:
        entries = [entry for entry in os.scandir(_folder()) if entry.name.startswith(f"{_digest(url)}-") and not entry.name.endswith(".part")]
        newest = max(entries, key=lambda entry: entry.stat().st_mtime, default=None)
        return None if newest is None else _read_kept(newest.path)
    except OSError:
        return None


def _read_kept(path: str) -> RemoteFile:
    with open(path, "rb") as file:
        head = json.loads(file.readline())
        pages = {number: file.read(min(_PAGE_BYTES, head["size"] - number * _PAGE_BYTES)) for number in head["pages"]}
    return RemoteFile(head["url"], head["size"], head["tag"], True, pages)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _folder() -> str:
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    # A download cache of Note [Downloads] in crates/drive/src/guard/downloads.rs.
    return os.path.join(caches, "oomph", "hub", "addresses")
