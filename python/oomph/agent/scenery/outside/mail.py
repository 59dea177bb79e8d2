"""Mail: every SMTP connection leads to a server in this process, which takes all messages and delivers none."""

import io
import sys
from collections.abc import Callable

from . import acts

_LIBRARY = "smtplib"
# The answer to each command; 250 to all others.
_ANSWERS = {
    b"EHLO": b"250-localhost\r\n250-STARTTLS\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 AUTH PLAIN\r\n",
    b"DATA": b"354 go ahead\r\n",
    b"AUTH": b"235 accepted\r\n",
    b"QUIT": b"221 bye\r\n",
    b"STAR": b"220 ready\r\n",
}
_END = b"\r\n.\r\n"


class _Server(io.RawIOBase):
    """Both ends of a connection: the socket of `smtplib`, and the file of the answers."""

    def __init__(self) -> None:
        super().__init__()
        self._answers = b"220 localhost\r\n"
        self._received = b""
        self._is_message = False

    def makefile(self, *args, **kwargs) -> io.BufferedReader:
        """The file that `smtplib` reads the answers from."""
        return io.BufferedReader(self)

    def sendall(self, data: bytes) -> None:
        """Takes commands and messages."""
        self._received += data
        while self._take_next():
            pass

    def _take_next(self) -> bool:
        end = _END if self._is_message else b"\r\n"
        # A message may be empty: its only line is the dot.
        received = b"\r\n" + self._received if self._is_message else self._received
        text, found, rest = received.partition(end)
        if not found:
            return False
        self._received = rest
        if self._is_message:
            acts.note(_LIBRARY, acts.MESSAGE)
        word = b"" if self._is_message else text[:4].upper()
        self._is_message = word == b"DATA"
        self._answers += _ANSWERS.get(word, b"250 ok\r\n")
        return True

    def readable(self) -> bool:
        """As a connection."""
        return True

    def readinto(self, buffer) -> int:
        """Hands over answers; after the last one the connection has ended."""
        size = min(len(buffer), len(self._answers))
        buffer[:size], self._answers = self._answers[:size], self._answers[size:]
        return size

    def settimeout(self, value) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Stays open: closing the file of answers would close the socket, and `starttls` makes a second file."""


def _change() -> None:
    smtplib = sys.modules["smtplib"]
    for name in ("SMTP", "SMTP_SSL"):
        kind = getattr(smtplib, name, None)
        if kind is not None:
            acts.replace(kind, "_get_socket", _connect)
    acts.replace(smtplib.LMTP, "connect", _connect_locally)
    acts.replace(smtplib.SMTP, "starttls", _start_encryption)


def _connect(original: Callable) -> Callable:
    return lambda self, *args, **kwargs: original(self, *args, **kwargs) if acts.is_online() else _Server()


def _connect_locally(original: Callable) -> Callable:
    """LMTP makes the socket of a path itself."""

    def stand_in(self, host="localhost", *args, **kwargs):
        return original(self, host if acts.is_online() or host[0] != "/" else "localhost", *args, **kwargs)

    return stand_in


def _start_encryption(original: Callable) -> Callable:
    """Only a real socket can be encrypted. The state is forgotten as in the original."""

    def stand_in(self, *args, **kwargs):
        if not isinstance(self.sock, _Server):
            return original(self, *args, **kwargs)
        self.ehlo_or_helo_if_needed()
        answer = self.docmd("STARTTLS")
        self.helo_resp = self.ehlo_resp = None
        self.esmtp_features, self.does_esmtp = {}, False
        return answer

    return stand_in


HOOKS = {"smtplib": _change}
