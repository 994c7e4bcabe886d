"""Graphs whose nodes have labels."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import same_optimum
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from test_files import needs_command, run

import maxmargin
from maxmargin import PottsSVM

RING = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])


def rings(rng, count, labels=2):
    """Rings of four nodes, whose labels are mostly the same, with noisy features."""
    X, y = [], []
    for _ in range(count):
        truth = np.full(4, rng.integers(labels))
        if rng.random() < 0.3:
            truth[rng.integers(4)] = rng.integers(labels)
        nodes = np.eye(labels)[truth] + rng.normal(scale=0.8, size=(4, labels))
        X.append((nodes, RING, rng.random((4, 2))))
        y.append(truth)
    return X, y


def score(model, graph, y):
    nodes, edges, rows = graph
    unary = nodes @ model.unary_coef_.T + model.intercept_
    differ = (y[edges[:, 0]] != y[edges[:, 1]]).astype(float)
    return (unary[np.arange(len(y)), y].sum() - differ @ rows @ model.pairwise_coef_) / len(y)


def loss(truth, y, weight, balanced):
    cost = weight / weight.sum()
    if balanced:
        present = np.unique(truth)
        cost = np.array(
            [
                w / (len(present) * weight[truth == t].sum())
                for w, t in zip(weight, truth, strict=True)
            ]
        )
    return float(cost @ (truth != y))


@pytest.mark.parametrize("kind", ["balanced", "normalised"])
@pytest.mark.parametrize("labels", [2, 3])
def test_the_objective_is_that_of_the_formulas(rng, kind, labels):
    X, y = rings(rng, 12, labels)
    areas = [rng.random(4) + 0.1 for _ in X]
    model = PottsSVM(lam=0.05, loss=kind, tol=1e-3)
    model.fit(X, y, node_weight=areas)
    assert model.certificate_.quality == ("exact" if labels == 2 else "heuristic")
    assert model.pairwise_coef_.min() >= 0
    outputs = [np.array(o) for o in itertools.product(range(labels), repeat=4)]
    hinges = []
    for graph, truth, area in zip(X, y, areas, strict=True):
        values = [
            loss(truth, o, area, kind == "balanced") + score(model, graph, o) for o in outputs
        ]
        hinges.append(max(values) - score(model, graph, truth))
    primal = 0.025 * np.sum(model.coef_**2) + np.mean(hinges)
    if labels == 2:
        assert primal == pytest.approx(model.certificate_.primal, abs=1e-9)
    else:  # a heuristic never finds more than there is
        assert primal >= model.certificate_.primal - 1e-9
    assert primal >= model.certificate_.dual - 1e-9
    for graph, found in zip(X, model.predict(X), strict=True):
        best = max(score(model, graph, o) for o in outputs)
        gap = best - score(model, graph, found)
        assert abs(gap) < 1e-9 if labels == 2 else gap >= -1e-9
    assert model.verify(X, y, node_weight=areas) == []
    assert "not those the model was trained on" in model.verify(X, y)[0]


def test_weights_are_repetitions(rng):
    X, y = rings(rng, 8)
    weights = rng.integers(1, 4, size=8)
    repeated = [i for i, w in enumerate(weights) for _ in range(w)]
    one = PottsSVM(C=1.0, tol=1e-6).fit(X, y, sample_weight=weights)
    many = PottsSVM(C=1.0, tol=1e-6).fit([X[i] for i in repeated], [y[i] for i in repeated])
    assert same_optimum(one, many)


def test_forms_of_graphs_agree(rng):
    X, y = rings(rng, 10)
    dense = PottsSVM(lam=0.05, solver="bcfw").fit(X, y)
    sparse = [
        (sp.csr_matrix(nodes), edges.tolist(), sp.csr_matrix(rows)) for nodes, edges, rows in X
    ]
    assert np.array_equal(PottsSVM(lam=0.05, solver="bcfw").fit(sparse, y).coef_, dense.coef_)
    plain = PottsSVM(lam=0.05, solver="bcfw").fit([graph[:2] for graph in X], y)
    ones = PottsSVM(lam=0.05, solver="bcfw").fit([(*graph[:2], np.ones((4, 1))) for graph in X], y)
    flat = PottsSVM(lam=0.05, solver="bcfw").fit([(*graph[:2], np.ones(4)) for graph in X], y)
    assert np.array_equal(plain.coef_, ones.coef_) and np.array_equal(plain.coef_, flat.coef_)
    halves = [
        tuple(a.astype(np.float32) if a.dtype.kind == "f" else a for a in graph) for graph in X
    ]
    single = PottsSVM(lam=0.05, solver="bcfw").fit(halves, y)
    assert np.allclose(single.coef_, dense.coef_, atol=0.1)
    named = PottsSVM(lam=0.05, solver="bcfw").fit(X, [[("b", int(k)) for k in own] for own in y])
    assert named.predict(X)[0][0] == ("b", int(dense.predict(X)[0][0]))
    assert dense.decision_function(X)[0].shape == (4, 2)
    lonely = PottsSVM(lam=0.05, solver="bcfw").fit([(np.eye(2), [])], [[0, 1]])
    assert lonely.predict([(np.eye(2), [])])[0].tolist() == [0, 1]
    free = PottsSVM(lam=0.05, attractive=False, solver="bcfw").fit(X, y)
    assert free.certificate_.quality == "heuristic"
    without = PottsSVM(lam=0.05, fit_intercept=False, solver="bcfw").fit(X, y)
    assert not without.intercept_.any() and len(without.coef_) == 2 * 2 + 2
    bounded = PottsSVM(lam=0.05, bounds={"unary": (-0.1, 0.1)}).fit(X, y)
    assert np.abs(bounded.unary_coef_).max() <= 0.1 and bounded.pairwise_coef_.min() >= 0


def test_scikit_learns_tools(rng, tmp_path):
    X, y = rings(rng, 30)
    model = PottsSVM(lam=0.05, n_jobs=2, solver="bcfw").fit(X, y)
    alone = clone(model).set_params(n_jobs=1).fit(X, y)
    assert np.array_equal(alone.coef_, model.coef_)  # threads make no difference
    again = pickle.loads(pickle.dumps(model))
    assert [a.tolist() for a in again.predict(X)] == [a.tolist() for a in model.predict(X)]
    areas = [rng.random(4) + 0.1 for _ in X]
    search = GridSearchCV(PottsSVM(), {"lam": [0.01, 10.0]}, cv=KFold(3))
    assert search.fit(X, y, node_weight=areas).best_score_ > 0.6
    judged = PottsSVM(lam=0.05, patience=3, solver="bcfw").fit(
        X[:20], y[:20], validation=(X[20:], y[20:])
    )
    assert judged.validation_error_ == pytest.approx(1 - judged.score(X[20:], y[20:]))
    assert PottsSVM(lam=0.05, validation=0.2, solver="bcfw").fit(X, y).validation_error_ is not None
    weighted = model.score(X, y, node_weight=areas)
    right = [area @ (a == b) for area, a, b in zip(areas, y, model.predict(X), strict=True)]
    assert weighted == pytest.approx(sum(right) / sum(area.sum() for area in areas))
    assert model.score(X, [["?"] * 4] * 30) == 0.0  # labels nobody has seen
    model.to_report(tmp_path / "page.html")
    assert "Convergence" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert model.plot_weights() is not None and model.plot_convergence() is not None
    warm = PottsSVM(lam=0.05, warm_start=True, solver="bcfw").fit(X, y)
    warm.tol = 1e-4
    assert warm.fit(X, y).history_["dual"][0] >= model.certificate_.dual - 1e-2
    path = maxmargin.regularization_path(PottsSVM(), X, y, epsilon=0.2, lambda_min=0.05)
    assert path.best(X, y).score(X, y) > 0.7


def test_relaxations_give_upper_bounds(rng):
    X, y = rings(rng, 10)
    fits = {}
    ways = (("roof-duality", False), ("lp", False), ("lp", True), ("max-flow", True))
    for inference, attractive in ways:
        how = {"solver": "bcfw", "direction": "corrective", "tol": 1e-4}
        model = PottsSVM(lam=0.05, attractive=attractive, inference=inference, **how)
        fits[inference, attractive] = model.fit(X, y)
        assert model.certificate_.quality == ("exact" if inference == "max-flow" else "upper-bound")
        assert [len(own) for own in model.predict(X)] == [4] * 10
    for a, b in ((("roof-duality", False), ("lp", False)), (("lp", True), ("max-flow", True))):
        assert fits[a].certificate_.primal == pytest.approx(fits[b].certificate_.primal, abs=2e-4)


def test_files_are_those_of_the_command_line(rng, tmp_path):
    X, y = rings(rng, 10)
    model = PottsSVM(lam=0.05, solver="bcfw").fit(X, y)
    model.save(tmp_path / "model.safetensors")
    again = maxmargin.load(tmp_path / "model.safetensors")
    assert isinstance(again, PottsSVM) and again.fit_intercept
    assert np.array_equal(again.unary_coef_, model.unary_coef_)
    expected = [list(map(str, own)) for own in model.predict(X)]
    assert [own.tolist() for own in again.predict(X)] == expected


@needs_command
def test_the_command_line_and_python_read_the_same(rng, tmp_path):
    X, y = rings(rng, 10)
    PottsSVM(lam=0.05, solver="bcfw").fit(X, y).save(tmp_path / "model.safetensors")
    images = tmp_path / "images.txt"
    lines = []
    for at, (nodes, edges, _) in enumerate(X):
        lines.append(f"G image{at} train 20 20 4 4")
        for row, label in zip(nodes, y[at], strict=True):
            lines.append(f"N 100 {100 * label} " + " ".join(str(value) for value in row))
        lines += [f"E {a} {b} 10 0.2" for a, b in edges]
    images.write_text("\n".join(lines) + "\n")
    with pytest.raises(AssertionError, match="made from no file"):
        run("predict", tmp_path / "model.safetensors", images)
    trained = tmp_path / "cli.safetensors"
    run("train", "--model", "graph", images, "--output", trained, "--lambda", "0.05")
    theirs = maxmargin.load(trained)
    X2, y2, pixels = maxmargin.read_superpixels(images)
    assert y2[0].tolist() == y[0].tolist() and pixels[0][:, 0].tolist() == [100] * 4
    assert theirs.classes_.tolist() == ["background", "foreground"]
    lines = run("predict", trained, images).split("\n")
    found = [["background", "foreground"][int(k)] for k in lines[0].split()[1:]]
    assert theirs.predict(X2)[0].tolist() == found
    # The same model, trained from arrays.
    ours = PottsSVM(lam=0.05, solver="bcfw").fit(X2, y2, node_weight=[own[:, 0] for own in pixels])
    assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, abs=0.02)


def test_what_is_wrong_is_said(rng):
    X, y = rings(rng, 3)
    y[0], (nodes, edges, rows) = np.array([0, 1, 0, 1]), X[1]

    def refused(graph, match, labels=y[1], error=ValueError, **extra):
        with pytest.raises(error, match=match):
            PottsSVM().fit([X[0], graph], [y[0], labels], **extra)

    refused(nodes, "graph 1: expected a tuple")
    refused((nodes, edges[:, :1], rows), "graph 1: edges are a matrix")
    refused((nodes, edges + 0.5, rows), "graph 1: edges are a matrix")
    refused((nodes, edges + 1, rows), "graph 1: edge 2: node 4 does not exist")
    refused((nodes, edges - 1, rows), "graph 1: edge 0: node -1 does not exist")
    refused((nodes, edges * 0, rows), "graph 1: edge 0: .*with itself")
    refused((nodes, edges, rows[:2]), "4 edges and features of 2")
    refused((nodes[:, :1], edges, rows), "nodes have 1 features, and 2 were expected")
    refused((nodes, edges, rows[:, :1]), "edges have 1 features, and 2 were expected")
    refused((nodes * np.nan, edges, rows), "graph 1: node 0: attribute 0 has the value NaN")
    refused((nodes, edges, rows * np.inf), "graph 1: edge 0: .* inf")
    refused((nodes, edges, -rows), "pairwise weights ≥ 0")
    refused(X[1], "4 nodes, and labels", labels=[0, 1])
    refused(X[1], "node weights of the shape", node_weight=[np.ones(4), np.ones(3)])
    refused(X[1], "weight of the node is -1", node_weight=[np.ones(4), -np.ones(4)])
    refused(X[1], "X has 2 graphs and node_weight has 1", node_weight=[np.ones(4)])
    refused(X[1], "sample_weight has the shape", sample_weight=[1.0])
    with pytest.raises(ValueError, match="max-flow cannot decode these graphs"):
        PottsSVM(inference="max-flow", attractive=False).fit(X, y)
    with pytest.raises(ValueError, match="unknown graph inference"):
        PottsSVM(inference="guess").fit(X, y)
    with pytest.raises(ValueError, match="loss is 'l2'"):
        PottsSVM(loss="l2").fit(X, y)
    with pytest.raises(ValueError, match="nothing to learn"):
        PottsSVM().fit(X[:1], [[0] * 4])
    with pytest.raises(ValueError, match="unknown label 7"):
        PottsSVM().fit(X, y).verify(X, [[7] * 4] * 3)
    with pytest.raises(ValueError, match="there are no graphs"):
        PottsSVM().fit([], [])
