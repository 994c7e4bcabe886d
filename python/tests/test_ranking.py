"""The n best outputs, and how sure the best one is: against trying out everything."""

from itertools import chain, combinations, product

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin import FactorGraphSVM, MatchingSVM, MultilabelSVM, PottsSVM, TreeSVM


def all_sets(count):
    return chain.from_iterable(combinations(range(count), size) for size in range(count + 1))


@pytest.mark.parametrize("pairs", ["complete", "tree", "none"])
def test_sets_of_labels(rng, pairs):
    X = rng.normal(size=(20, 3))
    marks = (X @ rng.normal(size=(3, 4)) + rng.normal(size=(20, 4)) > 0).astype(int)
    model = MultilabelSVM(lam=0.1, pairs=pairs).fit(X, marks)
    ranked, confident = model.predict_nbest(X, 16), model.predict_confidence(X)
    single = model.decision_function(X)
    for row, best, (labels, margins) in zip(single, ranked, confident, strict=True):

        def score(own, row=row):
            joint = [
                c
                for (i, j), c in zip(model.pairs_, model.pair_coef_, strict=True)
                if {i, j} <= set(own)
            ]
            return row[list(own)].sum() + sum(joint)

        scores = {own: score(own) for own in all_sets(4)}
        assert [value for _, value in best] == pytest.approx(sorted(scores.values(), reverse=True))
        assert all(scores[own] == pytest.approx(value) for own, value in best)
        assert labels == best[0][0]
        for k in range(4):
            other = max(s for own, s in scores.items() if (k in own) != (k in labels))
            assert margins[k] == pytest.approx(scores[labels] - other)
    assert np.array_equal(
        model.predict(X), [[int(k in own) for k in range(4)] for own, _ in confident]
    )


def test_sets_with_a_kernel(rng):
    X = rng.normal(size=(12, 2))
    model = MultilabelSVM(lam=0.1, kernel="rbf").fit(
        X, [{"a"} if x > 0 else {"b"} for x in X[:, 0]]
    )
    assert [best[0][0] for best in model.predict_nbest(X, 2)] == model.predict(X)


def test_scores_of_single_labels_with_a_kernel_and_without(rng):
    X, new = rng.normal(size=(20, 2)), rng.normal(size=(7, 2))
    y = [
        {name for name, on in zip("abc", row > 0, strict=True) if on} for row in X @ np.ones((2, 3))
    ]
    one = np.ones((len(new), 1))
    for constant in (True, False):
        own = {"lam": 0.05, "fit_intercept": constant, "pairs": "none"}
        model = MultilabelSVM(kernel="rbf", gamma=0.5, **own).fit(X, y)
        seen = np.hstack([new, one]) if constant else new
        values = rbf_kernel(seen, model.support_vectors_, gamma=0.5)
        scores = model.decision_function(new)
        assert np.allclose(scores, values @ model.dual_coef_.T)
        # Without pairs, a label is on where its score is positive.
        sets = [tuple(model.classes_[row > 0]) for row in scores]
        assert sets == model.predict(new)
        linear = MultilabelSVM(**own).fit(X, y)
        assert np.allclose(linear.decision_function(new), new @ linear.coef_.T + linear.intercept_)
        named = [{"1": float(a), "2": float(b)} for a, b in new]
        assert np.allclose(linear.decision_function(named), linear.decision_function(new))


def graph(row):
    factors = [
        {"template": "own", "variables": [v], "attributes": [float(row[v])]} for v in range(3)
    ]
    factors.append({"template": "pair", "variables": [0, 1], "attributes": [1.0]})
    return {"variables": [{"states": 2}, {"states": 2}, {"states": 2}], "factors": factors}


def test_factor_graphs(rng):
    rows = rng.normal(size=(15, 3))
    X, y = [graph(row) for row in rows], (rows > 0.2).astype(int).tolist()
    model = FactorGraphSVM(lam=0.1).fit(X, y)
    own, pair = model.weights_["own"][0], model.weights_["pair"][0]
    best = model.predict_nbest(X, 8)
    confident = model.predict_confidence(X)
    for row, ranked, (states, margin), found in zip(
        rows, best, confident, model.predict(X), strict=True
    ):
        scores = {
            s: float(row @ own[list(s)] + pair[s[0], s[1]]) for s in product(range(2), repeat=3)
        }
        ordered = sorted(scores.values(), reverse=True)
        assert [value for _, value in ranked] == pytest.approx(ordered)
        assert np.array_equal(states, found) and margin == pytest.approx(ordered[0] - ordered[1])


def test_trees_and_matchings(rng):
    maps = [[rng.normal(size=3), rng.normal(size=3)] for _ in range(8)]
    tables = [rng.normal(size=(3, 3)) for _ in range(8)]
    labels = [[int(np.argmax(a)), int(np.argmax(b))] for a, b in maps]
    for model, X in (
        (TreeSVM(lam=0.1, parents=[None, 0]).fit(maps, labels), maps),
        (MatchingSVM(lam=0.1).fit(tables, [[(0, 1)]] * 8), tables),
    ):
        for (best, margin), two, found in zip(
            model.predict_confidence(X), model.predict_nbest(X, 2), model.predict(X), strict=True
        ):
            assert np.array_equal(best, found)
            assert margin == pytest.approx(two[0][1] - two[1][1]) and margin >= 0


def test_what_cannot_be_ranked_says_so(rng):
    X = rng.normal(size=(30, 2))
    many = MultilabelSVM(lam=0.1, pairs="none").fit(X, [{k % 21} for k in range(30)])
    for ask in (many.predict_nbest, many.predict_confidence):
        with pytest.raises(ValueError, match="21 labels have too many"):
            ask(X)
    variables = [{"states": 2}] * 21
    factors = [{"template": "own", "variables": [v], "attributes": [1.0]} for v in range(21)]
    large = {"variables": variables, "factors": factors}
    with pytest.raises(ValueError, match="graph 0 has more than"):
        FactorGraphSVM(lam=0.1).fit([large], [[1] * 21]).predict_nbest([large])
    nodes = [(rng.normal(size=(3, 2)), np.array([[0, 1], [1, 2]])) for _ in range(4)]
    graphs = PottsSVM(lam=0.1).fit(nodes, [[0, 1, 1]] * 4)
    for ask in (graphs.predict_nbest, graphs.predict_confidence):
        with pytest.raises(NotImplementedError, match="minimum cut"):
            ask(nodes)
    with pytest.raises(ValueError, match="at least 1"):
        many.predict_nbest(X, 0)
