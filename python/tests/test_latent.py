"""Latent variables, by the concave-convex procedure."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import maxmargin
from maxmargin import ConvergenceWarning, GraphSVM, LatentSVM, StructuredSVM, grid_edges


def latent_objective(model, X, y, lam, seen, weights=None):
    """The latent objective from its definition, over all outputs of small graphs."""
    estimator = model.estimator_
    states = estimator.classes_.tolist()
    total = 0.0
    for at, (graph, truth) in enumerate(zip(X, y, strict=True)):
        nodes, edges = graph[0], np.asarray(graph[1]).reshape(-1, 2)
        cost = np.ones(len(nodes)) if weights is None else np.asarray(weights[at])
        unary = nodes @ estimator.unary_coef_.T + estimator.intercept_
        hinge, best = -np.inf, -np.inf
        for z in itertools.product(range(len(states)), repeat=len(nodes)):
            score = unary[np.arange(len(nodes)), list(z)].sum()
            score += sum(estimator.pairwise_coef_[0, 0, z[a], z[b]] for a, b in edges)
            right = [
                t is None or seen.get(states[s], states[s]) == t
                for s, t in zip(z, truth, strict=True)
            ]
            hinge = max(hinge, score + cost @ ~np.array(right) / cost.sum())
            best = max(best, score if all(right) else -np.inf)
        total += hinge - best
    return 0.5 * lam * np.sum(estimator.coef_**2) + total / len(X)


def test_the_objective_never_rises_and_is_that_of_the_formula(rng):
    seen = {"a": "a", "b1": "b", "b2": "b"}
    for _ in range(4):
        X, y = [], []
        for _ in range(10):
            nodes = rng.normal(size=(3, 2))
            X.append((nodes, np.array([[0, 1], [1, 2]])))
            y.append(["a" if a * b > 0 else "b" for a, b in nodes])
        model = LatentSVM(GraphSVM(lam=0.05, tol=1e-3, visible=seen), tol=0.0, max_rounds=8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        objectives = [own.objective for own in model.rounds_]
        assert all(a >= b for a, b in itertools.pairwise(objectives))
        for own in model.rounds_:
            assert own.objective <= own.bound + 1e-9
            assert own.certificate.quality == "exact"
            assert own.certificate.gap <= 1e-3 + 1e-12
        for before, after in itertools.pairwise(model.rounds_):
            assert after.bound <= before.objective + 1e-12
        written_out = latent_objective(model, X, y, 0.05, seen)
        assert model.objective_ == pytest.approx(written_out, abs=1e-9)
        assert model.estimator_.objective(X, model.latent_) == pytest.approx(written_out, abs=1e-9)
        for own, truth in zip(model.latent_, y, strict=True):
            assert model.estimator_.see(own).tolist() == truth


def test_hidden_nodes_cost_nothing(rng):
    """Two nodes that are seen hang on a hidden one, which makes them agree."""
    edges = np.array([[2, 0], [2, 1]])
    X, y, costs = [], [], []
    for _ in range(12):
        truth = int(rng.integers(2))
        hints = np.array([[truth - 0.5 + rng.normal(scale=0.7)], [0.0], [0.0]])
        X.append((hints, edges))
        y.append([truth, truth, None])
        costs.append([1.0, 1.0, 0.0])
    first = [[own[0]] * 3 for own in y]
    model = LatentSVM(GraphSVM(lam=0.01, tol=1e-4)).fit(X, y, first, node_weight=costs)
    written_out = latent_objective(model, X, y, 0.01, {}, costs)
    assert model.objective_ == pytest.approx(written_out, abs=1e-9)
    assert all(found[0] == found[1] for found in model.predict(X))


def test_kinds_of_flowers_without_names(rng):
    """Two of three kinds are one class: a state for each of them tells that class from the third."""
    X, kinds = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = [["middle"] if kind == 1 else ["outer"] for kind in kinds]
    graphs = [(row[None, :], []) for row in X]
    plain = GraphSVM(lam=0.01).fit(graphs, y)
    states = {"middle": "middle", "small": "outer", "large": "outer"}
    # The first completion is by the size of petals.
    first = [
        own if own == ["middle"] else ["large" if row[2] > 0 else "small"]
        for own, row in zip(y, X, strict=True)
    ]
    model = LatentSVM(GraphSVM(lam=0.01, visible=states)).fit(graphs, y, first)
    assert plain.score(graphs, y) < 0.85 < 0.93 < model.score(graphs, y)
    found = model.predict(graphs)
    assert np.mean([own.tolist() == truth for own, truth in zip(found, y, strict=True)]) > 0.93
    assert set(model.predict_latent(graphs)[0]) == {"small"}


def test_hidden_patches_of_boxes(rng):
    """A box of 2 × 2 lies in one quarter of a 4 × 4 image: a hidden node for each quarter finds it."""
    pixels, quarters = grid_edges((4, 4)), []
    for patch in range(4):
        r, c = 2 * (patch // 2), 2 * (patch % 2)
        quarters += [[16 + patch, 4 * i + j, 2] for i in (r, r + 1) for j in (c, c + 1)]
    edges = np.vstack([pixels, quarters])
    X, y, costs = [], [], []
    for at in range(16):
        image = np.zeros((4, 4), dtype=int)
        r, c = 2 * (at % 4 // 2), 2 * (at % 4 % 2)
        image[r : r + 2, c : c + 2] = 1
        seen = image + rng.normal(scale=0.5, size=(4, 4))
        nodes = np.zeros((20, 2))
        nodes[:16, 0], nodes[16:, 1] = seen.ravel(), 1.0
        X.append((nodes, edges))
        y.append([*image.ravel().tolist(), None, None, None, None])
        costs.append([1.0] * 16 + [0.0] * 4)
    first = [[*own[:16], *(int(own[p]) for p in (0, 2, 8, 10))] for own in y]
    model = LatentSVM(GraphSVM(lam=1e-3)).fit(X, y, first, node_weight=costs)
    flat = [[0 if k is None else k for k in own] for own in y]
    plain = GraphSVM(lam=1e-3).fit([(n[:16], pixels) for n, _ in X], [own[:16] for own in y])
    alone = plain.score([(n[:16], pixels) for n, _ in X], [own[:16] for own in y])
    assert model.score(X, flat, node_weight=costs) > max(0.97, alone)
    assert model.certificate_.quality == "upper-bound"
    objectives = [own.objective for own in model.rounds_]
    assert objectives == sorted(objectives, reverse=True)


class Shifted:
    """Short patterns at an unknown place of a long signal: an output is a class and a place."""

    n_features = 2 * 3

    def features(self, x, y):
        phi = np.zeros((2, 3))
        phi[y[0]] = x[y[1] : y[1] + 3]
        return phi.ravel()

    def loss(self, y, y_hat):
        return float(y[0] != y_hat[0])

    def _best(self, x, w, classes, truth):
        options = [(c, p) for c in classes for p in range(len(x) - 2)]
        extra = (lambda z: 0.0) if truth is None else (lambda z: self.loss(truth, z))
        return max(options, key=lambda z: w @ self.features(x, z) + extra(z))

    def decode(self, x, y, w, loss_augmented):
        return self._best(x, w, (0, 1), y if loss_augmented else None)

    def complete(self, x, y, w):
        return self._best(x, w, (y,), None)


def test_structures_of_your_own_have_latent_parts(rng):
    patterns = np.array([[1.0, 2.0, 1.0], [2.0, -1.0, 2.0]])
    X, y = [], []
    for at in range(30):
        signal, place = rng.normal(scale=0.3, size=8), int(rng.integers(6))
        signal[place : place + 3] += patterns[at % 2]
        X.append(signal)
        y.append(at % 2)
    first = [
        (k, int(np.argmax(np.convolve(x, [1, 1, 1], "valid")))) for x, k in zip(X, y, strict=True)
    ]
    model = LatentSVM(StructuredSVM(Shifted(), lam=0.01)).fit(X, y, first)
    assert np.mean([z[0] == k for z, k in zip(model.predict(X), y, strict=True)]) > 0.9
    objectives = [own.objective for own in model.rounds_]
    assert objectives == sorted(objectives, reverse=True)
    estimator = model.estimator_
    hinges = []
    for x, k in zip(X, y, strict=True):
        z = estimator.structure.complete(x, k, estimator.coef_)
        worst = estimator.structure.decode(x, z, estimator.coef_, True)
        score = estimator.structure.loss(z, worst)
        score += estimator.coef_ @ (Shifted().features(x, worst) - Shifted().features(x, z))
        hinges.append(score)
    expected = 0.005 * np.sum(estimator.coef_**2) + np.mean(hinges)
    assert model.objective_ == pytest.approx(expected, abs=1e-9)


def test_the_estimator_is_one_of_scikit_learns(rng, tmp_path):
    X = [(rng.normal(size=(2, 2)), np.array([[0, 1]])) for _ in range(12)]
    y = [["p" if row[0] * row[1] > 0 else "q" for row in nodes] for nodes, _ in X]
    seen = {"p1": "p", "p2": "p"}
    model = LatentSVM(GraphSVM(lam=0.05, visible=seen), max_rounds=3, random_state=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
        again = clone(model).fit(X, y)
    assert again.objective_ == model.objective_  # the same seed, the same bits
    copy = pickle.loads(pickle.dumps(model))
    assert [own.tolist() for own in copy.predict(X)] == [own.tolist() for own in model.predict(X)]
    model.estimator_.save(tmp_path / "model.safetensors")
    loaded = maxmargin.load(tmp_path / "model.safetensors")
    assert loaded.visible == {"p1": "p1", "p2": "p1", "q": "q"}
    assert loaded.score(X, [[{"p": "p1"}.get(k, k) for k in own] for own in y]) == model.score(X, y)
    with pytest.raises(TypeError, match="no method complete"):
        LatentSVM(maxmargin.ChainSVM()).fit(X, y)
    with pytest.raises(ValueError, match="X has 12 examples, y has 11"):
        model.fit(X, y[1:], y)
    with pytest.raises(TypeError, match="the structure has no method complete"):
        StructuredSVM(NoCompletion(), lam=0.1).fit([np.ones(8)], [(0, 0)]).complete(
            [np.ones(8)], [0]
        )


class NoCompletion(Shifted):
    complete = None
