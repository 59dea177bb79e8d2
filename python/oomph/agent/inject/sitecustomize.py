"""Starts oomph's agent in an unchanged program.

The launcher puts this folder first on PYTHONPATH, so Python imports this file at start-up. The agent is loaded by path under a private
name, because the name `oomph` may belong to an installed package. A `sitecustomize` of the user, further down the path, is run afterwards.

In a real run the agent waits for the program's import of torch: until then no module is loaded but those of Python's own start. This module
and this folder leave `sys.modules` and `sys.path` again; children of the program find the folder by PYTHONPATH.
"""

# Without annotations, for Python 2: its first import below fails there, and Python takes the failure for a missing module.
import _frozen_importlib
import _frozen_importlib_external
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_AGENT = os.path.dirname(_HERE)


def _load(name, *path):
    """Loads a module or package of the agent's under a private name. Only a package is entered in `sys.modules`."""
    file = os.path.join(_AGENT, *path)
    loader = _frozen_importlib_external.SourceFileLoader(name, file)
    is_package = os.path.basename(file) == "__init__.py"
    locations = [_AGENT] if is_package else None
    spec = _frozen_importlib_external.spec_from_file_location(name, file, loader=loader, submodule_search_locations=locations)
    module = _frozen_importlib.module_from_spec(spec)
    if is_package:
        sys.modules[name] = module
    loader.exec_module(module)
    return module


def _load_agent():
    """The package above this folder, as `_oomph_agent`."""
    return _load("_oomph_agent", "__init__.py")


def _record_after_torch():
    """Waits for the import of torch. The program may change its environment before."""
    folder = os.environ["OOMPH_RUN"]
    finder = _load("_oomph_finder", "hooks", "finder.py")
    sys.meta_path.insert(0, finder.Finder("torch", lambda: _record(folder)))


def _record(folder):
    try:
        agent = _load_agent()
    except OSError:
        # The program has changed its root or its user, and the agent's files are out of reach. The program runs on unrecorded.
        return
    agent.record(folder)


def _forget_here():
    """Takes this folder out of the search path."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    sys.path_importer_cache.pop(_HERE, None)


def _run_the_users_own():
    """Runs the `sitecustomize` that Python would have found otherwise; Python reports its errors."""
    spec = _frozen_importlib_external.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        # Python takes this error for a missing module: nothing is printed, and this module is dropped.
        raise ImportError("no sitecustomize but oomph's", name="sitecustomize")
    module = _frozen_importlib.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("OOMPH_SERVE"):
    _load_agent().serve()
if os.environ.get("OOMPH_RUN_DIR"):
    # In a child of a fork server the agent is loaded.
    (sys.modules.get("_oomph_agent") or _load_agent()).start()
elif os.environ.get("OOMPH_REMEDIES") and os.environ.get("OOMPH_RUN"):
    # Some remedies change the program before it imports torch.
    _load_agent().record(os.environ["OOMPH_RUN"])
elif os.environ.get("OOMPH_RUN"):
    _record_after_torch()
_forget_here()
_run_the_users_own()
