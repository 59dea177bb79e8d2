"""Whole programs on the CPU: injection, steps, the ways to end."""

import unittest

from .support import needs_torch, run_program

TRAIN = """
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    optimizer = torch.optim.AdamW(model.parameters())
    for number in range(5):
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        print(number, flush=True)
"""


class WithoutTorch(unittest.TestCase):
    """A program that never imports torch is left alone."""

    def test_nothing_is_written(self):
        ran = run_program("print('hello')")
        self.assertEqual((ran.status, ran.stdout, ran.stderr, ran.files), (0, "hello\n", "", {}))

    def test_the_users_own_sitecustomize_runs(self):
        import os
        import tempfile

        from .support import INJECT

        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "sitecustomize.py"), "w") as file:
                file.write("print('mine')\n")
            ran = run_program("import sitecustomize; print(sitecustomize.__file__)", PYTHONPATH=f"{INJECT}{os.pathsep}{folder}")
            self.assertEqual(ran.stdout, f"mine\n{file.name}\n")


# A program with finalizers in cycles, and a witness whose globals are none of the program's, which a library frees last.
CYCLES = """
    import atexit, gc, torch
    class Cycle:
        def __init__(self):
            self.itself = self
        def __del__(self):
            print("finalized")
    def generate():
        try:
            yield
        finally:
            print("closed")
    witness = {"gc": gc, "print": print}
    exec("class Witness:\\n def __del__(self): print('frozen' if gc.get_freeze_count() else 'searched')", witness)
    torch.witness = witness["Witness"]()
    own, suspended = Cycle(), generate()
    next(suspended)
    cycle = [suspended]
    cycle.append(cycle)
    atexit.register(lambda: print("handled", own is own.itself))
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters())
    for number in range(5):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
"""


@needs_torch
class Ends(unittest.TestCase):
    """Each way to end, and the record of the end."""

    def check(self, source, status, reason, steps, **variables):
        ran = run_program(source, **variables)
        self.assertEqual((ran.status, ran.end()["reason"], ran.end()["steps"]), (status, reason, steps), ran.stderr)
        self.assertEqual([len(ran.records(kind)) for kind in ("process", "end")], [1, 1])
        self.assertEqual((ran.end()["snapshot"], ran.leftovers), (None, []))
        self.assertNotIn("oomph agent", ran.stderr)
        return ran

    def test_to_the_end(self):
        ran = self.check(TRAIN, 0, "exit", 5)
        process = ran.records("process")[0]
        self.assertEqual((process["rank"], process["world_size"]), (0, 1))
        self.assertTrue(process["argv"][0].startswith(process["script_dir"]))

    def test_after_the_wanted_steps(self):
        ran = self.check(TRAIN, 0, "steps", 2, OOMPH_STEPS="2")
        self.assertEqual((ran.stdout, ran.stderr), ("0\n", ""))

    def test_finalizers_run_before_libraries_are_frozen(self):
        ran = self.check(CYCLES, 0, "steps", 2, OOMPH_STEPS="2")
        lines = ran.stdout.splitlines()
        self.assertEqual((lines[0], sorted(lines[1:3]), lines[3:]), ("handled True", ["closed", "finalized"], ["frozen"]))
        self.assertEqual(ran.stderr, "")

    def test_nothing_is_frozen_while_a_library_holds_the_program(self):
        ran = self.check(CYCLES.replace("witness =", "torch.kept = generate\n    witness =", 1), 0, "steps", 2, OOMPH_STEPS="2")
        # As without the agent: these finalizers come after `print` is gone.
        self.assertEqual(ran.stdout, "handled True\nsearched\n")

    def test_a_program_that_ends_by_itself_ends_as_ever(self):
        ran = self.check(CYCLES, 0, "exit", 5)
        self.assertEqual(sorted(ran.stdout.splitlines()), ["closed", "finalized", "handled True", "searched"])

    def test_also_when_the_program_swallows_the_stop(self):
        source = TRAIN.replace("optimizer.step()", "\n        try: optimizer.step()\n        except BaseException: print('swallowed')")
        ran = self.check(source, 0, "steps", 2, OOMPH_STEPS="2")
        self.assertEqual(ran.stdout, "0\nswallowed\n1\n")

    def test_by_its_own_exit_status(self):
        self.check("import torch, sys\nsys.exit(7)", 7, "exit", 0)

    def test_by_an_exception(self):
        ran = self.check("import torch\ndef f():\n    torch.ones(2) @ torch.ones(3)\nf()", 1, "exception", 0)
        error = ran.records("error")[0]
        self.assertEqual((error["type"], error["oom"], error["line"]), ("RuntimeError", False, 3))
        self.assertTrue(error["file"].endswith("program.py"))
        self.assertIn(error["traceback"].splitlines()[-1], ran.stderr)

    def test_by_an_interrupt(self):
        source = "import torch, os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass"
        ran = self.check(source, -2, "interrupt", 0)
        self.assertEqual(ran.records("error"), [])

    def test_by_a_signal(self):
        self.check("import torch, os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nwhile True: pass", -15, "terminated", 0)

    def test_by_the_launcher_whatever_the_program_catches(self):
        source = """
            import atexit, os, signal, torch
            atexit.register(print, "saved")
            def stop():
                os.kill(os.getpid(), 16)
            try:
                while True:
                    stop()
            except BaseException:
                print("caught")
            """
        ran = self.check(source, -9, "terminated", 0)
        self.assertEqual(ran.stdout, "")

    def test_a_stack_is_written_on_request_alone(self):
        source = """
            import os, signal, torch
            def ask():
                os.kill(os.getpid(), 23)
            ask()
            if os.fork() == 0:
                # The file is the parent's.
                ask()
                os._exit(0)
            os.wait()
            """
        ran = self.check(source, 0, "exit", 0)
        self.assertEqual([text.count("most recent call first") for text in ran.stacks], [1])
        self.assertRegex(ran.stacks[0], 'program.py", line 4 in ask')

    def test_children_end_at_sigterm_as_without_the_agent(self):
        source = """
            import multiprocessing, signal
            import torch
            def find(queue): queue.put(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
            context = multiprocessing.get_context("fork")
            queue = context.SimpleQueue()
            child = context.Process(target=find, args=(queue,))
            child.start()
            print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, queue.get())
            child.join()
        """
        self.assertEqual(self.check(source, 0, "exit", 0).stdout, "False True\n")

    def test_children_write_nothing(self):
        source = """
            import multiprocessing, os, subprocess, sys
            import torch
            def work(): torch.ones(1)
            if __name__ == "__main__":
                for method in ("fork", "spawn"):
                    child = multiprocessing.get_context(method).Process(target=work)
                    child.start()
                    child.join()
                    assert child.exitcode == 0
                subprocess.run([sys.executable, "-c", "import torch"], check=True)
        """
        ran = self.check(source, 0, "exit", 0)
        self.assertEqual(list(ran.files), ["rank0.marks.jsonl"])


@needs_torch
class Harmless(unittest.TestCase):
    """Programs that the hooks must not disturb print the same with and without the agent."""

    SOURCE = """
        import torch, torch.nn as nn
        from torch.utils.checkpoint import checkpoint
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 4))
        x = torch.randn(2, 4, requires_grad=True)
        for run in (model, torch.compile(model, backend="eager", fullgraph=True), torch.jit.trace(model, x),
                    lambda x: checkpoint(model, x, use_reentrant=True), lambda x: checkpoint(model, x, use_reentrant=False)):
            x.grad = None
            run(x).sum().backward()
            print(x.grad.sum().item())
        slope, = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        slope.pow(2).sum().backward()
        print(x.grad.sum().item())
        torch.fx.symbolic_trace(model)
        torch.save(model, "model.pt")
        model.register_full_backward_hook(lambda *_: print("user's hook"))
        model(x).sum().backward()
    """

    def test_same_answers(self):
        plain, recorded = (run_program(self.SOURCE, recorded=recorded) for recorded in (False, True))
        self.assertEqual((plain.status, plain.stderr), (0, ""))
        self.assertEqual((recorded.status, recorded.stdout, recorded.stderr), (0, plain.stdout, ""))
