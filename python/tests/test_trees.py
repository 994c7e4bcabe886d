"""Trees of parts, and trees of labels."""

import itertools
import pickle

import numpy as np
import pytest
from conftest import same_optimum
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from test_files import needs_command, run

import maxmargin
from maxmargin import TreeSVM

PARENTS = [None, 0, 0]


def bodies(rng, count, kinds=2):
    """Three parts on grids of 2 × 3, the second and third with two maps."""
    X, y = [], []
    for _ in range(count):
        root = rng.integers([2, 2])
        states = [[0, *root]]
        for _ in range(2):
            kind = rng.integers(kinds)
            place = np.clip(root + rng.integers(-1, 2, size=2), 0, [2, 1])
            states.append([kind, *place])
        maps = [rng.normal(scale=0.5, size=(v + 1, 2, 3)) for v in (0, 1, 1)]
        for v, (_, col, row) in enumerate(states):
            maps[v][:, row, col] += 1.0
        X.append([m.astype(np.float32) for m in maps])
        y.append(np.array(states))
    return X, y


def score(model, x, states):
    total = 0.0
    for v, (kind, col, row) in enumerate(states):
        own = model.unary_coef_[v].shape[1]
        maps = np.asarray(x[v], dtype=float)[:own, row, col]
        total += model.unary_coef_[v][kind] @ maps + model.bias_[v][kind]
        parent = PARENTS[v]
        if parent is not None:
            above = np.asarray(x[v], dtype=float)[own:, states[parent][2], states[parent][1]]
            if len(above):
                total += model.parent_coef_[v][kind] @ above
            total += model.tables_[v][kind, states[parent][0]]
            at, other = np.array([col, row]), np.array(states[parent][1:])
            dx, dy = (at - other - model.anchors_[v][kind]) / model.unit
            total -= model.deformation_[v][kind] @ [dx * dx, dy * dy, dx, dy]
    return total


def all_states(kinds):
    places = list(itertools.product(range(3), range(2)))
    one = [[(k, *place) for k in range(own) for place in places] for own in kinds]
    return itertools.product(*one)


def loss(model, truth, states, share, cost):
    away = [
        min(1.0, ((a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2) / model.scale**2 + cost * (a[0] != b[0]))
        for a, b in zip(truth, states, strict=True)
    ]
    return share @ away / share.sum()


@pytest.mark.parametrize("cost", [0.0, 0.5])
@pytest.mark.parametrize("above", [0, 1, [0, 2, 1]])
def test_the_objective_is_that_of_the_formulas(rng, cost, above):
    X, y = bodies(rng, 6)
    shares = [rng.random(3) + 0.1 for _ in X]
    model = TreeSVM(lam=0.1, parents=PARENTS, scale=1.5, unit=2.0, kind_cost=cost, tol=1e-4)
    model.set_params(parent_maps=above).fit(X, y, node_weight=shares)
    widths = [own.shape[1] for own in model.parent_coef_]
    assert widths == ([0, above, above] if isinstance(above, int) else above)
    assert len(model._weight_names()) == len(model.coef_) and "" not in model._weight_names()
    assert model.certificate_.quality == "exact"
    outputs = list(all_states([1, 2, 2]))
    hinges = []
    for x, truth, share in zip(X, y, shares, strict=True):
        values = [loss(model, truth, s, share, cost) + score(model, x, s) for s in outputs]
        hinges.append(max(values) - score(model, x, truth))
    primal = 0.05 * np.sum(model.coef_**2) + np.mean(hinges)
    assert primal == pytest.approx(model.certificate_.primal, abs=1e-6)
    assert min(costs[:, :2].min() for costs in model.deformation_[1:]) >= 0
    for x, found in zip(X, model.predict_nbest(X, 3), strict=True):
        best = sorted((score(model, x, s) for s in outputs), reverse=True)[:3]
        assert [value for _, value in found] == pytest.approx(best, abs=1e-6)
        assert score(model, x, found[0][0]) == pytest.approx(best[0], abs=1e-6)
    assert model.verify(X, y, node_weight=shares) == []
    losses = [
        loss(model, truth, found, np.ones(3), cost)
        for truth, found in zip(y, model.predict(X), strict=True)
    ]
    assert model.score(X, y) == pytest.approx(1 - np.mean(losses))


def test_maps_at_the_parent_are_kept_in_files(rng, tmp_path):
    X, y = bodies(rng, 8)
    model = TreeSVM(lam=0.05, parents=PARENTS, scale=1.5, parent_maps=1).fit(X, y)
    model.save(tmp_path / "model.safetensors")
    again = maxmargin.load(tmp_path / "model.safetensors")
    assert again.parent_maps == [0, 1, 1] and again.verify(X, y, scale=[1.5] * 8) == []
    for one, other in zip(again.parent_coef_, model.parent_coef_, strict=True):
        np.testing.assert_array_equal(one, other)
    for a, b in zip(again.predict(X), model.predict(X), strict=True):
        np.testing.assert_array_equal(a, b)
    # Data that differ in such a map only are others.
    changed = [[maps.copy() for maps in own] for own in X]
    changed[3][2][1, 0, 0] += 1.0
    assert model.verify(changed, y) != []
    for wrong, text in [(3, "parent_maps says that 3"), ([1, 0, 0], "no parent"), (-1, "whole")]:
        with pytest.raises(ValueError, match=text):
            TreeSVM(parents=PARENTS, parent_maps=wrong).fit(X, y)
    with pytest.raises(ValueError, match="2 maps here, and 1 elsewhere|maps here"):
        model.predict([[own[:1] for own in X[0]]])


def test_weights_are_repetitions(rng):
    X, y = bodies(rng, 5)
    weights = rng.integers(1, 4, size=5)
    repeated = [i for i, w in enumerate(weights) for _ in range(w)]
    base = TreeSVM(lam=0.1, parents=PARENTS, anchors=None, tol=1e-3)
    one = clone(base).fit(X, y, sample_weight=weights)
    many = clone(base).fit([X[i] for i in repeated], [y[i] for i in repeated])
    assert same_optimum(one, many)


def test_anchors_are_the_mean_way(rng):
    X, y = bodies(rng, 10)
    model = TreeSVM(lam=0.1, parents=[-1, 0, 0], solver="bcfw").fit(X, y)
    states = np.stack(y)
    for v in (1, 2):
        for kind in (0, 1):
            own = states[states[:, v, 0] == kind]
            assert model.anchors_[v][kind] == pytest.approx(
                (own[:, v] - own[:, 0])[:, 1:].mean(axis=0)
            )
    given = [[[0.0, 0.0]], [[1.0, 0.5]] * 2, [[0.0, 0.0]] * 2]
    assert TreeSVM(parents=PARENTS, anchors=given).fit(X, y).anchors_[1].tolist() == given[1]
    stiff = TreeSVM(parents=PARENTS, deforms=[False, True, False]).fit(X, y)
    assert [len(costs) for costs in stiff.deformation_] == [0, 2, 0]


def test_trees_of_labels(rng):
    X = [rng.normal(size=(3, 2)) for _ in range(40)]
    y = [np.array(["no", "yes"])[(x[:, 0] + x[0, 1] > 0).astype(int)] for x in X]
    model = TreeSVM(lam=0.01, parents=PARENTS, tol=1e-3, solver="bcfw").fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"] and model.score(X, y) > 0.8
    found = model.predict(X)
    assert model.score(X, y) == pytest.approx(
        np.mean([np.mean(a == b) for a, b in zip(y, found, strict=True)])
    )
    outputs = [np.array(o) for o in itertools.product(range(2), repeat=3)]

    def points(x, o):
        unary = sum(model.unary_coef_[v][o[v]] @ x[v] + model.bias_[v][o[v]] for v in range(3))
        return unary + sum(model.tables_[v][o[v], o[0]] for v in (1, 2))

    hinges = []
    for x, own in zip(X, y, strict=True):
        truth = (own == "yes").astype(int)
        values = [np.mean(o != truth) + points(x, o) for o in outputs]
        hinges.append(max(values) - points(x, truth))
    primal = 0.005 * np.sum(model.coef_**2) + np.mean(hinges)
    assert primal == pytest.approx(model.certificate_.primal, abs=1e-6)
    numbers = TreeSVM(lam=0.01, parents=PARENTS, kinds=2, tol=1e-3, solver="bcfw")
    numbers.fit(X, [(own == "yes").astype(int) for own in y])
    assert np.array_equal(numbers.coef_, model.coef_)
    assert numbers.predict(X)[0].tolist() == (found[0] == "yes").astype(int).tolist()


def test_scikit_learns_tools_and_files(rng, tmp_path):
    X, y = bodies(rng, 20)
    model = TreeSVM(lam=0.05, parents=PARENTS, scale=2.0, solver="bcfw").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert [a.tolist() for a in again.predict(X)] == [a.tolist() for a in model.predict(X)]
    search = GridSearchCV(
        TreeSVM(parents=PARENTS, kinds=[1, 2, 2]), {"lam": [0.01, 10.0]}, cv=KFold(3)
    )
    # Which of the two is better on so few bodies is chance; both find most parts.
    search.fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0.6
    assert search.best_estimator_.lam == search.best_params_["lam"]
    judged = TreeSVM(lam=0.05, parents=PARENTS, solver="bcfw").fit(
        X[:15], y[:15], validation=(X[15:], y[15:])
    )
    assert judged.validation_error_ == pytest.approx(1 - judged.score(X[15:], y[15:]))
    model.save(tmp_path / "model.safetensors")
    loaded = maxmargin.load(tmp_path / "model.safetensors")
    assert isinstance(loaded, TreeSVM) and loaded.parents == PARENTS
    assert np.array_equal(loaded.coef_, model.coef_)
    assert [a.tolist() for a in loaded.predict(X)] == [a.tolist() for a in model.predict(X)]
    places = [own[:, 1:] for own in y]
    plain = TreeSVM(lam=0.05, parents=PARENTS, solver="bcfw").fit(X, places)
    assert plain.predict(X)[0].shape == (3, 2)
    one = TreeSVM(lam=0.05, parents=PARENTS, solver="bcfw").fit(
        [[m[0] for m in x] for x in X], places
    )
    stacked = TreeSVM(lam=0.05, parents=PARENTS, solver="bcfw")
    stacked.fit([np.stack([m[:1] for m in x]) for x in X], places)
    assert np.array_equal(one.coef_, stacked.coef_)
    scaled = TreeSVM(lam=0.05, parents=PARENTS, scale=2.0, solver="bcfw").fit(X, y)
    by_example = TreeSVM(lam=0.05, parents=PARENTS, solver="bcfw").fit(X, y, scale=np.full(20, 2.0))
    assert np.array_equal(scaled.coef_, by_example.coef_)
    model.to_report(tmp_path / "page.html")
    assert model.plot_weights() is not None and len(model._weight_names()) == len(model.coef_)
    bounded = TreeSVM(lam=0.05, parents=PARENTS, bounds=(-0.2, 0.2)).fit(X, y)
    assert np.abs(bounded.coef_).max() <= 0.2


@needs_command
def test_models_of_the_command_line(rng, tmp_path):
    people = tmp_path / "people.tsv"
    rest = rng.normal(scale=40.0, size=(14, 2))
    lines = []
    for at in range(12):
        joints = rest + rng.normal(scale=3.0, size=(14, 2)) + 100.0
        lines.append("\t".join([f"p{at}", *(f"{x:.1f},{y:.1f},0" for x, y in joints)]))
    people.write_text("\n".join(lines) + "\n")
    run("train", people, "--model", "tree", "-o", tmp_path / "cli.safetensors", "--lambda", "0.1")
    model = maxmargin.load(tmp_path / "cli.safetensors")
    assert isinstance(model, TreeSVM) and len(model.parents) == 14
    maps = [rng.normal(size=(kinds, 8, 9)) for kinds in model.kinds]
    assert model.predict([maps])[0].shape == (14, 3)
    X, y = bodies(rng, 4)
    TreeSVM(lam=0.1, parents=PARENTS).fit(X, y).save(tmp_path / "ours.safetensors")
    with pytest.raises(AssertionError, match="made from no file"):
        run("predict", tmp_path / "ours.safetensors", people)


def test_what_is_wrong_is_said(rng):
    X, y = bodies(rng, 3)

    def refused(match, X=X, y=y, parents=PARENTS, extra=None, **parameters):
        with pytest.raises(ValueError, match=match):
            TreeSVM(parents=parents, **parameters).fit(X, y, **(extra or {}))

    refused("parents is empty", parents=())
    refused("unit is nan; it must be a finite number", unit=np.nan)
    refused("scale is 'x'; it must be a finite number", scale="x")
    refused("its own ancestor", parents=[1, 0, 0])
    refused("only 3 nodes", parents=[None, 5, 0])
    refused("maps for 2 nodes", X=[X[0], X[1][:2], X[2]])
    refused("example 1: node 2 has 1 maps here", X=[X[0], [*X[1][:2], X[1][2][:1]], X[2]])
    refused("those of node 0 2 × 3", X=[X[0], [*X[1][:2], X[1][2][:, :1]], X[2]])
    refused("example 1: value 0 of the maps is NaN", X=[X[0], [m * np.nan for m in X[1]], X[2]])
    refused("example 1: node 0 has the state", y=[y[0], y[1] + [0, 9, 0], y[2]])
    refused("example 1: node 0 has the kind 0 and the place", y=[y[0], y[1] - [0, 9, 0], y[2]])
    refused("shape \\(2, 3\\), not \\(3, 3\\)", y=[y[0], y[1][:2], y[2]])
    refused("whole numbers", y=[y[0], y[1] + 0.5, y[2]])
    refused("has the kind 1, but only 1", kinds=1)
    refused("X has 3 examples and y has 2", y=y[:2])
    refused("anchors is 'median'", anchors="median")
    refused("one anchor of finite numbers", anchors=[[[0, 0]]] * 3)
    refused("the unit of length is 0", unit=0.0)
    refused("distance at which all is wrong is 0", scale=0.0)
    refused("cost of a wrong kind is -1", kind_cost=-1.0)
    refused("sum of node weights", extra={"node_weight": [np.zeros(3)] * 3})
    refused("node_weight has 2", extra={"node_weight": [np.ones(3)] * 2})
