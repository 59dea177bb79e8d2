"""Mail: every SMTP connection leads to a server in this process, which takes all messages and delivers none."""

import io

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


def _connect(_call, _client, *args, **kwargs):
    return _Server()


def _connect_locally(call, client, host="localhost", *args, **kwargs):
    """LMTP makes the socket of a path itself."""
    return call(client, "localhost" if host[0] == "/" else host, *args, **kwargs)


def _start_encryption(call, client, *args, **kwargs):
    """Only a real socket can be encrypted. The state is forgotten as in the original."""
    if not isinstance(client.sock, _Server):
        return call(client, *args, **kwargs)
    client.ehlo_or_helo_if_needed()
    answer = client.docmd("STARTTLS")
    client.helo_resp = client.ehlo_resp = None
    client.esmtp_features, client.does_esmtp = {}, False
    return answer


LAYERS = {
    "smtplib:SMTP._get_socket": acts.unless_online(_connect),
    "smtplib:SMTP_SSL._get_socket": acts.unless_online(_connect),
    "smtplib:LMTP.connect": acts.unless_online(_connect_locally),
    "smtplib:SMTP.starttls": _start_encryption,
}
