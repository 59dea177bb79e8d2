"""Reads parts of a remote file by range requests, with the session of `huggingface_hub`. See Note [Missing weights]."""

import contextlib
import sys
from collections.abc import Iterator

from ...failure import explain

# The first request of a place in the file: the header of most shards is smaller.
_WINDOW_BYTES = 32 << 10
# A server that ignores ranges sends the file from the beginning: the most bytes that are read and thrown away.
_MOST_SKIPPED_BYTES = 32 << 20
_CHUNK_BYTES = 64 << 10


class BadAnswer(ValueError):
    """An answer of a server that holds no part of the file."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        explain(self, sentence)


class Ranges:
    """A remote file, of which every byte is fetched once at most."""

    def __init__(self, name: str, url: str, headers: dict[str, str], size: int | None) -> None:
        self.name = name
        self.size = size
        # Bytes that the server sent, those thrown away included.
        self.fetched_bytes = 0
        self._url = url
        self._headers = {**headers, "Accept-Encoding": "identity"}
        # By the offset of the first byte.
        self._parts: dict[int, bytes] = {}

    def find_size(self) -> int:
        """The size of the file, from an answer of the server if nothing else names the size."""
        if self.size is None:
            self.read(0, 1)
        if self.size is None:
            raise BadAnswer(f"the server names no size for {self.name}, expected one in Content-Range or Content-Length")
        return self.size

    def read(self, offset: int, size: int) -> bytes:
        """Returns `size` bytes of the file."""
        start = next((start for start, part in self._parts.items() if start <= offset <= start + len(part)), offset)
        part = self._parts.get(start, b"")
        missing = offset + size - start - len(part)
        if missing > 0:
            part += self._fetch(start + len(part), missing)
            self._parts[start] = part
        return part[offset - start : offset - start + size]

    def _fetch(self, offset: int, needed: int) -> bytes:
        # Beyond the first part are single tensors, whose neighbours are weights.
        size = max(needed, _WINDOW_BYTES) if len(self._parts) < 2 else needed
        size = size if self.size is None else min(size, self.size - offset)
        if size < needed:
            raise BadAnswer(f"{self.name} ends at byte {self.size}, expected {offset + needed} bytes at least")
        with _open(self._url, {**self._headers, "Range": f"bytes={offset}-{offset + size - 1}"}) as response:
            skipped = self._find_start(response, offset)
            data = self._read_body(response, skipped + size)
        # Of a file of unknown size, the window may pass the end.
        if len(data) < skipped + needed:
            raise BadAnswer(f"the connection ended after {len(data)} bytes of {self.name}, expected {skipped + needed}")
        return data[skipped:]

    def _find_start(self, response, offset: int) -> int:
        """Checks the answer's place in the file; returns the number of bytes before the first wanted byte."""
        sent = response.headers.get("Content-Range", "")
        if response.status_code == 206:
            self._check_range(sent, offset)
            return 0
        if self.size is None and response.headers.get("Content-Length", "").isdigit():
            self.size = int(response.headers["Content-Length"])
        if offset > _MOST_SKIPPED_BYTES:
            raise BadAnswer(f"the server sends {self.name} from its beginning (status {response.status_code}), expected the part from byte {offset} (206)")
        return offset

    def _check_range(self, sent: str, offset: int) -> None:
        """Content-Range is `bytes FIRST-LAST/SIZE` (RFC 9110, 14.4)."""
        place, _, total = sent.removeprefix("bytes ").partition("/")
        if place.partition("-")[0] != str(offset):
            raise BadAnswer(f"the server sent the part `{sent}` of {self.name}, expected one from byte {offset}")
        if self.size is None and total.isdigit():
            self.size = int(total)
        if total.isdigit() and int(total) != self.size:
            raise BadAnswer(f"the server sends a {self.name} of {total} bytes, expected {self.size}")

    def _read_body(self, response, most: int) -> bytes:
        """The first bytes of the answer; the rest is never read."""
        data = bytearray()
        with contextlib.suppress(_cut_errors()):
            for chunk in _iterate(response):
                data += chunk
                if len(data) >= most:
                    break
        self.fetched_bytes += len(data)
        return bytes(data[:most])


@contextlib.contextmanager
def _open(url: str, headers: dict[str, str]) -> Iterator:
    """A streamed answer. Both kinds of session follow redirects, and send the token to no other host."""
    utils = sys.modules["huggingface_hub.utils"]
    timeout = sys.modules["huggingface_hub.constants"].HF_HUB_DOWNLOAD_TIMEOUT
    session = utils.get_session()
    # A session of requests has a setting of the same name.
    if callable(getattr(session, "stream", None)):
        answer = session.stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True)
    else:
        answer = session.get(url, headers=headers, timeout=timeout, stream=True)
    with answer as response:
        utils.hf_raise_for_status(response)
        yield response


def _iterate(response) -> Iterator[bytes]:
    iterate = getattr(response, "iter_raw", None)
    return iterate(_CHUNK_BYTES) if iterate is not None else response.iter_content(_CHUNK_BYTES)


def _cut_errors() -> tuple[type[Exception], ...]:
    """The errors of a connection that ends too early: `huggingface_hub` 1 has httpx, older versions have requests."""
    httpx, requests = sys.modules.get("httpx"), sys.modules.get("requests")
    errors = () if httpx is None else (httpx.RemoteProtocolError, httpx.ReadError)
    return errors if requests is None else (*errors, requests.exceptions.ChunkedEncodingError)
