"""Links between the items of two lists."""

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
from maxmargin import MatchingSVM


def lists(rng, count):
    """Three items and their noisy copies, in another order, one of which may be missing."""
    X, y = [], []
    for _ in range(count):
        left, order = rng.normal(size=3), rng.permutation(3)[: rng.integers(2, 4)]
        right = left[order] + rng.normal(scale=0.3, size=len(order))
        away = np.abs(np.subtract.outer(left, right))
        X.append(np.stack([-away, away**2], axis=2))
        y.append([(int(r), c) for c, r in enumerate(order)])
    return X, y


def all_sets(rows, columns, most):
    links = list(itertools.product(range(rows), range(columns)))
    for size in range(len(links) + 1):
        for chosen in itertools.combinations(links, size):
            per_row = np.bincount([r for r, _ in chosen], minlength=rows)
            per_column = np.bincount([c for _, c in chosen], minlength=columns)
            if max(per_row.max(), per_column.max()) <= most:
                yield set(chosen)


def score(model, x, links):
    return sum(x[r, c] @ model.link_coef_ + model.intercept_ for r, c in links)


@pytest.mark.parametrize("most", [1, 2])
def test_the_objective_is_that_of_the_formulas(rng, most):
    X, y = lists(rng, 8)
    possible = [[(int(rng.integers(3)), 0)] for _ in X]
    counts = [rng.random(x.shape[:2]) + 0.5 for x in X]
    model = MatchingSVM(
        lam=0.05, missing=2.0, most_per_row=most, most_per_column=most, tol=1e-3, solver="bcfw"
    ).fit(X, y, possible=possible, link_weight=counts)
    assert model.certificate_.quality == "exact"
    hinges = []
    for x, truth, free, count in zip(X, y, possible, counts, strict=True):
        sure, maybe = set(truth), set(free) - set(truth)
        outputs = [*all_sets(*x.shape[:2], most), sure]

        def loss(links, sure=sure, maybe=maybe, count=count):
            wrong = sum(count[link] for link in links - sure - maybe)
            return (wrong + 2.0 * sum(count[link] for link in sure - links)) / len(sure)

        hinges.append(max(loss(o) + score(model, x, o) for o in outputs) - score(model, x, sure))
        best = max(score(model, x, o) for o in outputs[:-1])
        found = model.predict([x])[0].tolist()
        assert score(model, x, found) == pytest.approx(best, abs=1e-9)
        table = model.decision_function([x])[0]
        assert sum(table[r, c] for r, c in found) == pytest.approx(best, abs=1e-9)
        if most == 1:
            top = sorted((score(model, x, o) for o in outputs[:-1]), reverse=True)[:4]
            assert [value for _, value in model.predict_nbest([x], 4)[0]] == pytest.approx(top)
    primal = 0.025 * np.sum(model.coef_**2) + np.mean(hinges)
    assert primal == pytest.approx(model.certificate_.primal, abs=1e-9)
    assert model.verify(X, y, possible=possible, link_weight=counts) == []
    merged = [{"sure": a, "possible": b} for a, b in zip(y, possible, strict=True)]
    again = clone(model).fit(X, merged, link_weight=counts)
    assert np.array_equal(again.coef_, model.coef_)
    assert again.score(X, merged) == model.score(X, y, possible=possible)


def test_weights_are_repetitions(rng):
    X, y = lists(rng, 8)
    weights = rng.integers(1, 4, size=8)
    repeated = [i for i, w in enumerate(weights) for _ in range(w)]
    one = MatchingSVM(C=1.0, tol=1e-6).fit(X, y, sample_weight=weights)
    many = MatchingSVM(C=1.0, tol=1e-6).fit([X[i] for i in repeated], [y[i] for i in repeated])
    assert same_optimum(one, many)


def test_candidates_may_be_few(rng):
    X, y = lists(rng, 10)
    dense = MatchingSVM(lam=0.02, solver="bcfw").fit(X, y)
    few = []
    for x in X:
        links = np.array(list(np.ndindex(*x.shape[:2])))
        order = rng.permutation(len(links))
        few.append((x.shape[:2], links[order], x.reshape(-1, 2)[order]))
    assert np.array_equal(MatchingSVM(lam=0.02, solver="bcfw").fit(few, y).coef_, dense.coef_)
    sparse = [(size, links, sp.csr_matrix(rows)) for size, links, rows in few]
    assert np.array_equal(MatchingSVM(lam=0.02, solver="bcfw").fit(sparse, y).coef_, dense.coef_)
    only_true = [(x.shape[:2], own, [x[r, c] for r, c in own]) for x, own in zip(X, y, strict=True)]
    model = MatchingSVM(lam=0.02, solver="bcfw").fit(only_true, y)
    assert model.decision_function(only_true)[0].min() == -np.inf
    for own, found in zip(y, model.predict(only_true), strict=True):
        assert {tuple(link) for link in found.tolist()} <= set(own)
    flat = MatchingSVM(lam=0.02, solver="bcfw").fit([x[:, :, 0] for x in X], y)
    assert flat.n_features_in_ == 1
    nothing = MatchingSVM(lam=0.02, solver="bcfw").fit([*X, np.zeros((2, 0, 2))], [*y, []])
    assert nothing.predict([np.zeros((2, 0, 2))])[0].shape == (0, 2)


def test_scikit_learns_tools_and_files(rng, tmp_path):
    X, y = lists(rng, 30)
    model = MatchingSVM(lam=0.02, solver="bcfw").fit(X, y)
    assert model.score(X, y) > 0.7
    again = pickle.loads(pickle.dumps(model))
    assert [a.tolist() for a in again.predict(X)] == [a.tolist() for a in model.predict(X)]
    search = GridSearchCV(MatchingSVM(), {"lam": [0.01, 100.0]}, cv=KFold(3)).fit(X, y)
    assert search.best_params_["lam"] == 0.01
    judged = MatchingSVM(lam=0.02, solver="bcfw").fit(X[:20], y[:20], validation=(X[20:], y[20:]))
    assert judged.validation_error_ == pytest.approx(1 - judged.score(X[20:], y[20:]))
    model.save(tmp_path / "model.safetensors")
    loaded = maxmargin.load(tmp_path / "model.safetensors")
    assert isinstance(loaded, MatchingSVM) and loaded.fit_intercept
    assert [a.tolist() for a in loaded.predict(X)] == [a.tolist() for a in model.predict(X)]
    model.to_report(tmp_path / "page.html")
    assert model.plot_weights() is not None
    assert MatchingSVM(lam=0.02, bounds=(0, None)).fit(X, y).coef_.min() >= 0
    path = maxmargin.regularization_path(MatchingSVM(), X, y, epsilon=0.2, lambda_min=0.05)
    assert path.best(X, y).score(X, y) > 0.7


@needs_command
def test_the_command_line_and_python_read_the_same(rng, tmp_path):
    X, y = lists(rng, 5)
    MatchingSVM(lam=0.02, solver="bcfw").fit(X, y).save(tmp_path / "model.safetensors")
    sentences = tmp_path / "pairs.tsv"
    sentences.write_text("the house\tla maison\t1-1 2-2\nthe dog\tle chien\t1p1 2-2\n")
    words, links = maxmargin.read_alignments(sentences)
    assert words[1] == (["the", "dog"], ["le", "chien"])
    assert links[1] == {"sure": [(1, 1)], "possible": [(0, 0)]}
    with pytest.raises(AssertionError, match="made from no file"):
        run("predict", tmp_path / "model.safetensors", sentences)
    trained = tmp_path / "cli.safetensors"
    run("train", "--model", "matching", sentences, "--output", trained, "--lambda", "0.05")
    theirs = maxmargin.load(trained)
    assert theirs.n_features_in_ == 27 and not theirs.fit_intercept
    assert theirs.predict([np.zeros((2, 2, 27))])[0].shape == (0, 2)


def test_what_is_wrong_is_said(rng):
    X, y = lists(rng, 2)

    def refused(match, x=X[1], links=y[1], extra=None, **parameters):
        with pytest.raises(ValueError, match=match):
            MatchingSVM(**parameters).fit([X[0], x], [y[0], links], **(extra or {}))

    refused("most_per_row is 1.5; it must be a whole number", most_per_row=1.5)
    refused("wrong is nan; it must be a finite number", wrong=np.nan)
    refused("pair 1: expected an array", x=np.zeros(3))
    refused("pair 1: a tuple has three parts", x=((2, 2), [[0, 0]]))
    refused("pair 1: links have 1 features", x=X[1][:, :, :1])
    refused("pair 1: the link \\(0, 0\\): attribute 0 has the value NaN", x=X[1] * np.nan)
    refused("pair 1: links are rows of two", links=[(0, 1, 2)])
    refused("pair 1: links are rows of two", links=[(0.5, 1.0)])
    refused("pair 1: the link \\(9, 0\\) has an end outside", links=[(9, 0)])
    refused("pair 1: the link \\(-1, 0\\) has an end outside", links=[(-1, 0)])
    refused("sure link \\(0, 1\\) is not among", x=((2, 2), [[0, 0]], [[1.0, 2.0]]), links=[(0, 1)])
    refused("each once", x=((2, 2), [[0, 0], [0, 0]], np.ones((2, 2))), links=[])
    refused("2 candidates and features of 1", x=((2, 2), [[0, 0], [1, 1]], np.ones((1, 2))))
    refused("outside the pair", x=((1, 1), [[0, 0], [1, 1]], np.ones((2, 2))), links=[])
    refused("not \\['maybe'\\]", links={"maybe": []})
    refused(
        "link_weight has the shape", extra={"link_weight": [np.ones(X[0].shape[:2]), np.ones(1)]}
    )
    refused("weight of link", extra={"link_weight": [-np.ones(x.shape[:2]) for x in X]})
    refused("possible has 1", extra={"possible": [[]]})
    refused("at least one link", most_per_row=0)
    refused("cost", wrong=-1.0)
    with pytest.raises(ValueError, match="one link per row and column"):
        MatchingSVM(most_per_row=2).fit(X, y).predict_nbest(X, 2)
