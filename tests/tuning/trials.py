"""Cases of Ray Tune: skipped configurations, and the resources of real trials."""

import math
from pathlib import Path

import suite
from sizes import SETTINGS, make_needs
from studies import import_optuna

# 3,072 MiB and more do not fit 2 GiB.
SIZES = [4096, 256, 3072, 5120, 512]
FITTING = [256, 512]


def import_searcher():
    """Ray's base class of searchers; skips the case without Ray Tune."""
    try:
        from ray.tune.search import Searcher
    except ModuleNotFoundError as error:
        raise suite.Skip("needs ray[tune]") from error
    return Searcher


def make_searcher(sizes: list[int]):
    """A searcher with a list of sizes and a record of its ended trials."""
    base = import_searcher()

    class ListSearcher(base):
        def __init__(self):
            super().__init__(metric="loss", mode="min")
            self.left, self.ends, self.ids = list(sizes), [], []

        def suggest(self, trial_id):
            self.ids.append(trial_id)
            return {"mib": self.left.pop(0)} if self.left else base.FINISHED

        def on_trial_complete(self, trial_id, result=None, error=False):
            self.ends.append((trial_id, result, error))

        def save(self, checkpoint_path):
            Path(checkpoint_path).write_text(",".join(map(str, self.left)), encoding="utf-8")

        def restore(self, checkpoint_path):
            self.left = [int(mib) for mib in Path(checkpoint_path).read_text(encoding="utf-8").split(",")]

    return ListSearcher()


def skip() -> str:
    """a searcher passes fitting sizes on, ends the others under new names, and goes on from a saved state"""
    base = import_searcher()
    from oomph.tuning.ray_tune import FittingSearcher, TooManySkips

    needs, inner = make_needs(), make_searcher([*SIZES, -1])
    searcher = FittingSearcher(inner, needs)
    assert searcher.suggest("a") == {"mib": 256}
    assert inner.ends == [("a", None, True)] and inner.ids == ["a", "a-1"], inner.ends
    searcher.save("inner")
    again = FittingSearcher(make_searcher([1]), needs)
    again.restore("inner")
    again.set_state(searcher.get_state())
    assert again.suggest("b") == {"mib": 512} and again.skipped == 3, again.skipped
    again.on_trial_complete("a", {"loss": 1.0})
    assert again.searcher.ends[-1] == ("a-1", {"loss": 1.0}, False), again.searcher.ends
    # A program that fails is passed on, and its trial shows the error.
    assert again.suggest("c") == {"mib": -1}
    assert again.suggest("d") == base.FINISHED
    limited = FittingSearcher(make_searcher([3072] * 3), needs, most_skips=2, skipped_result={"loss": 9.0})
    try:
        limited.suggest("a")
        raise AssertionError("a search without a fitting configuration did not end")
    except TooManySkips as error:
        assert "2 configurations in a row do not fit" in str(error) and "does not fit" in str(error), error
    assert limited.searcher.ends == [("a", {"loss": 9.0}, False), ("a-1", {"loss": 9.0}, False)], limited.searcher.ends
    return f"{len(needs)} dry runs"


def share() -> str:
    """a share is the need by the memory, rounded up to 1/100, and 1 for an unsure need"""
    import_searcher()
    import pickle

    from oomph.tuning import Need, Needs
    from oomph.tuning.ray_tune import place, resources

    gib = 1 << 30
    # Need and spare in bytes, verdict, share.
    rows = [
        (gib, 3 * gib, "fits", 0.25), (gib + 1, 3 * gib - 1, "fits", 0.26), (100, 0, "fits", 1.0), (1, 10**12, "fits", 0.01),
        (gib, 3 * gib, "fits_so_far", 1.0), (2 * gib, -gib, "fits", 1.0), (8 * gib, -4 * gib, "oom", 1.0),
    ]  # fmt: skip
    for need_bytes, spare_bytes, verdict, expected in rows:
        needs = Needs(["train.py"])
        needs._known[("train.py",)] = Need(need_bytes, spare_bytes, verdict, "")
        assert resources(needs, {}, cpus=2) == {"cpu": 2, "gpu": expected}, (need_bytes, resources(needs, {}))
        assert resources(needs, {}, shares=False)["gpu"] == 1.0 and resources(needs, {}, gpus=4)["gpu"] == 4.0
        assert place(needs)({}).required_resources == {"CPU": 1, "GPU": expected}
    needs._known[("train.py",)] = Need(gib, gib, "fits", "", ranks=2)
    try:
        resources(needs, {})
        raise AssertionError("two ranks share a GPU")
    except ValueError as error:
        assert "the program has 2 ranks" in str(error), error
    assert pickle.loads(pickle.dumps(needs)).find({}).ranks == 2
    return f"{len(rows)} needs"


def tune() -> str:
    """Ray Tune starts only fitting trials of OptunaSearch, each with its share of the GPU"""
    import_searcher()
    optuna = import_optuna()
    import ray
    from oomph.tuning.ray_tune import FittingSearcher, place
    from ray import tune as ray_tune
    from ray.tune.search.optuna import OptunaSearch

    needs = make_needs()
    sampler = optuna.samplers.GridSampler({"mib": SIZES}, seed=0)
    searcher = FittingSearcher(OptunaSearch(sampler=sampler), needs)

    def train(config):
        import ray

        shares = ray.get_runtime_context().get_assigned_resources()
        return {"loss": float(config["mib"]), "share": shares["GPU"]}

    # The GPU is a number to Ray: no trial touches one.
    ray.init(num_cpus=2, num_gpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        config = ray_tune.TuneConfig(search_alg=searcher, metric="loss", mode="min", num_samples=len(FITTING), max_concurrent_trials=1)
        run = ray_tune.RunConfig(storage_path=str(Path.cwd() / "results"), verbose=0)
        space = {"mib": ray_tune.choice(SIZES)}
        found = ray_tune.Tuner(ray_tune.with_resources(train, place(needs)), tune_config=config, run_config=run, param_space=space).fit()
    finally:
        ray.shutdown()
    assert not found.errors, found.errors
    shares = {result.config["mib"]: result.metrics["share"] for result in found}
    expected = {mib: math.ceil(100 * needs.find({"mib": mib}).need_bytes / SETTINGS["capacity"]) / 100 for mib in FITTING}
    assert shares == expected, (shares, expected)
    return f"shares {shares}, {searcher.skipped} skipped"
