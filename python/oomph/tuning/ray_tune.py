"""Ray Tune: a searcher for fitting configurations only, and a trial's share of a GPU."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from ..command import OomphError
from .need import Need, Needs

try:
    from ray.tune import PlacementGroupFactory
    from ray.tune.search import Searcher
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"oomph.tuning.ray_tune needs Ray Tune: `pip install 'ray[tune]'` ({error})", name=error.name) from error

__all__ = ["FittingSearcher", "TooManySkips", "place", "resources"]

_LOGGER = logging.getLogger(__name__)


class TooManySkips(RuntimeError):
    """A search proposed only configurations that do not fit."""


class FittingSearcher(Searcher):
    """Wraps a searcher, and suggests only configurations that fit the GPU.

    To the wrapped searcher a skipped configuration is a failed trial; with `skipped_result`, such as `{"loss": 10.0}`, a completed trial with this
    result. Optuna's samplers learn nothing from failed trials, and a bad result steers them away. If the dry run itself fails, the
    configuration is suggested with a warning, and its trial shows the error. `suggest` takes the seconds of a dry run for a new configuration.
    """

    def __init__(self, searcher: Searcher, needs: Needs, *, most_skips: int = 100, skipped_result: Mapping[str, Any] | None = None) -> None:
        """`most_skips` is the number of configurations skipped in a row that ends the search with `TooManySkips`."""
        super().__init__(metric=searcher.metric, mode=searcher.mode)
        self.searcher = searcher
        self._needs = needs
        self._most_skips = most_skips
        self._skipped_result = skipped_result
        # The names of Tune's trials for the wrapped searcher: OptunaSearch repeats its suggestion for a known name.
        self._inner_ids: dict[str, str] = {}
        #: The number of skipped configurations.
        self.skipped = 0

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Passes the metric and the space on; see `Searcher`."""
        is_set = self.searcher.set_search_properties(metric, mode, config, **spec)
        self._metric, self._mode = self.searcher.metric, self.searcher.mode
        return is_set

    def suggest(self, trial_id: str) -> Any:
        """Returns the next fitting configuration, or `None` or `FINISHED` of the wrapped searcher.

        Raises `TooManySkips` after `most_skips` skips in a row, and `OomphError` for bad settings.
        """
        summary = ""
        for skip in range(self._most_skips):
            inner_id = f"{trial_id}-{skip}" if skip else trial_id
            config = self.searcher.suggest(inner_id)
            if not isinstance(config, dict):
                return config
            problem = self._find_problem(config)
            if problem is None:
                self._inner_ids[trial_id] = inner_id
                return config
            summary = problem
            self._skip(inner_id, config, summary)
        raise TooManySkips(
            f"{self._most_skips} configurations in a row do not fit; the last: {summary}\n"
            "hint: make the search space smaller, or pass skipped_result= so that the searcher learns from them"
        )

    def _find_problem(self, config: Mapping[str, Any]) -> str | None:
        """The reason for a skip; `None` without a reason."""
        try:
            need = self._needs.find(config)
        except OomphError as error:
            # The program asks for more memory than any device has.
            if error.kind == "program_ran_out":
                return error.message
            if error.kind != "program_failed":
                raise
            _LOGGER.warning("no dry run of %s: %s", config, error.message)
            return None
        return None if need.fits else need.summary

    def _skip(self, inner_id: str, config: Mapping[str, Any], summary: str) -> None:
        self.skipped += 1
        _LOGGER.info("skipped %s: %s", config, summary)
        if self._skipped_result is None:
            self.searcher.on_trial_complete(inner_id, error=True)
        else:
            self.searcher.on_trial_complete(inner_id, result=dict(self._skipped_result))

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Passes a result on."""
        self.searcher.on_trial_result(self._inner_ids.get(trial_id, trial_id), result)

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Passes the end of a trial on."""
        self.searcher.on_trial_complete(self._inner_ids.pop(trial_id, trial_id), result=result, error=error)

    def add_evaluated_point(self, *args: Any, **keywords: Any) -> None:
        """Passes a known result on."""
        self.searcher.add_evaluated_point(*args, **keywords)

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Passes the limit on."""
        return self.searcher.set_max_concurrency(max_concurrent)

    def get_state(self) -> dict[str, Any]:
        """The state of the wrapper; Tune saves the wrapped searcher by itself."""
        return {"inner_ids": dict(self._inner_ids), "skipped": self.skipped}

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes a state of `get_state`."""
        self._inner_ids, self.skipped = dict(state["inner_ids"]), state["skipped"]

    def save(self, checkpoint_path: str) -> None:
        """Writes the wrapped searcher's state into a file."""
        self.searcher.save(checkpoint_path)

    def restore(self, checkpoint_path: str) -> None:
        """Reads the wrapped searcher's state."""
        self.searcher.restore(checkpoint_path)


def resources(needs: Needs, config: Mapping[str, Any], *, cpus: float = 1, gpus: int = 1, shares: bool = True) -> dict[str, float]:
    """Returns the resources of a trial, such as `{"cpu": 1, "gpu": 0.13}`.

    The share of the GPU is the need divided by the device's memory, rounded up to 1/100: the trials on one GPU need at most its memory together.
    The whole GPU goes to a trial with `shares=False`, and to a trial that fits only so far, or only by a release of PyTorch's cache, or not at all.
    A program on several `gpus` takes whole GPUs. Raises `OomphError` as `Needs.find` does, and `ValueError` for a program of several ranks with
    `gpus=1`.
    """
    need = needs.find(config)
    if gpus == 1 and need.ranks > 1:
        raise ValueError(f"the program has {need.ranks} ranks: give gpus= as the number of GPUs of a trial")
    is_shared = shares and gpus == 1
    return {"cpu": cpus, "gpu": _measure_share(need) if is_shared else float(gpus)}


def _measure_share(need: Need) -> float:
    if need.verdict != "fits" or need.spare_bytes < 0:
        return 1.0
    # In integers: a float division could round down a share that is just above a hundredth.
    hundredths = -(-100 * need.need_bytes // need.capacity_bytes)
    return hundredths / 100


def place(needs: Needs, *, cpus: float = 1, gpus: int = 1, shares: bool = True) -> Callable[[Mapping[str, Any]], PlacementGroupFactory]:
    """Returns a function for `tune.with_resources(train, place(needs))`: a trial asks for its share of the GPU."""

    def make_bundle(config: Mapping[str, Any]) -> PlacementGroupFactory:
        asked = resources(needs, config, cpus=cpus, gpus=gpus, shares=shares)
        return PlacementGroupFactory([{name.upper(): count for name, count in asked.items() if count}])

    return make_bundle
