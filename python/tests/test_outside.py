"""Trackers, mail and uploads are off line in a dry run."""

import asyncio
import contextlib
import importlib.util
import io
import smtplib
import sys
import types
import unittest
from pathlib import PurePosixPath

from oomph.agent.hooks import replacing, table
from oomph.agent.scenery.outside import acts, clouds, mail, mlflow_runs

from .support import needs_phantom, run_program

# A server that notes methods of requests, and the end of each program.
SERVER = """
    import http.server, os, threading
    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self):
            seen.add(self.command)
            self.send_error(404)
        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer
        def log_message(self, *args):
            pass
    seen = set()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
"""
END = """
    print("changes:", *seen - {"GET", "HEAD"})
    import torch
    torch.ones(1, device="cuda")
"""

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

HUB = SERVER + """
    os.environ["HF_ENDPOINT"] = url
    # The names are imported before torch.
    from huggingface_hub import HfApi, create_repo, upload_file
    import pathlib
    path = pathlib.Path(__file__).with_name("weights.bin")
    path.write_bytes(bytes(8))
    print(create_repo("mine", token="hf_none").repo_id)
    commit = upload_file(path_or_fileobj=path, path_in_repo="weights.bin", repo_id="me/mine", commit_message="done", token="hf_none")
    print(commit.commit_message, commit.repo_url.repo_id)
    api = HfApi(token="hf_none")
    print(api.upload_folder(folder_path=path.parent, repo_id="me/mine", run_as_future=True).result().oid)
    api.delete_repo("me/mine")
    try:
        api.file_exists("me/mine", "config.json")
    except Exception:
        print("read")
""" + END

TRANSFORMERS = SERVER + """
    os.environ["HF_ENDPOINT"] = url
    import transformers
    config = transformers.GPT2Config(n_layer=1, n_head=1, n_embd=8, vocab_size=8)
    print(transformers.GPT2LMHeadModel(config).push_to_hub("me/mine").repo_url.repo_id, config.push_to_hub("me/mine").oid)
""" + END

WANDB = SERVER + """
    os.environ["WANDB_BASE_URL"], os.environ["WANDB_MODE"], os.environ["WANDB_API_KEY"] = url, "online", "a" * 40
    import torch, wandb
    wandb.login()
    with wandb.init(project="p", config={"lr": 1}, mode="online") as run:
        loss = torch.ones((), device="cuda", requires_grad=True) * 2
        wandb.log({"loss": loss})
        run.log({"loss": 1.0})
        print(run.config.lr, run.summary["loss"], type(run.summary["loss"]).__name__)
        run.log_artifact(wandb.Artifact("weights", type="model")).wait()
    wandb.agent(wandb.sweep({"parameters": {"lr": {"values": [3, 4]}}}), lambda: print(wandb.init().config.lr), count=9)
    wandb.finish()
    print(os.listdir())
""" + END

MLFLOW = SERVER + """
    import mlflow
    mlflow.set_tracking_uri(url)
    mlflow.set_experiment("mine")
    with mlflow.start_run():
        mlflow.log_metric("loss", 1.0)
        mlflow.log_dict({"a": 1}, "a.json")
    print(mlflow.get_tracking_uri().startswith("file:"), mlflow.MlflowClient("databricks").tracking_uri == mlflow.get_tracking_uri())
""" + END

AMAZON = SERVER + """
    os.environ.update(AWS_ENDPOINT_URL=url, AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_DEFAULT_REGION="us-east-1")
    import boto3, pathlib
    path = pathlib.Path(__file__).with_name("weights.bin")
    path.write_bytes(bytes(20 << 20))
    store = boto3.client("s3")
    store.upload_file(str(path), "bucket", "weights.bin")
    store.delete_object(Bucket="bucket", Key="old.bin")
    print(boto3.client("sns").publish(TopicArn="arn:aws:sns:us-east-1:1:t", Message="done")["ResponseMetadata"]["HTTPStatusCode"])
    try:
        store.get_object(Bucket="bucket", Key="weights.bin")
    except store.exceptions.ClientError:
        print("read")
""" + END


def needs(library: str):
    """Skips a test without the library, which no file in `requirements` may name."""
    return unittest.skipUnless(importlib.util.find_spec(library), f"{library} is not installed")


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

    @needs("huggingface_hub")
    def test_the_hub_sees_reads_only(self):
        output = f"user/mine\ndone me/mine\n{'0' * 40}\nread\nchanges:\n"
        kinds = (("change", 1), ("upload", 2), ("removal", 1))
        self.check(HUB, output, *(("huggingface_hub", *kind) for kind in kinds))

    @needs("transformers")
    def test_models_are_not_pushed(self):
        self.check(TRANSFORMERS, f"me/mine {'0' * 40}\nchanges:\n", ("huggingface_hub", "upload", 2))

    @needs("wandb")
    def test_wandb_starts_no_run(self):
        output = "1 1.0 float\n3\n['program.py', 'run']\nchanges:\n"
        kinds = (("run", 2), ("message", 2), ("upload", 1), ("change", 2))
        self.check(WANDB, output, *(("wandb", *kind) for kind in kinds))

    @needs("mlflow")
    def test_mlflow_keeps_runs_in_a_temporary_store(self):
        self.check(MLFLOW, "True True\nchanges:\n", ("mlflow", "run", 1))

    @needs("boto3")
    def test_amazon_sees_reads_only(self):
        kinds = (("upload", 1), ("removal", 1), ("message", 1))
        self.check(AMAZON, "200\nread\nchanges:\n", *(("boto3", *kind) for kind in kinds))


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
            replacing._add(table.Row(f"oomph_probe:Copy.{name}", (), {"test": "tries"}), layer)

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
