"""Images as arrays."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import maxmargin
from maxmargin import GraphSVM, GridSVM, PottsSVM, grid_edges


def stripes(count, noise, seed=0, shape=(10, 12)):
    """Noisy images of three vertical stripes, always in the same order."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], shape[1] // 3)[None, :].repeat(shape[0], axis=0)
    X = [np.eye(3)[truth] + rng.normal(scale=noise, size=(*shape, 3)) for _ in range(count)]
    return X, [truth] * count


MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def snakes(count, seed, side=7, length=5):
    """Snakes that crawl over a grid: cells show where they went next, and labels count from the head."""
    rng, X, y = np.random.default_rng(seed), [], []
    while len(X) < count:
        cells, ways = [tuple(rng.integers(side, size=2))], []
        while len(cells) < length:
            ends = [(way, (cells[-1][0] + r, cells[-1][1] + c)) for way, (r, c) in enumerate(MOVES)]
            free = [e for e in ends if min(e[1]) >= 0 and max(e[1]) < side and e[1] not in cells]
            if not free:
                break
            way, cell = free[rng.integers(len(free))]
            ways.append(way)
            cells.append(cell)
        if len(cells) == length:
            seen, labels = np.full((side, side), 4), np.zeros((side, side), dtype=int)
            for at, (cell, way) in enumerate(zip(cells, [*ways, ways[-1]], strict=True)):
                seen[cell], labels[cell] = way, at + 1
            X.append(seen)
            y.append(labels)
    return X, y


def snake_graph(seen):
    """A cell sees itself and its neighbours; an edge sees what both of its cells see."""
    side = seen.shape[0]
    padded = np.full((side + 2, side + 2), 4)
    padded[1:-1, 1:-1] = seen
    around = [
        padded[r : r + side, c : c + side] for r, c in [(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)]
    ]
    nodes = np.concatenate([np.eye(5)[cells] for cells in around], axis=2).reshape(side * side, -1)
    edges = grid_edges(seen.shape)
    rows = np.hstack([nodes[edges[:, 0], :5], nodes[edges[:, 1], :5]])
    return nodes, edges, rows


def test_edges_join_neighbours():
    for neighbours, count in ((4, 3 * 3 + 2 * 4), (8, 3 * 3 + 2 * 4 + 2 * 2 * 3)):
        edges = grid_edges((3, 4), neighbours)
        assert edges.shape == (count, 3)
        rows, columns = np.divmod(edges[:, :2], 4)
        step = {(0, 1): 0, (1, 0): 1, (1, 1): 2, (1, -1): 3}
        ways = zip(np.diff(rows)[:, 0], np.diff(columns)[:, 0], strict=True)
        assert [step[way] for way in ways] == edges[:, 2].tolist()
    with pytest.raises(ValueError, match="neighbours is 6"):
        grid_edges((3, 4), 6)


def test_directions_are_learnt_with_the_defaults():
    X, y = stripes(15, 1.5)
    X_test, y_test = stripes(10, 1.5, seed=1)
    model = GridSVM().fit(X, y)
    alone = (
        GridSVM()
        ._estimator()
        .fit([(image.reshape(-1, 3), []) for image in X], [labels.ravel() for labels in y])
    )
    by_pixel = alone.score(
        [(image.reshape(-1, 3), []) for image in X_test], [labels.ravel() for labels in y_test]
    )
    assert by_pixel < 0.65 and model.score(X_test, y_test) > 0.88
    assert model.pairwise_coef_.shape == (2, 1, 3, 3)
    right = model.pairwise_coef_[0, 0]
    assert right[0, 1] > right[1, 0] and right[1, 2] > right[2, 1]  # the order of the stripes
    assert model.certificate_.quality == "heuristic"
    assert model.predict(X)[0].shape == (10, 12) and model.decision_function(X)[0].shape == (
        10,
        12,
        3,
    )


def test_snakes_are_learnt_with_the_defaults():
    X, y = snakes(60, 0)
    X_test, y_test = snakes(40, 1)
    graphs, labels = [snake_graph(x) for x in X], [own.ravel() for own in y]
    tests, truth = [snake_graph(x) for x in X_test], [own.ravel() for own in y_test]
    model = GraphSVM().fit(graphs, labels)
    body = [own > 0 for own in truth]

    def on_snakes(estimator, graphs):
        return estimator.score(graphs, truth, node_weight=[own.astype(float) for own in body])

    alone = GraphSVM().fit([(nodes, []) for nodes, *_ in graphs], labels)
    assert on_snakes(alone, [(nodes, []) for nodes, *_ in tests]) < 0.8
    assert on_snakes(model, tests) > 0.9
    assert model.certificate_.quality == "heuristic"


@pytest.mark.parametrize(
    ("pairwise", "labels", "kind", "quality"),
    [
        ("potts", 2, PottsSVM, "exact"),
        ("potts", 3, PottsSVM, "heuristic"),
        ("symmetric", 2, GraphSVM, "upper-bound"),
        ("directional", 2, GraphSVM, "upper-bound"),
        ("directional", 3, GraphSVM, "heuristic"),
    ],
)
def test_the_certificate_says_what_it_is_worth(pairwise, labels, kind, quality, tmp_path):
    X, y = stripes(6, 0.8, shape=(5, 6))
    y = [np.minimum(own, labels - 1) for own in y]
    model = GridSVM(lam=0.05, pairwise=pairwise, neighbours=8, tol=0.05).fit(X, y)
    assert isinstance(model.estimator_, kind) and model.certificate_.quality == quality
    assert model.score(X, y) > 0.8
    with warnings.catch_warnings():  # that a heuristic can prove nothing
        warnings.simplefilter("ignore" if quality == "heuristic" else "error")
        assert model.verify(X, y) == []
    again = clone(model).fit(X, y)
    assert np.array_equal(again.coef_, model.coef_)
    model.save(tmp_path / "model.safetensors")
    assert isinstance(maxmargin.load(tmp_path / "model.safetensors"), kind)
    model.to_report(tmp_path / "page.html")
    assert "</html>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    before = model.certificate_.primal
    assert model.prune(X, y, keep=0.9).cost == pytest.approx(model.certificate_.primal - before)


def test_what_is_wrong_is_said():
    X, y = stripes(2, 1.0)
    for wrong, match in (
        ({"pairwise": "any"}, "pairwise is 'any'"),
        ({"neighbours": 5}, "neighbours is 5"),
        ({"loss": "balanced"}, "loss is 'balanced'"),
    ):
        with pytest.raises(ValueError, match=match):
            GridSVM(**wrong).fit(X, y)
    with pytest.raises(ValueError, match="image 0 has 10 × 12 pixels, and labels of the shape"):
        GridSVM().fit(X, [own[:5] for own in y])
    with pytest.raises(ValueError, match="image 0: expected an array of height"):
        GridSVM().fit([x[0, 0] for x in X], y)
    with pytest.raises(ValueError, match="X has 2 images and y has 1"):
        GridSVM().fit(X, y[:1])


def noisy_stripes(rng, count, shape, labels=3):
    """Images of stripes of several labels under noise."""
    X, y = [], []
    for _ in range(count):
        truth = (np.add.outer(np.arange(shape[0]) // 2, np.arange(shape[1]) // 3)) % labels
        X.append(np.eye(labels)[truth] + rng.normal(scale=0.7, size=(*shape, labels)))
        y.append(truth)
    return X, y


@pytest.mark.parametrize("pairwise", ["directional", "potts"])
def test_a_heuristic_comes_with_a_bound_of_the_true_objective(rng, pairwise):
    X, y = noisy_stripes(rng, 4, (2, 4))
    inference = "expansion" if pairwise == "potts" else "max-product"
    model = GridSVM(lam=0.05, pairwise=pairwise, inference=inference).fit(X, y)
    c = model.certificate_
    assert c.quality == "heuristic" and c.primal <= c.upper_bound
    assert c.proven_gap == c.gap + c.missed >= c.gap
    # The true objective, by trying out all labellings.
    edges = maxmargin.grid_edges((2, 4))
    all_of_them = np.array(list(itertools.product(range(len(model.classes_)), repeat=8)))
    hinges = []
    for x, labels in zip(X, y, strict=True):
        truth = np.searchsorted(model.classes_, labels)
        nodes = x.reshape(8, 3) @ model.unary_coef_.T + model.intercept_
        scores = nodes[np.arange(8), all_of_them].sum(axis=1)
        for a, b, kind in edges:
            if pairwise == "potts":
                differ = all_of_them[:, a] != all_of_them[:, b]
                scores -= model.pairwise_coef_[0] * differ
            else:
                table = model.pairwise_coef_[kind, 0]
                scores += table[all_of_them[:, a], all_of_them[:, b]]
        if pairwise == "potts":
            scores = scores / 8
        loss = (all_of_them != truth.ravel()).mean(axis=1)
        own = np.flatnonzero((all_of_them == truth.ravel()).all(axis=1))[0]
        hinges.append(np.max(loss + scores) - scores[own])
    objective = 0.5 * c.lam * float(model.coef_ @ model.coef_) + np.mean(hinges)
    assert c.primal - 1e-9 <= objective <= c.upper_bound + 1e-9
    assert model.verify(X, y) == []


def test_bounds_of_large_grids_are_near(rng, tmp_path):
    X, y = noisy_stripes(rng, 3, (12, 12))
    model = GridSVM(lam=0.01).fit(X, y)
    c = model.certificate_
    assert c.quality == "heuristic" and model.score(X, y) > 0.9
    assert c.proven_gap <= 0.5 * c.upper_bound
    assert " to " in c._repr_html_()
    model.save(tmp_path / "model")
    again = maxmargin.load(tmp_path / "model")
    assert again.certificate_ == c
    exact = GridSVM(lam=0.01, pairwise="potts").fit(X, [own % 2 for own in y])
    assert exact.certificate_.missed is None
    assert exact.certificate_.upper_bound == exact.certificate_.primal
    assert exact.certificate_.proven_gap == exact.certificate_.gap
