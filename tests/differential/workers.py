"""Threads that take turns: each operation runs on the thread named in the program, and the next operation waits."""

import queue
import threading


class Workers:
    """Thread 0 is the caller's; the others wait for work until the process ends."""

    def __init__(self, count: int):
        self.inboxes = [queue.SimpleQueue() for _ in range(count - 1)]
        self.outbox = queue.SimpleQueue()
        for inbox in self.inboxes:
            threading.Thread(target=self._serve, args=(inbox,), daemon=True).start()

    def _serve(self, inbox: queue.SimpleQueue) -> None:
        while True:
            self.outbox.put(inbox.get()())

    def run(self, thread: int, body):
        """Runs `body` on a thread; returns its result."""
        if thread == 0:
            return body()
        self.inboxes[thread - 1].put(body)
        return self.outbox.get()
