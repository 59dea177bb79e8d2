"""Starts oomph's agent in an unchanged program.

The launcher puts this folder first on PYTHONPATH, so Python imports this file at start-up. The agent is loaded by path under a private
name, because the name `oomph` may belong to an installed package. A `sitecustomize` of the user, further down the path, is run afterwards.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load_agent():
    """The package above this folder, as `_oomph_agent`."""
    folder = os.path.dirname(_HERE)
    init = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("_oomph_agent", init, submodule_search_locations=[folder])
    agent = importlib.util.module_from_spec(spec)
    sys.modules["_oomph_agent"] = agent
    spec.loader.exec_module(agent)
    return agent


def _run_the_users_own():
    """Runs the `sitecustomize` that Python would have found otherwise; Python reports its errors."""
    path = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_agent = _load_agent() if any(os.environ.get(name) for name in ("OOMPH_RUN_DIR", "OOMPH_SERVE", "OOMPH_RUN")) else None
if os.environ.get("OOMPH_SERVE"):
    _agent.serve()
if os.environ.get("OOMPH_RUN_DIR"):
    _agent.start()
elif os.environ.get("OOMPH_RUN"):
    _agent.record()
_run_the_users_own()
