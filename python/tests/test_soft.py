"""Training where decoding is hard: soft constraints, the LP relaxation."""

import json
import os
import pickle
import signal
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from test_files import as_text, needs_command, run

import maxmargin
from maxmargin import FactorGraphSVM, MultilabelSVM, regularization_path

#: A fixed method, so that runs can be compared.
METHOD = {"solver": "bcfw", "order": "permutation", "direction": "fw"}
OPTIONS = ["--solver", "bcfw", "--order", "permutation", "--direction", "fw", "-q"]


def triangle(row):
    """Three variables that all have to do with each other."""
    factors = [
        {"template": "own", "variables": [v], "attributes": [float(row[v]), 1.0]} for v in range(3)
    ]
    pairs = [(0, 1), (1, 2), (0, 2)]
    factors += [{"template": "pair", "variables": list(p), "attributes": [1.0]} for p in pairs]
    return {"variables": [{"states": 2}] * 3, "factors": factors}


@pytest.fixture
def graphs(rng):
    rows = rng.normal(size=(12, 3))
    return [triangle(row) for row in rows], (rows > rng.normal(size=(12, 1))).astype(int).tolist()


@pytest.fixture
def sets(rng):
    X = rng.normal(size=(15, 3))
    marks = X @ rng.normal(size=(3, 4)) > 0
    return X, [{f"k{k}" for k in np.flatnonzero(own)} for own in marks]


def both(graphs, sets, **settings):
    yield FactorGraphSVM(**settings), *graphs
    yield MultilabelSVM(fit_intercept=False, **settings), *sets


def test_soft_training_has_a_certificate(graphs, sets, tmp_path):
    for model, X, y in both(graphs, sets, lam=0.1, training="soft", rho=0.1, tol=0.01):
        model.fit(X, y)
        c, soft = model.certificate_, model.soft_
        assert model.status_ == "converged" and c.gap <= 0.01
        assert soft["rho"] == 0.1 and soft["violation"]["largest"] >= soft["violation"]["rms"] > 0
        # The soft objective is the hard one and a penalty.
        assert soft["hard_objective"] <= c.primal + 1e-9
        assert model.verify(X, y) == []
        file = tmp_path / "model.safetensors"
        model.save(file)
        for again in (pickle.loads(pickle.dumps(model)), maxmargin.load(file)):
            assert as_text(again.predict(X)) == as_text(model.predict(X))
            assert again.soft_ == soft and again.training == "soft" and again.rho == 0.1
        assert clone(model).get_params() == model.get_params()
        model.to_report(tmp_path / "page.html", "soft")
        model.plot_weights(top=3)
        passes = model.n_iter_
        assert model.set_params(warm_start=True).fit(X, y).n_iter_ <= passes


def test_hard_constraints_are_the_relaxation(graphs, sets):
    """With multipliers, or ever smaller rho, the hard objective comes down to the optimum over the LP
    relaxation, which training with an LP solver brackets."""
    ways = {
        "multipliers": {"multipliers": 60, "rho": 0.1},
        "rhos": {"rho_schedule": [1.0, 0.1, 0.01]},
    }
    for number in range(2):
        lp, X, y = list(both(graphs, sets, lam=0.1, training="lp", tol=1e-4))[number]
        lp.fit(X, y)
        assert json.loads(lp._model.meta())["spec"]["inference"] == "lp"
        for name, way in ways.items():
            soft = list(both(graphs, sets, lam=0.1, training="soft", tol=1e-5, **way))[number]
            soft = soft[0].set_params(max_passes=20000).fit(X, y)
            hard = soft.soft_["hard_objective"]
            assert hard >= lp.certificate_.dual - 1e-9, name
            assert hard <= lp.certificate_.primal + 0.01, name


def test_rounds_add_up(graphs, sets):
    for model, X, y in both(graphs, sets, lam=0.1, training="soft", rho_schedule=[1.0, 0.1]):
        model.fit(X, y)
        starts = np.flatnonzero(model.history_["passes"] == 1)
        assert len(starts) == 2 and model.soft_["rho"] == 0.1
        assert (
            model.n_iter_ == model.history_["passes"][starts[1] - 1] + model.history_["passes"][-1]
        )


def test_soft_training_can_be_stopped(graphs, sets):
    for model, X, y in both(graphs, sets, lam=0.1, training="soft", tol=0.0, max_passes=10**9):
        model.set_params(callback=lambda row: row["passes"] < 3).fit(X, y)
        # The last row has the gap that the end of a run calls for.
        assert model.status_ == "stopped" and list(model.history_["passes"]) == [1, 2, 3, 3]
        assert model.n_iter_ == 3


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_soft_training_with_its_model(graphs, sets):
    own = {"lam": 0.1, "training": "soft", "tol": 0.0, "max_passes": 10**9}
    for model, X, y in both(graphs, sets, on_interrupt="keep", **own):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            model.fit(X, y)
        assert model.status_ == "interrupted" and len(model.predict(X)) == len(y)


def test_all_trainings_make_as_many_passes():
    assert MultilabelSVM(lam=0.1).settings()["max_passes"] == 1000
    assert FactorGraphSVM(lam=0.1, training="soft").settings()["max_passes"] == 1000


def test_exact_training_is_refused_where_decoding_is_not(graphs, sets):
    for model, X, y in both(graphs, sets, lam=0.1, training="exact"):
        assert model.fit(X, y).certificate_.quality == "exact"
        with pytest.raises(ValueError, match="never wrong"):
            clone(model).set_params(inference="lp").fit(X, y)


@needs_command
@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("--training soft --rho 0.1", {"training": "soft", "rho": 0.1}),
        (
            "--training soft --rho 0.1 --rho-scale sum",
            {"training": "soft", "rho": 0.1, "rho_scale": "sum"},
        ),
        ("--training soft --rho-schedule 1,0.1", {"training": "soft", "rho_schedule": [1, 0.1]}),
        ("--training soft --multipliers 3", {"training": "soft", "multipliers": 3}),
        ("--training soft --smooth 0.1", {"training": "soft", "smooth": 0.1}),
        ("--training lp", {"training": "lp"}),
    ],
)
def test_the_command_line_finds_the_same(graphs, sets, tmp_path, options, parameters):
    files = tmp_path / "graphs.jsonl", tmp_path / "rows.svm"
    X, y = graphs
    lines = [
        {**g, "variables": [{"states": 2, "truth": t} for t in own]}
        for g, own in zip(X, y, strict=True)
    ]
    for line in lines:
        for factor in line["factors"]:
            factor["attributes"] = {str(k): v for k, v in enumerate(factor["attributes"])}
    files[0].write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = zip(*sets, strict=True)
    write = lambda row: " ".join(f"{k}:{v!r}" for k, v in enumerate(row.tolist(), 1))  # noqa: E731
    files[1].write_text("".join(f"{','.join(sorted(own))} {write(row)}\n" for row, own in rows))
    settings = {"lam": 0.1, "tol": 1e-3, **METHOD, **parameters}
    for file, (model, X, y) in zip(files, both(graphs, sets, **settings), strict=True):
        kind, output = ("factor-graph", "multilabel")[file == files[1]], tmp_path / "model"
        common = ["--lambda", "0.1", "--tolerance", "1e-3", *OPTIONS, *options.split()]
        common += ["--bias", "0"] if kind == "multilabel" else []
        run("train", file, "--model", kind, "-o", output, *common)
        theirs = maxmargin.load(output)
        model.fit(X, y)
        if kind == "factor-graph":
            assert model.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=1e-9)
            assert model.n_iter_ == theirs.n_iter_
        else:
            # Labels have other numbers, so the way to the optimum is another.
            a, b = model.certificate_, theirs.certificate_
            if "multipliers" not in parameters:
                assert max(a.dual, b.dual) <= min(a.primal, b.primal) + 1e-9
        model.save(output)
        assert "holds" in run("verify", output, file)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"training": "hard"}, "known are"),
        ({"rho": 1.0}, "rho has no meaning without training='soft'"),
        ({"training": "lp", "multipliers": 3}, "multipliers has no meaning"),
        ({"training": "lp", "smooth": 0.1}, "smooth has no meaning without training='soft'"),
        ({"training": "dlpw"}, "known are"),
        ({"training": "soft", "rho": -1.0}, "positive"),
        ({"training": "soft", "rho_schedule": []}, "positive"),
        ({"training": "soft", "rho_schedule": [1.0], "rho": 1.0}, "do not go together"),
        ({"training": "soft", "rho_schedule": [1.0], "multipliers": 2}, "do not go together"),
        ({"rho_scale": "sum"}, "rho_scale has no meaning without training='soft'"),
        ({"training": "soft", "rho_scale": "mean"}, "known are"),
        ({"training": "lp", "inference": "enumerate"}, "inference='lp'"),
    ],
)
def test_wrong_combinations_are_refused(graphs, sets, parameters, message):
    for model, X, y in both(graphs, sets, **parameters):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)


def test_the_penalty_is_inside_the_mean_by_default(graphs, sets):
    for number in range(2):
        soft = [
            list(both(graphs, sets, lam=0.1, training="soft", tol=1e-6, **way))[number]
            for way in ({"rho": 1.2}, {"rho": 1.2 / len(graphs[0]), "rho_scale": "sum"})
        ]
        (inside, X, y), (beside, _, _) = soft
        if number == 1:
            beside.set_params(rho=1.2 / len(y))
        inside.fit(X, y), beside.fit(X, y)
        assert inside.soft_["rho_scale"] == "example" and beside.soft_["rho_scale"] == "sum"
        a, b = inside.certificate_, beside.certificate_
        assert max(a.dual, b.dual) <= min(a.primal, b.primal) + 1e-9


def test_lam_is_chosen_for_soft_training_and_bounds_hold(graphs, sets):
    for model, X, y in both(graphs, sets, lam="auto", training="soft", random_state=1):
        model.fit(X, y)
        assert model.verify(X, y) == []
    for model, X, y in both(graphs, sets, lam=0.1, training="soft", bounds=(0, None)):
        model.fit(X, y)
        assert np.all(model.coef_ >= 0) and model.verify(X, y) == []


def test_joint_states_share_weights(graphs, tmp_path):
    X, y = graphs
    model = FactorGraphSVM(lam=0.1, ties={"pair": "differ"}, training="soft", tol=1e-4).fit(X, y)
    assert model.weights_["pair"].shape == (1,) and model.weights_["own"].shape == (2, 2)
    assert model.verify(X, y) == []
    exact = FactorGraphSVM(lam=0.1, ties={"pair": "differ"}, tol=1e-4).fit(X, y)
    assert exact.verify(X, y) == []
    assert exact.certificate_.dual <= model.soft_["hard_objective"] + 1e-9
    model.save(tmp_path / "model")
    assert maxmargin.load(tmp_path / "model").ties == {"pair": "differ"}
    with pytest.raises(ValueError, match="no template"):
        FactorGraphSVM(ties={"edge": "differ"}).fit(X, y)
    with pytest.raises(ValueError, match="unknown tie"):
        FactorGraphSVM(ties={"pair": "same"}).fit(X, y)


def test_what_soft_training_cannot_do_says_so(sets):
    X, y = sets
    with pytest.raises(ValueError, match="kernel does not go with"):
        MultilabelSVM(training="soft", kernel="rbf").fit(X, y)
    with pytest.raises(ValueError, match="paths are of weights"):
        regularization_path(MultilabelSVM(training="soft"), X, y)
