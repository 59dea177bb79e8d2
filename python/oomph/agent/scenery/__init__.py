"""The scenery: what a program expects around it and a dry run does not have.

Weights, tokenizers and data sets that are not on this machine, and services on the network that must not hear of the run. The parts of
the agent observe; the modules here stand in.
"""

from .. import hooks, phantom


def wait_early() -> None:
    """Waits for the libraries that programs often import before torch, and from which names are imported; over a phantom GPU only."""
    if phantom.find() is not None:
        hooks.wait_for("scenery.outside", "scenery.weights.hub", "scenery.weights.network", "scenery.fetches")
