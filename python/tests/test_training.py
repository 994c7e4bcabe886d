"""How a run goes: settings, history, limits, progress, interrupts, validation."""

import gc
import logging
import os
import signal
import threading
import time
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from maxmargin import (
    BinarySVM,
    ChainSVM,
    ConvergenceWarning,
    MatchingSVM,
    MulticlassSVM,
    MultilabelSVM,
    PottsSVM,
    TreeSVM,
)


def test_the_history_has_one_row_a_pass(sequences):
    X, y = sequences
    model = ChainSVM(lam=0.01, tol=0.01, order="uniform", options={"gap_every": 2}).fit(X, y)
    rows = model.history_
    assert len(rows) == model.n_iter_ and rows["passes"].tolist() == list(range(1, len(rows) + 1))
    known = rows[~np.isnan(rows["gap"])]
    assert (known["passes"] % 2 == 0).all() and len(known) == len(rows) // 2
    assert known["gap"][-1] == model.certificate_.gap
    assert np.allclose(known["primal"] - known["dual"], known["gap"])
    assert (np.diff(rows["dual"]) >= -1e-12).all()
    assert model.totals_["oracle_calls"] == rows["oracle_calls"][-1]


def test_a_diagnosis_tells_the_constants_of_the_theorems(sequences):
    X, y = sequences
    settings = {"lam": 0.01, "solver": "bcfw", "max_passes": 6, "tol": 0.0}
    own = {"diagnose": True, "gap_every": 2}
    plain = ChainSVM(**settings, order="uniform", options=own).fit(X, y)
    theory = plain.theory_
    assert theory["curvature"] <= 4 * theory["radius"] ** 2 / 0.01 * (1 + 1e-12)
    assert 0 < theory["start_gap"] <= theory["largest_loss"]
    known = plain.history_[~np.isnan(plain.history_["gap"])]
    assert (np.minimum.accumulate(known["gap"]) <= known["bound"]).all()
    assert np.isnan(known["cache_hits"]).all()

    pairs = ChainSVM(**settings, order="gap", direction="pairwise", cache="on", options=own).fit(
        X, y
    )
    rows = pairs.history_[~np.isnan(pairs.history_["gap"])]
    assert (rows["pairwise_gap"] >= rows["gap"]).all() and np.isnan(rows["bound"]).all()
    assert (rows["cache_active"] <= rows["cache_corners"]).all() and (
        rows["cache_active"] >= len(X)
    ).all()
    assert (rows["cache_local_hits"] <= rows["cache_hits"]).all()
    assert ChainSVM(**settings).fit(X, y).theory_ is None


@pytest.mark.parametrize(
    "parts",
    [
        {"solver": "fw"},
        {"order": "uniform"},
        {"order": "gap", "direction": "pairwise", "cache": "on"},
        {"order": "cyclic", "direction": "away"},
        {"direction": "corrective"},
        {"options": {"average": "weighted"}, "solver": "bcfw"},
    ],
)
def test_every_combination_comes_to_the_same_optimum(sequences, parts):
    X, y = sequences
    best = ChainSVM(lam=0.1, tol=1e-6).fit(X, y).certificate_
    model = ChainSVM(lam=0.1, tol=2e-3, max_passes=3000, **parts).fit(X, y)
    assert model.certificate_.gap <= 2e-3
    assert best.dual - 1e-6 <= model.certificate_.primal <= best.primal + 2e-3


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(sequences):
    X, y = sequences
    one = ChainSVM(lam=0.01, random_state=3, order="uniform").fit(X, y)
    two = ChainSVM(lam=0.01, random_state=3, order="uniform", n_jobs=2).fit(X, y)
    other = ChainSVM(lam=0.01, random_state=4, order="uniform").fit(X, y)
    assert np.array_equal(one.coef_, two.coef_) and not np.array_equal(one.coef_, other.coef_)
    assert all(map(np.array_equal, one.predict(X), two.predict(X)))
    assert all(map(np.array_equal, one.decision_function(X), two.decision_function(X)))
    assert one.score(X, y) == two.score(X, y)
    assert np.array_equal(
        ChainSVM(random_state=np.random.RandomState(5)).fit(X, y).coef_,
        ChainSVM(random_state=np.random.RandomState(5)).fit(X, y).coef_,
    )


def test_rows_with_one_label_keep_bounds_and_are_still_proven_optimal(rng):
    X = rng.normal(size=(40, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=40) > 0, 2, 7)
    for model in (BinarySVM, MulticlassSVM):
        free = model(lam=0.05, tol=1e-4, order="permutation").fit(X, y)
        own = {"weights": (0, None), "bias": (-0.1, 0.1)}
        kept = model(lam=0.05, tol=1e-4, order="permutation", bounds=own).fit(X, y)
        assert free.coef_.min() < 0 <= kept.coef_.min()
        assert np.abs(kept.intercept_).max() <= 0.1
        assert kept.certificate_.gap <= 1e-4
        assert kept.certificate_.primal > free.certificate_.dual
        assert kept.verify(X, y) == []
        with pytest.raises(ValueError, match="edges"):
            model(bounds={"edges": (0, 1)}).fit(X, y)
    # The mean hinge and half the length of the weights, of the best of many points within the bounds.
    sign, lam = np.where(y == 7, 1.0, -1.0), 0.05
    kept = BinarySVM(lam=lam, tol=1e-5, fit_intercept=False, bounds=(0, 0.4)).fit(X, y)
    points = rng.uniform(0, 0.4, size=(5000, 3))
    hinge = np.maximum(0, 1 - sign[:, None] * (X @ points.T)).mean(axis=0)
    assert (hinge + lam / 2 * (points**2).sum(axis=1)).min() >= kept.certificate_.dual


def test_a_limit_is_a_warning_with_the_true_gap(sequences):
    X, y = sequences
    with pytest.warns(ConvergenceWarning, match="max-passes.*raise max_passes"):
        model = ChainSVM(lam=1e-3, tol=1e-9, max_passes=2).fit(X, y)
    assert model.status_ == "max-passes" and model.certificate_.gap > 1e-9 and model.n_iter_ == 2
    assert model.verify(X, y) == []


def test_callbacks_see_every_pass_and_can_stop(sequences):
    X, y = sequences
    seen = []

    def stop_after_three(row):
        seen.append(row["passes"])
        return len(seen) < 3

    model = ChainSVM(lam=1e-3, tol=0, callback=stop_after_three).fit(X, y)
    assert model.status_ == "stopped" and seen[:3] == [1, 2, 3] and model.n_iter_ == 3

    model.set_params(callback=lambda row: np.bool_(row["passes"] < 2)).fit(X, y)
    assert model.status_ == "stopped" and model.n_iter_ == 2

    def fail(row):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        ChainSVM(callback=fail).fit(X, y)


def test_progress_and_logging(sequences, capsys, caplog):
    X, y = sequences
    ChainSVM(lam=0.01, verbose=1).fit(X, y)
    ChainSVM(lam=0.01, verbose=2).fit(X, y)
    assert "gap" in capsys.readouterr().out
    with caplog.at_level(logging.DEBUG, logger="maxmargin"):
        ChainSVM(lam=0.01).fit(X, y)
    assert "converged" in caplog.text and "pass 1" in caplog.text


def long_run(rng):
    X = [rng.normal(size=(20, 30)) for _ in range(300)]
    return X, [rng.integers(8, size=20) for _ in X]


def press_ctrl_c_at(passes):
    """A callback that presses ctrl-C after some passes, once: a second ctrl-C does not wait for the model."""
    pressed = []

    def press(row):
        if row["passes"] >= passes and not pressed:
            pressed.append(row)
            os.kill(os.getpid(), signal.SIGINT)

    return press


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_raises_when_the_model_is_safe(rng):
    X, y = long_run(rng)
    model = ChainSVM(lam=1e-6, tol=0.0, max_passes=10**6, callback=press_ctrl_c_at(2))
    with pytest.raises(KeyboardInterrupt, match="the model so far"):
        model.fit(X, y)
    assert model.status_ == "interrupted" and len(model.predict(X[:1])[0]) == 20
    assert np.isfinite(model.certificate_.gap) and model.verify(X, y) == []


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_keeps_the_model_if_asked_to(rng):
    X, y = long_run(rng)
    model = ChainSVM(lam=1e-6, tol=0.0, max_passes=10**6, on_interrupt="keep")
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.set_params(callback=press_ctrl_c_at(2)).fit(X, y)
    assert model.status_ == "interrupted" and model.verify(X, y) == []
    with pytest.raises(ValueError, match="known are 'raise' and 'keep'"):
        ChainSVM(on_interrupt="ignore").fit(X[:2], y[:2])


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("search", ["grid", "cross"])
def test_ctrl_c_stops_searches(rng, search):
    X, y = long_run(rng)
    begun = []

    class Counting(ChainSVM):
        def fit(self, X, y, **extra):
            begun.append(self.lam)
            self.callback = press_ctrl_c_at(2)
            return super().fit(X, y, **extra)

    model = Counting(tol=0.0, max_passes=10**6)
    with pytest.raises(KeyboardInterrupt):
        if search == "grid":
            GridSearchCV(model, {"lam": [1e-6, 1e-7]}, cv=KFold(3)).fit(X, y)
        else:
            cross_val_score(model.set_params(lam=1e-6), X, y, cv=KFold(3))
    assert begun == [1e-6]


def test_other_threads_go_on_while_training(rng):
    X = [rng.normal(size=(20, 30)) for _ in range(200)]
    y = [rng.integers(8, size=20) for _ in X]
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    before = counts[0]
    with pytest.warns(ConvergenceWarning):
        ChainSVM(lam=1e-6, tol=0.0, max_seconds=0.3).fit(X, y)
    during = counts[0] - before
    done.set()
    other.join()
    assert during > 10  # it would be none or two if the lock were held


def test_validation_and_early_stopping(rng):
    X = [rng.normal(size=(5, 20)) for _ in range(60)]
    y = [np.where(t[:, 0] + rng.normal(size=5) > 0, "a", "b") for t in X]
    model = ChainSVM(lam=1e-4, tol=0.0, patience=3, options={"gap_every": 1}).fit(X, y)
    assert model.status_ == "patience" and 0 <= model.validation_error_ <= 1
    known = model.history_["validation"]
    assert np.nanmin(known) == model.validation_error_
    assert model.verify(X, y) == []  # the part held out is known
    own = ChainSVM(lam=1e-4, tol=0.0, patience=3, options={"gap_every": 1})
    own.fit(X[:40], y[:40], validation=(X[40:], y[40:]))
    assert own.validation_error_ == pytest.approx(1 - own.score(X[40:], y[40:]))
    share = ChainSVM(lam=0.1, validation=0.5).fit(X, y)
    assert share.validation_error_ is not None
    with pytest.raises(ValueError, match="validation is 2"):
        ChainSVM(validation=2.0).fit(X, y)


def test_at_most_one_copy_of_the_data():
    # Python's own memory is traced; the native half keeps its copy elsewhere.
    X = np.random.default_rng(0).normal(size=(20_000, 50)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    sparse = sp.csr_matrix(X)
    for data in (X, sparse):
        tracemalloc.start()
        with pytest.warns(ConvergenceWarning):
            BinarySVM(lam=1.0, max_passes=1, tol=0).fit(data, y)
        with pytest.warns(ConvergenceWarning):
            MultilabelSVM(lam=1.0, max_passes=1, tol=0).fit(data, np.stack([y, 1 - y], axis=1))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 0.8 * X.nbytes, most


def test_at_most_one_copy_of_graphs_trees_and_pairs():
    rng = np.random.default_rng(0)
    line = np.stack([np.arange(199), np.arange(1, 200)], axis=1)
    nodes = [rng.normal(size=(200, 60)).astype(np.float32) for _ in range(30)]
    graphs = [(own, line) for own in nodes]
    maps = [rng.normal(size=(2, 30, 10, 10)).astype(np.float32) for _ in range(60)]
    tables = [rng.normal(size=(10, 10, 60)).astype(np.float32) for _ in range(60)]
    few = {"lam": 1.0, "max_passes": 1, "tol": 0.0}
    for size, model, X, y in [
        (30 * 200 * 60, PottsSVM(**few), graphs, [(own[:, 0] > 0).astype(int) for own in nodes]),
        (60 * 6000, TreeSVM(parents=[None, 0], **few), maps, [[(0, 0), (1, 1)]] * 60),
        (60 * 6000, MatchingSVM(**few), tables, [[(0, 0)]] * 60),
    ]:
        tracemalloc.start()
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 0.8 * 4 * size, (type(model), most)


def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
def test_no_leaks(sequences, rng):
    X, y = sequences
    rows, labels = rng.normal(size=(500, 40)), rng.integers(4, size=500)
    tokens = [[{"a": 1.0, "b": "c"} for _ in labels] for labels in y]
    graphs = [(own, [[0, 1]]) for own in X]
    maps = [rng.normal(size=(2, 1, 4, 5)) for _ in range(5)]
    tables = [rng.normal(size=(3, 3, 2)) for _ in range(5)]

    def work():
        PottsSVM(lam=0.1).fit(graphs, y).predict(graphs)
        TreeSVM(lam=0.1, parents=[None, 0]).fit(maps, [[(0, 1), (2, 2)]] * 5).predict_nbest(maps)
        MatchingSVM(lam=0.1).fit(tables, [[(0, 1)]] * 5).predict_nbest(tables)
        ChainSVM(lam=0.1, callback=lambda row: True).fit(X, y).predict_nbest(X)
        ChainSVM(lam=0.1).fit(tokens, y).predict(tokens)
        MulticlassSVM(lam=1.0).fit(rows, labels).predict(rows)

    for _ in range(5):
        work()
    gc.collect()
    objects, before = len(gc.get_objects()), rss()
    for _ in range(40):
        work()
    gc.collect()
    assert len(gc.get_objects()) - objects < 100
    assert rss() - before < 8_000_000
