"""A process outside the run: writes the signals that it gets to the file of its first word, and its standard input's end ends it."""

import os
import signal
import socket
import sys
import threading

NOTED = ("SIGUSR1", "SIGUSR2", "SIGHUP", "SIGTERM", "SIGINT", "SIGWINCH")


def main(notes: str, door: str) -> None:
    """Answers each connection to the socket `door` with a descriptor of the file, open for writing."""
    file = os.open(notes, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    for name in NOTED:
        signal.signal(getattr(signal, name), lambda number, _: os.write(file, f"{signal.Signals(number).name}\n".encode()))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(door)
    listener.listen()
    threading.Thread(target=serve, args=(listener, file), daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


def serve(listener: socket.socket, file: int) -> None:
    """Sends the descriptor to whoever asks."""
    while True:
        connection, _ = listener.accept()
        with connection:
            os.write(file, b"asked\n")
            socket.send_fds(connection, [b"x"], [file])


if __name__ == "__main__":
    main(*sys.argv[1:])
