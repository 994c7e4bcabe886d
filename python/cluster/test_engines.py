"""Real engines: the same bits on each, workers and drivers that are killed, checkpoints that are damaged, commits that
come late or twice, stragglers, workers that lack the package."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import dask.bag as bags
import numpy as np
import pytest
from conftest import KillingDask, KillingRay, words
from ray import cloudpickle as ray_pickle

from maxmargin import ChainSVM, MulticlassSVM, StructuredSVM
from maxmargin.distributed import ClusterError, DaskBackend, RayBackend, SerialBackend

# Workers do not have this file.
ray_pickle.register_pickle_by_value(sys.modules[__name__])

X, Y = words()
GIVEN = {"lam": 0.05, "tol": 1e-3}


@pytest.fixture(scope="module")
def alone():
    return ChainSVM(**GIVEN).fit(X, Y)


def check(model, alone):
    """What must hold after whatever has happened."""
    assert model.status_ == "converged" and model.certificate_.gap <= GIVEN["tol"]
    assert abs(model.certificate_.dual - alone.certificate_.dual) <= 2 * GIVEN["tol"]
    # The weights are those of the blocks, the blocks are a point of the problem, and the gap is as claimed.
    assert model.verify(X, Y) == []


def test_engines_have_the_same_bits(ray, dask, alone):
    serial = ChainSVM(**GIVEN, backend=SerialBackend(num_workers=2)).fit(X, Y)
    for backend in (RayBackend(num_workers=2), DaskBackend(num_workers=2)):
        model = ChainSVM(**GIVEN, backend=backend).fit(X, Y)
        check(model, alone)
        assert (model.coef_ == serial.coef_).all()
    one = ChainSVM(**GIVEN, backend=RayBackend(num_workers=1)).fit(X, Y)
    assert (one.coef_ == alone.coef_).all()


@pytest.mark.parametrize(
    ("method", "moment"),
    [
        ("about", "before"),
        ("start", "during"),
        ("propose", "before"),
        ("propose", "during"),
        ("commit", "before"),
        ("commit", "during"),
        ("commit", "after"),
        ("check", "during"),
        ("dual", "before"),
    ],
)
def test_workers_of_ray_are_killed(ray, alone, method, moment, tmp_path):
    at = 2 if method in ("propose", "commit") else 1
    plan = {(method, at, 1): moment}
    backend = KillingRay(num_workers=2, checkpoint=str(tmp_path), plan=plan)
    model = ChainSVM(**GIVEN, backend=backend).fit(X, Y)
    assert backend.killed == 1
    check(model, alone)


@pytest.mark.parametrize(
    ("method", "moment"),
    [("propose", "during"), ("commit", "before"), ("commit", "after"), ("check", "before")],
)
def test_workers_of_dask_are_killed(dask, alone, method, moment, tmp_path):
    at = 2 if method in ("propose", "commit") else 1
    plan = {(method, at, 1): moment}
    backend = KillingDask(num_workers=2, checkpoint=str(tmp_path), plan=plan)
    model = ChainSVM(**GIVEN, backend=backend).fit(X, Y)
    assert backend.killed == 1
    check(model, alone)


def test_all_workers_are_killed_without_a_checkpoint(ray, alone):
    backend = KillingRay(num_workers=2, plan={("commit", 2, k): "before" for k in range(2)})
    model = ChainSVM(**GIVEN, backend=backend).fit(X, Y)
    assert backend.killed == 2
    check(model, alone)


def test_a_damaged_checkpoint_is_not_used(ray, alone, tmp_path):
    def damage(shard):
        file = tmp_path / f"shard-{shard + 1}-of-2.mmshard"
        file.write_bytes(file.read_bytes()[:-3])

    plan = {("propose", 2, 1): "before"}
    backend = KillingRay(num_workers=2, checkpoint=str(tmp_path), plan=plan, hook=damage)
    model = ChainSVM(**GIVEN, backend=backend).fit(X, Y)
    assert backend.killed == 1
    check(model, alone)


def loader(start):
    def load():
        rng = np.random.default_rng(start)
        X = rng.normal(size=(20, 4))
        # The last label is in the second part only.
        return X, [
            ("up" if row[0] > 0 else "down") if start == 0 or row[1] > 0 else "on" for row in X
        ]

    return load


def test_workers_load_the_examples_of_other_models(ray, dask):
    loads = [loader(0), loader(1)]
    parts = [load() for load in loads]
    X, y = np.concatenate([X for X, _ in parts]), [label for _, own in parts for label in own]
    given = {**GIVEN, "standardise": False}
    serial = MulticlassSVM(**given, backend=SerialBackend(num_workers=2)).fit(loads)
    assert serial.verify(X, y) == [] and list(serial.classes_) == ["down", "on", "up"]
    for backend in (RayBackend(num_workers=2), DaskBackend(num_workers=2)):
        model = MulticlassSVM(**given, backend=backend).fit(loads)
        assert (model.coef_ == serial.coef_).all() and model.verify(X, y) == []
    plan = {("names", 1, 1): "before", ("propose", 2, 0): "during"}
    backend = KillingRay(num_workers=2, plan=plan)
    model = MulticlassSVM(**given, backend=backend).fit(loads)
    assert backend.killed == 2 and model.verify(X, y) == []
    items = [{"x": row, "y": label} for row, label in zip(X, y, strict=True)]
    data = ray.data.from_items(items, override_num_blocks=2)
    model = MulticlassSVM(**given, backend=RayBackend(num_workers=2)).fit(data)
    assert model.status_ == "converged" and model.verify(X, y) == []
    bag = bags.from_sequence([(row, label) for row, label in zip(X, y, strict=True)], npartitions=2)
    model = MulticlassSVM(**given, backend=DaskBackend(num_workers=2)).fit(bag)
    assert model.status_ == "converged" and model.verify(X, y) == []


class Repeating(RayBackend):
    """Sends every commit twice, and that of the round before once more."""

    def start(self, sources):
        super().start(sources)
        self.last = {}

    def call(self, shard, method, *arguments):
        if method == "commit":
            super().answer(super().call(shard, method, *arguments))
            if shard in self.last:
                super().answer(super().call(shard, method, *self.last[shard]))
            self.last[shard] = arguments
        return super().call(shard, method, *arguments)


def test_commits_that_come_late_or_twice_change_nothing(ray, alone):
    serial = ChainSVM(**GIVEN, backend=SerialBackend(num_workers=2)).fit(X, Y)
    model = ChainSVM(**GIVEN, backend=Repeating(num_workers=2)).fit(X, Y)
    check(model, alone)
    assert (model.coef_ == serial.coef_).all()


class Slow:
    """Finds the best of a few rows; some examples take their time."""

    def decode(self, x, y, w, loss_augmented):
        rows, pause = x
        time.sleep(pause)
        score = rows @ w
        if loss_augmented:
            score = score + (np.arange(len(rows)) != y)
        return int(np.argmax(score))

    def features(self, x, y):
        return x[0][y]

    def loss(self, y, y_hat):
        return float(y != y_hat)


def test_a_straggler_is_waited_for(ray):
    rng = np.random.default_rng(1)
    inputs = [(rng.normal(size=(4, 3)), 0.0 if at < 10 else 0.002) for at in range(20)]
    truth = [int(np.argmax(rows @ [1.0, -1.0, 0.5])) for rows, _ in inputs]
    given = {"lam": 0.1, "tol": 0.01}
    serial = StructuredSVM(Slow(), **given, backend=SerialBackend(num_workers=2)).fit(inputs, truth)
    model = StructuredSVM(Slow(), **given, backend=RayBackend(num_workers=2)).fit(inputs, truth)
    assert (model.coef_ == serial.coef_).all() and model.verify(inputs, truth) == []


def test_datasets_and_bags_are_loaded_by_workers(ray, dask):
    import dask.bag

    items = [([1.0, float(at % 2)], at % 2) for at in range(12)]
    bag = dask.bag.from_sequence(items, npartitions=3)
    rows = ray.data.from_items([{"x": x, "y": y} for x, y in items]).repartition(3)
    given = {"lam": 0.1, "tol": 0.01}
    found = [
        StructuredSVM(Signs(), **given, backend=DaskBackend(num_workers=2)).fit(bag),
        StructuredSVM(Signs(), **given, backend=RayBackend(num_workers=2)).fit(rows),
    ]
    alone = StructuredSVM(Signs(), **given).fit(*zip(*items, strict=True))
    for model in found:
        assert abs(model.certificate_.dual - alone.certificate_.dual) <= 0.02


class Signs:
    def decode(self, x, y, w, loss_augmented):
        score = np.array([0.0, np.dot(x, w)])
        if loss_augmented:
            score = score + (np.arange(2) != y)
        return int(np.argmax(score))

    def features(self, x, y):
        return np.asarray(x) * y

    def loss(self, y, y_hat):
        return float(y != y_hat)


def test_a_driver_that_was_killed_goes_on(ray, alone, tmp_path):
    script = f"""
        import sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        import ray
        from conftest import words
        from maxmargin import ChainSVM
        from maxmargin.distributed import RayBackend
        ray.init(num_cpus=3, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False,
                 object_store_memory=100 * 2**20)
        backend = RayBackend(num_workers=2, checkpoint={str(tmp_path)!r}, local_passes=1)
        ChainSVM(lam=0.05, tol=1e-12, max_passes=10**6, backend=backend).fit(*words())
    """
    program = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])
    until = time.monotonic() + 120
    while len(list(tmp_path.glob("*.mmshard"))) < 2:
        assert program.poll() is None and time.monotonic() < until
        time.sleep(0.1)
    program.send_signal(signal.SIGKILL)
    program.wait()
    time.sleep(1.0)
    backend = RayBackend(num_workers=2, checkpoint=str(tmp_path))
    model = ChainSVM(**GIVEN, backend=backend).fit(X, Y)
    assert model.rounds_[0]["round"] > 1
    check(model, alone)


def test_a_worker_without_the_package_is_named(ray, tmp_path):
    broken = tmp_path / "maxmargin"
    broken.mkdir()
    (broken / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'maxmargin'\")\n"
    )
    options = {"runtime_env": {"env_vars": {"PYTHONPATH": str(tmp_path)}}}
    backend = RayBackend(num_workers=2, actor_options=options)
    with pytest.raises(ClusterError, match="is maxmargin installed on all machines"):
        ChainSVM(**GIVEN, backend=backend).fit(X, Y)
