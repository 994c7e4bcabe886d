"""Graphs with any table of weights on their edges, in arrays."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import same_optimum
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

import maxmargin
from maxmargin import FactorGraphSVM, GraphSVM

RING = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
LINE = RING[:3]


def rings(rng, count, labels=3, edges=RING, types=0):
    """Graphs of four nodes with a noisy hint at their labels, and two features of edges."""
    X, y = [], []
    for _ in range(count):
        truth = (rng.integers(labels) + np.arange(4) * rng.integers(2)) % labels
        nodes = np.eye(labels)[truth] + rng.normal(scale=0.8, size=(4, labels))
        own = edges
        if types:
            own = np.column_stack([edges, rng.integers(types, size=len(edges))])
        X.append((nodes, own, rng.normal(size=(len(edges), 2))))
        y.append(truth)
    return X, y


def score(model, graph, y):
    nodes, edges, rows = graph
    total = (nodes @ model.unary_coef_.T + model.intercept_)[np.arange(len(y)), y].sum()
    for edge, row in zip(edges, rows, strict=True):
        kind = edge[2] if len(edge) == 3 else 0
        total += row @ model.pairwise_coef_[kind][:, y[edge[0]], y[edge[1]]]
    return total


WAYS = ["directed", "symmetric", "antisymmetric", ["symmetric", "directed"]]


@pytest.mark.parametrize("pairwise", WAYS, ids=str)
@pytest.mark.parametrize("types", [0, 2])
@pytest.mark.parametrize("edges", [LINE, RING], ids=["line", "ring"])
def test_the_objective_is_that_of_the_formulas(rng, pairwise, types, edges):
    X, y = rings(rng, 8, 3, edges, types)
    costs = [rng.random(4) + 0.1 for _ in X]
    model = GraphSVM(lam=0.05, pairwise=pairwise, tol=1e-3).fit(X, y, node_weight=costs)
    assert model.certificate_.quality == "exact"
    assert model.pairwise_coef_.shape == (max(types, 1), 2, 3, 3)
    names = [pairwise] * 2 if isinstance(pairwise, str) else pairwise
    for feature, name in enumerate(names):
        tables = model.pairwise_coef_[:, feature]
        turned = tables.transpose(0, 2, 1)
        if name != "directed":
            assert np.allclose(tables, turned if name == "symmetric" else -turned, atol=1e-12)
        assert np.abs(tables).max() > 1e-3
    outputs = [np.array(o) for o in itertools.product(range(3), repeat=4)]
    hinges = []
    for graph, truth, cost in zip(X, y, costs, strict=True):
        values = [cost @ (truth != o) / cost.sum() + score(model, graph, o) for o in outputs]
        hinges.append(max(values) - score(model, graph, truth))
    primal = 0.025 * np.sum(model.coef_**2) + np.mean(hinges)
    assert primal == pytest.approx(model.certificate_.primal, abs=1e-9)
    assert model.objective(X, y, node_weight=costs) == pytest.approx(primal, abs=1e-9)
    for graph, found in zip(X, model.predict(X), strict=True):
        best = max(score(model, graph, o) for o in outputs)
        assert score(model, graph, found) == pytest.approx(best, abs=1e-9)
    assert model.verify(X, y, node_weight=costs) == []
    assert "not those the model was trained on" in model.verify(X, y)[0]


def test_symmetric_tables_are_the_best_ones(rng):
    """The optimum is that of directed tables on graphs whose edges go both ways with half the features."""
    X, y = rings(rng, 10)
    model = GraphSVM(lam=0.1, pairwise="symmetric", tol=1e-5, fit_intercept=False).fit(X, y)
    both = [(n, np.vstack([e, e[:, ::-1]]), np.vstack([r, r]) / 2) for n, e, r in X]
    same = GraphSVM(lam=0.1, tol=1e-5, fit_intercept=False).fit(both, y)
    assert same_optimum(model, same)
    # No directed model can be worse, since its tables may be symmetric as well.
    free = GraphSVM(lam=0.1, tol=1e-5, fit_intercept=False).fit(X, y)
    assert free.certificate_.dual <= model.certificate_.primal + 1e-9


def test_it_is_the_factor_graph_of_dictionaries(rng):
    X, y = rings(rng, 10)
    how = {"lam": 0.1, "tol": 1e-5}
    ours = GraphSVM(**how, fit_intercept=False).fit(X, y)
    graphs = []
    for nodes, edges, rows in X:
        unary = [
            {"template": "node", "variables": [v], "attributes": n} for v, n in enumerate(nodes)
        ]
        pairs = [
            {"template": "edge", "variables": e, "attributes": r}
            for e, r in zip(edges, rows, strict=True)
        ]
        graphs.append({"variables": [3] * 4, "factors": unary + pairs})
    theirs = FactorGraphSVM(**how).fit(graphs, y)
    assert same_optimum(ours, theirs)
    assert np.allclose(ours.coef_, theirs.coef_, atol=0.05)


def test_two_edges_between_the_same_nodes_are_no_cycle(rng):
    X, y = rings(rng, 10, edges=np.array([[0, 1], [1, 0], [1, 2], [2, 3], [3, 2]]))
    model = GraphSVM(lam=0.1, inference="max-sum").fit(X, y)
    assert model.certificate_.quality == "exact" and model.verify(X, y) == []


def test_forms_of_graphs_agree(rng):
    X, y = rings(rng, 10)
    how = {"lam": 0.05, "solver": "bcfw", "direction": "corrective"}
    dense = GraphSVM(**how).fit(X, y)
    sparse = [(sp.csr_matrix(n), e.tolist(), sp.csr_matrix(r)) for n, e, r in X]
    assert np.array_equal(GraphSVM(**how).fit(sparse, y).coef_, dense.coef_)
    plain = GraphSVM(**how).fit([graph[:2] for graph in X], y)
    ones = GraphSVM(**how).fit([(*graph[:2], np.ones(4)) for graph in X], y)
    assert np.array_equal(plain.coef_, ones.coef_)
    named = GraphSVM(**how).fit(X, [[("b", int(k)) for k in own] for own in y])
    assert named.predict(X)[0][0] == ("b", int(dense.predict(X)[0][0]))
    assert dense.decision_function(X)[0].shape == (4, 3)
    lonely = GraphSVM(**how).fit([(np.eye(2), [])], [[0, 1]])
    assert lonely.predict([(np.eye(2), [])])[0].tolist() == [0, 1]
    bounded = GraphSVM(lam=0.05, bounds={"pairwise": (0, None), "unary": (-0.1, 0.1)}).fit(X, y)
    assert np.abs(bounded.unary_coef_).max() <= 0.1 and bounded.pairwise_coef_.min() >= 0
    best = dense.predict_nbest(X, 2)[0]
    assert best[0][0].tolist() == dense.predict(X)[0].tolist() and best[0][1] >= best[1][1]
    assert dense.predict_confidence(X)[0][1] == pytest.approx(best[0][1] - best[1][1])


def test_scikit_learns_tools(rng, tmp_path):
    X, y = rings(rng, 30)
    model = GraphSVM(lam=0.05, n_jobs=2, solver="bcfw").fit(X, y)
    alone = clone(model).set_params(n_jobs=1).fit(X, y)
    assert np.array_equal(alone.coef_, model.coef_)  # threads make no difference
    again = pickle.loads(pickle.dumps(model))
    assert [a.tolist() for a in again.predict(X)] == [a.tolist() for a in model.predict(X)]
    search = GridSearchCV(GraphSVM(), {"lam": [0.01, 10.0]}, cv=KFold(3))
    assert search.fit(X, y).best_score_ > 0.6
    judged = GraphSVM(lam=0.05, patience=3, solver="bcfw")
    judged.fit(X[:20], y[:20], validation=(X[20:], y[20:]))
    assert judged.validation_error_ == pytest.approx(1 - judged.score(X[20:], y[20:]))
    model.to_report(tmp_path / "page.html")
    assert model.plot_weights() is not None
    path = maxmargin.regularization_path(GraphSVM(), X, y, epsilon=0.2, lambda_min=0.05)
    assert path.best(X, y).score(X, y) > 0.7


@pytest.mark.parametrize("pairwise", WAYS, ids=str)
def test_models_come_back_as_they_were(rng, tmp_path, pairwise):
    X, y = rings(rng, 10, types=2)
    model = GraphSVM(lam=0.05, pairwise=pairwise, loss="hamming").fit(X, y)
    model.save(tmp_path / "model.safetensors")
    again = maxmargin.load(tmp_path / "model.safetensors")
    assert isinstance(again, GraphSVM) and again.fit_intercept
    assert (again.pairwise, again.loss) == (pairwise, "hamming")
    assert np.array_equal(again.pairwise_coef_, model.pairwise_coef_)
    expected = [list(map(str, own)) for own in model.predict(X)]
    assert [own.tolist() for own in again.predict(X)] == expected
    assert again.verify(X, [list(map(str, own)) for own in y]) == []
    other = FactorGraphSVM.load(tmp_path / "model.safetensors")
    assert np.array_equal(other.coef_, model.coef_)


def test_what_is_wrong_is_said(rng):
    X, y = rings(rng, 3)
    nodes, edges, rows = X[1]

    def refused(graph, match, labels=y[1], **extra):
        with pytest.raises(ValueError, match=match):
            GraphSVM().fit([X[0], graph], [y[0], labels], **extra)

    refused(nodes, "graph 1: expected a tuple")
    refused((nodes, edges[:, :1], rows), "graph 1: edges are a matrix")
    refused((nodes, edges + 1, rows), "graph 1: edge 2: .*variable 4")
    refused((nodes, edges - 1, rows), "graph 1: edge 0: node -1 does not exist")
    refused((nodes, edges * 0, rows), "graph 1: edge 0: .*twice")
    refused((nodes, edges, rows[:2]), "4 edges and features of 2")
    refused((nodes[:, :1], edges, rows), "nodes have 1 features, and 3 were expected")
    refused((nodes, edges, rows[:, :1]), "edges have 1 features, and 2 were expected")
    refused((nodes * np.nan, edges, rows), "graph 1: node 0: attribute 0 has the value NaN")
    refused((nodes, edges, rows * np.inf), "graph 1: edge 0: .*inf")
    refused(X[1], "4 nodes, and labels", labels=[0, 1])
    refused(X[1], "node weights of the shape", node_weight=[np.ones(4), np.ones(3)])
    refused((nodes, np.column_stack([edges, [0, 0, -1, 0]]), rows), "numbers from 0, not -1")
    for wrong, match in (
        ({"pairwise": "twisted"}, "pairwise has 'twisted'"),
        ({"pairwise": ["directed"]}, "1 entries, and edges have 2"),
        ({"inference": "guess"}, "unknown inference"),
        ({"inference": "max-sum"}, "it has a cycle"),
        ({"loss": "l2"}, "loss is 'l2'"),
        ({"bounds": {"edges": (0, None)}}, "bounds are for 'unary'"),
    ):
        with pytest.raises(ValueError, match=match):
            GraphSVM(**wrong).fit(X, y)
    model = GraphSVM().fit(X, y)
    typed = (nodes, np.column_stack([edges, [0, 0, 1, 0]]), rows)
    with pytest.raises(ValueError, match="graph 0: edge 2: there is no such type"):
        model.predict([typed])
    with pytest.raises(ValueError, match="there are no graphs"):
        GraphSVM().fit([], [])


def test_completions_agree_with_what_is_known(rng):
    X, y = rings(rng, 12)
    model = GraphSVM(lam=0.05).fit(X, y)
    outputs = [np.array(o) for o in itertools.product(range(3), repeat=4)]
    known = [[None, 1, {0, 2}, None]] * len(X)
    for graph, found in zip(X, model.complete(X, known), strict=True):
        fits = [o for o in outputs if o[1] == 1 and o[2] != 1]
        best = max(score(model, graph, o) for o in fits)
        assert found[1] == 1 and found[2] in (0, 2)
        assert score(model, graph, found) == pytest.approx(best, abs=1e-9)
    with pytest.raises(ValueError, match="no state is seen as 7"):
        model.complete(X[:1], [[7, 0, 0, 0]])
    with pytest.raises(ValueError, match="4 nodes, and y has 2 entries"):
        model.complete(X[:1], [[None, 0]])
