"""Trackers, mail and uploads are off line in a dry run."""

import asyncio
import contextlib
import io
import smtplib
import sys
import types
import unittest
from pathlib import PurePosixPath

from oomph.agent.hooks import replacing, table
from oomph.agent.scenery.outside import acts, clouds, mail, mlflow_runs

from .support import needs_phantom, run_program

MAIL = """
    import os, smtplib, socket, ssl, threading, torch
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(60)
    port = server.getsockname()[1]
    torch.ones(1, device="cuda")
    if "OOMPH_ONLINE" not in os.environ:
        with smtplib.SMTP("127.0.0.1", port) as mail:
            mail.starttls(context=ssl.create_default_context())
            mail.login("user", "password")
            print(mail.sendmail("a@localhost", ["b@localhost", "c@localhost"], "Subject: done"))
        with smtplib.SMTP_SSL("127.0.0.1", port) as mail:
            mail.sendmail("a@localhost", ["b@localhost"], "Subject: done")
        server.setblocking(False)
        try:
            server.accept()
        except BlockingIOError:
            print("nobody came")
    else:
        threading.Thread(target=lambda: smtplib.SMTP("127.0.0.1", port, timeout=60), daemon=True).start()
        print("came", server.accept()[1][0])
"""

@needs_phantom
class OffLineTest(unittest.TestCase):
    """Programs with real libraries, whose server must see no change."""

    def check(self, program: str, output: str, *acts: tuple[str, str, int]) -> None:
        ran = run_program(program, phantom=True)
        self.assertEqual((ran.status, ran.stdout), (0, output), ran.stderr)
        rows = [(row["library"], row["action"], row["count"]) for row in ran.records("outside")]
        self.assertEqual(rows, list(acts))
        self.assertEqual(ran.end()["kind"], "end")

    def test_mail_is_accepted_and_not_sent(self):
        self.check(MAIL, "{}\nnobody came\n", ("smtplib", "message", 2))

    def test_a_program_on_line_reaches_its_server(self):
        ran = run_program(MAIL, phantom=True, OOMPH_ONLINE="1")
        self.assertEqual((ran.stdout, ran.records("outside")), ("came 127.0.0.1\n", []), ran.stderr)


class Example:
    """A class of a library."""

    def send(self, text):
        """Sends."""
        return f"sent {text}"

    async def send_later(self, text):
        """Sends."""
        return f"sent {text}"

    @classmethod
    def start(cls, name, mode="online"):
        """Starts a run."""
        return cls, name, mode


class ActsTest(unittest.TestCase):
    """Replaced functions."""

    def setUp(self):
        acts.reset()
        self.addCleanup(acts.reset)
        self.kind = type("Copy", (Example,), dict(vars(Example)))
        self.module = types.ModuleType("oomph_probe")
        self.module.Copy = self.kind
        sys.modules["oomph_probe"] = self.module
        self.addCleanup(sys.modules.pop, "oomph_probe")
        self.addCleanup(lambda before: (replacing.REPLACED.clear(), replacing.REPLACED.update(before)), dict(replacing.REPLACED))

    def put(self, layer, *names: str) -> None:
        for name in names:
            replacing._add(table.Row(f"oomph_probe:Copy.{name}", (), {"test": "tries"}), layer, is_inner=False)

    def counts(self) -> list[tuple[str, str, int]]:
        return [(row["library"], row["action"], row["count"]) for row in acts.list_records()]

    def test_suppressed_functions_count_and_answer(self):
        self.put(acts.suppress("example", lambda self, text: text.upper()), "send*", "absent")
        self.assertEqual(self.kind().send("a"), "A")
        self.assertEqual(asyncio.run(self.kind().send_later(text="b")), "B")
        self.assertEqual(self.counts(), [("example", "message", 2)])

    def test_a_failing_answer_is_none(self):
        self.put(acts.suppress("example", lambda: "no arguments"), "send")
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            self.assertIsNone(self.kind().send("a"))
        self.assertIn("failed", stderr.getvalue())

    def test_a_forced_argument_replaces_the_programs(self):
        self.put(acts.force("example", mode="disabled"), "start")
        for arguments, named in ((("a", "online"), {}), (("a",), {"mode": "online"}), ((), {"name": "a"})):
            self.assertEqual(self.kind.start(*arguments, **named), (self.kind, "a", "disabled"))
        self.assertEqual(self.counts(), [("example", "run", 3)])

    def test_kinds_follow_names(self):
        kinds = {"upload_file": "upload", "delete_repo": "removal", "PutObject": "upload", "SendMessage": "message", "create_tag": "change"}
        self.assertEqual({name: acts.kind_of(name) for name in kinds}, kinds)

    def test_operations_that_read_pass(self):
        changing = ["PutObject", "DeleteObjects", "Publish", "SendMessageBatch", "CreateMultipartUpload", "BatchWriteItem", "TerminateInstances"]
        reading = ["GetObject", "ListObjectsV2", "HeadBucket", "AssumeRole", "CreateSession", "StartQueryExecution", "BatchGetItem", "Settle"]
        self.assertEqual([name for name in changing + reading if clouds._is_changing(name)], changing)

    def test_stores_in_files_are_local(self):
        local = ["", None, "mlruns", "/data/mlruns", "file:///data", "sqlite:///mlflow.db", PurePosixPath("runs")]
        remote = ["http://host:5000", "https://host", "databricks", "databricks://profile", "databricks-uc", "postgresql://user@host/db"]
        self.assertEqual([uri for uri in local + remote if mlflow_runs._is_remote(uri)], remote)


class MailTest(unittest.TestCase):
    """The server in the process."""

    def setUp(self):
        acts.reset()
        self.addCleanup(acts.reset)
        self.kind = type("Copy", (smtplib.SMTP,), {"_get_socket": lambda *args: mail._Server()})

    def test_messages_with_dots_and_without_text_count(self):
        with self.kind("localhost") as connection:
            for text in ("", ".", "a\n.\nb", "Subject: a\n\nb\n"):
                self.assertEqual(connection.sendmail("a@localhost", "b@localhost", text), {})
            self.assertEqual(connection.noop()[0], 250)
        self.assertEqual([row["count"] for row in acts.list_records()], [4])

    def test_a_closed_connection_opens_again(self):
        connection = self.kind("localhost")
        connection.quit()
        self.assertEqual(connection.connect("localhost")[0], 220)
