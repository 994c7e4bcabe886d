"""Sets of labels, and factor graphs."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import maxmargin
from maxmargin import FactorGraphSVM, MultilabelSVM


@pytest.fixture
def topics(rng):
    X = rng.normal(size=(60, 5))
    Y = (X @ rng.normal(size=(5, 4)) + 0.3 > 0).astype(int)
    return X, Y


def hinge(model, x, truth):
    """The structured hinge of a row, over all sets."""
    scores = model.coef_ @ x + model.intercept_

    def score(y):
        on = sum(
            w for (i, j), w in zip(model.pairs_, model.pair_coef_, strict=True) if y[i] and y[j]
        )
        return scores @ y + on

    sets = (np.array(y) for y in itertools.product([0, 1], repeat=len(truth)))
    return max(np.mean(y != truth) + score(y) for y in sets) - score(truth)


RING = [[0, 1], [2, 1], [2, 3], [0, 3]]


@pytest.mark.parametrize(
    ("pairs", "count"),
    [("complete", 6), ("tree", 3), ("none", 0), (np.array(RING), 4), (np.zeros((0, 2), int), 0)],
    ids=["complete", "tree", "none", "own", "empty"],
)
def test_the_objective_is_that_of_the_formulas(topics, pairs, count):
    X, Y = topics
    model = MultilabelSVM(lam=0.05, pairs=pairs, tol=1e-3).fit(X, Y)
    assert len(model.pairs_) == count
    w = np.concatenate([model.coef_.ravel(), model.intercept_, model.pair_coef_])
    primal = 0.025 * np.sum(w**2) + np.mean([hinge(model, x, y) for x, y in zip(X, Y, strict=True)])
    assert primal == pytest.approx(model.certificate_.primal, abs=1e-9)
    assert model.score(X, Y) > 0.8 and model.verify(X, Y) == []


def test_sets_and_matrices_agree(topics):
    X, Y = topics
    names = np.array(["a", "b", "c", "d"])
    by_matrix = MultilabelSVM(lam=0.05).fit(X, Y)
    by_sets = MultilabelSVM(lam=0.05).fit(X, [set(names[row == 1]) for row in Y])
    by_sparse = MultilabelSVM(lam=0.05).fit(sp.csr_matrix(X), sp.csr_matrix(Y))
    assert np.array_equal(by_matrix.coef_, by_sets.coef_)
    assert np.allclose(by_matrix.coef_, by_sparse.coef_)
    found = by_matrix.predict(X)
    assert found.shape == Y.shape
    assert by_sets.predict(X) == [tuple(names[row == 1]) for row in found]
    dicts = [{f"x{j}": value for j, value in enumerate(row)} for row in X.tolist()]
    tight = MultilabelSVM(lam=0.05, tol=1e-7).fit(X, Y)
    by_names = MultilabelSVM(lam=0.05, tol=1e-7).fit(dicts, Y)  # the constant comes first here
    assert by_names.attribute_names_ == ["(constant)", "x0", "x1", "x2", "x3", "x4"]
    assert np.allclose(by_names.coef_, tight.coef_, atol=1e-2)
    assert np.allclose(by_names.intercept_, tight.intercept_, atol=1e-2)
    assert by_names.score(dicts, Y) == pytest.approx(tight.score(X, Y), abs=0.01)
    assert by_matrix.decision_function(X).shape == Y.shape
    free = MultilabelSVM(lam=0.05, fit_intercept=False, bounds={"pairs": (0, None)}).fit(X, Y)
    assert free.pair_coef_.min() >= 0 and not free.intercept_.any()
    with pytest.raises(ValueError, match="expecting 5 features"):
        by_matrix.predict(X[:, :3])
    with pytest.raises(ValueError, match="pairs is"):
        MultilabelSVM(pairs="some").fit(X, Y)


def test_pairs_of_your_own_are_labels(topics, tmp_path):
    X, Y = topics
    names = np.array(["a", "b", "c", "d"])
    sets = [set(names[row == 1]) for row in Y]
    by_names = MultilabelSVM(lam=0.05, pairs=[tuple(names[own]) for own in RING]).fit(X, sets)
    by_columns = MultilabelSVM(lam=0.05, pairs=np.array(RING)).fit(X, Y)
    assert by_names.pairs_.tolist() == [[0, 1], [1, 2], [2, 3], [0, 3]]
    assert np.array_equal(by_names.pair_coef_, by_columns.pair_coef_)
    by_names.save(tmp_path / "model.safetensors")
    again = MultilabelSVM.load(tmp_path / "model.safetensors")
    assert again.pairs == [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    for wrong, match in (
        ([0, 1], "rows of two"),
        ([[0, 0]], "the label 0 with itself"),
        ([[0, 1], [1, 0]], "1 and 0 twice"),
        ([[0, 9]], "unknown label 9"),
    ):
        with pytest.raises(ValueError, match=match):
            MultilabelSVM(pairs=wrong).fit(X, Y)


def grid(rng, states):
    """Four variables in a ring, with noisy observations."""
    factors = [
        {"template": "seen", "variables": [v], "attributes": [states[v] + rng.normal(), 1.0]}
        for v in range(4)
    ]
    factors += [
        {"template": "near", "variables": [v, (v + 1) % 4], "attributes": {"bias": 1.0}}
        for v in range(4)
    ]
    return {"variables": [{"states": 2}] * 4, "factors": factors}


def test_graphs_are_learned_and_decoded_exactly(rng):
    y = [[k] * 4 for k in rng.integers(2, size=40)]
    X = [grid(rng, states) for states in y]
    model = FactorGraphSVM(lam=0.02, tol=1e-3).fit(X, y)
    assert model.templates_ == ["seen", "near"] and model.score(X, y) > 0.8
    assert model.weights_["near"].shape == (1, 2, 2)
    seen, near = model.weights_["seen"], model.weights_["near"][0]

    def score(graph, states):
        rows = [f["attributes"] for f in graph["factors"][:4]]
        return sum(np.array(row) @ seen[:, k] for row, k in zip(rows, states, strict=True)) + sum(
            near[states[v], states[(v + 1) % 4]] for v in range(4)
        )

    total = 0.0
    for graph, truth in zip(X, y, strict=True):
        all_states = list(itertools.product(range(2), repeat=4))
        values = [np.mean(np.array(s) != truth) + score(graph, s) for s in all_states]
        total += max(values) - score(graph, truth)
    primal = 0.01 * np.sum(model.coef_**2) + total / len(X)
    assert primal == pytest.approx(model.certificate_.primal, abs=1e-9)
    for graph, found in zip(X[:10], model.predict(X[:10]), strict=True):
        best = max(itertools.product(range(2), repeat=4), key=lambda s: score(graph, s))
        assert score(graph, found) == pytest.approx(score(graph, best))
    assert model.verify(X, y) == []
    judged = FactorGraphSVM(lam=0.02).fit(X[:30], y[:30], validation=(X[30:], y[30:]))
    assert judged.validation_error_ == pytest.approx(1 - judged.score(X[30:], y[30:]))
    bounded = FactorGraphSVM(lam=0.02, bounds={"template.1": (0, None)}).fit(X, y)
    assert bounded.weights_["near"].min() >= 0


def test_what_is_wrong_with_a_graph_is_said(rng):
    graph = grid(rng, [0] * 4)
    with pytest.raises(ValueError, match="4 variables and 3 states"):
        FactorGraphSVM().fit([graph], [[0, 0, 0]])
    with pytest.raises(ValueError, match="graphs:1.*a state below 2"):
        FactorGraphSVM().fit([graph], [[0, 0, 0, 5]])
    bad = {"variables": [2], "factors": [{"template": "t", "variables": [4], "attributes": [1]}]}
    with pytest.raises(ValueError, match="variable below 1"):
        FactorGraphSVM().fit([bad], [[0]])


def crowd(rng, truth, counting=None):
    """Variables with hints, and a factor over all of them that looks for three patterns."""
    n = len(truth)
    variables = [{"states": ["no", "yes"]}] * n
    factors = [
        {
            "template": "own",
            "variables": [v],
            "attributes": [float(state == "yes") - 0.5 + rng.normal(scale=0.5), 1.0],
        }
        for v, state in enumerate(truth)
    ]
    patterns = [["no"] * n, ["yes"] * n, ["yes"] + [None] * (n - 1)]
    all_of_them = {"template": "all", "variables": list(range(n)), "attributes": [1.0]}
    all_of_them["patterns"] = patterns
    if counting is not None:
        all_of_them["counting"] = counting
    return {"variables": variables, "factors": [*factors, all_of_them]}


@pytest.mark.parametrize("counting", [None, "all", "first"])
def test_patterns_are_scored_as_they_say(rng, counting, tmp_path):
    truths = [["yes"] * 5, ["no"] * 4, ["yes", "no", "yes", "no"], ["no"] * 3]
    X = [crowd(rng, truth, counting) for truth in truths]
    model = FactorGraphSVM(lam=0.05, tol=1e-3).fit(X, truths)
    assert model.certificate_.quality == "exact" and model.verify(X, truths) == []
    own, patterns = model.weights_["own"], model.weights_["all"]
    assert own.shape == (2, 2) and patterns.shape == (1, 3)

    def score(graph, states):
        total = sum(
            np.dot(factor["attributes"], own[:, states[v]])
            for v, factor in enumerate(graph["factors"][:-1])
        )
        fit = [set(states) == {0}, set(states) == {1}, states[0] == 1]
        counted = [p for p in range(3) if fit[p]]
        return total + sum(patterns[0, counted[:1] if counting == "first" else counted])

    def loss(truth, states):
        return np.mean(
            [("no", "yes")[state] != own for own, state in zip(truth, states, strict=True)]
        )

    hinges = []
    for graph, truth, predicted in zip(X, truths, model.predict(X), strict=True):
        labellings = list(itertools.product([0, 1], repeat=len(truth)))
        best = max(labellings, key=lambda states: score(graph, states))
        assert [("no", "yes")[state] for state in best] == predicted.tolist()
        right = score(graph, [int(state == "yes") for state in truth])
        hinges.append(max(loss(truth, y) + score(graph, y) for y in labellings) - right)
    primal = 0.025 * np.sum(model.coef_**2) + np.mean(hinges)
    assert primal == pytest.approx(model.certificate_.primal, abs=1e-9)

    # Without cycles soft training comes to the same, and files keep it all.
    soft = FactorGraphSVM(lam=0.05, tol=1e-3, training="soft", rho_schedule=[1, 0.1, 0.01]).fit(
        X, truths
    )
    assert model.certificate_.dual - 1e-9 <= soft.soft_["hard_objective"] < 1.2 * primal
    model.save(tmp_path / "crowd.model")
    again = maxmargin.load(tmp_path / "crowd.model")
    for a, b in zip(again.predict(X), model.predict(X), strict=True):
        assert a.tolist() == b.tolist()


def test_what_is_wrong_with_patterns_is_said(rng):
    truth = ["no"] * 3
    for change, text in [
        ({"patterns": [["no"] * 2]}, "pattern 0 has 2 states, but the factor has 3 variables"),
        ({"patterns": [["no", "no", "maybe"]]}, "a pattern has the state 'maybe'"),
        ({"patterns": [["no"] * 3] * 2}, "patterns 0 and 1 are the same"),
        ({"counting": "last"}, 'expected "all" or "first"'),
        ({"pattern": []}, "a factor has 'pattern', which is not known"),
    ]:
        graph = crowd(rng, truth)
        graph["factors"][-1].update(change)
        with pytest.raises(ValueError, match=text):
            FactorGraphSVM().fit([graph], [truth])
