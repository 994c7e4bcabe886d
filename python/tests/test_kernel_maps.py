"""Kernels by mapped inputs, against kernel values and against models with a kernel of their own."""

import pickle

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from maxmargin import FactorGraphSVM, KernelMap, MulticlassSVM, PottsSVM

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(30, 3))


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ({"kernel": "rbf", "gamma": 0.5}, lambda a, b: rbf_kernel(a, b, gamma=0.5)),
        (
            {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
            lambda a, b: polynomial_kernel(a, b, degree=2, gamma=0.5, coef0=1.0),
        ),
        ({"kernel": "linear"}, lambda a, b: a @ b.T),
    ],
)
def test_inner_products_are_kernel_values(options, values):
    kernel = KernelMap(**options).fit(ROWS)
    z, other = kernel.transform(ROWS), RNG.normal(size=(5, 3))
    assert z.shape == (30, kernel.n_features_out_) and kernel.left_over_ <= 1e-10
    assert z @ z.T == pytest.approx(values(ROWS, ROWS), abs=1e-8)
    # A new input is known by its kernel values with those of fit.
    assert kernel.transform(other) @ z.T == pytest.approx(values(other, ROWS), abs=1e-6)
    few = KernelMap(**options, max_features=2).fit(ROWS)
    small = few.transform(ROWS)
    assert small.shape == (30, 2)
    assert np.abs(small @ small.T - values(ROWS, ROWS)).max() <= few.left_over_ + 1e-9
    again = pickle.loads(pickle.dumps(kernel))
    assert (again.transform(other) == kernel.transform(other)).all()


def test_mapped_classes_are_those_with_a_kernel():
    y = (np.abs(ROWS).sum(axis=1) > 2.2).astype(int)
    plain = {"lam": 0.01, "tol": 1e-5, "fit_intercept": False, "standardise": False}
    own = MulticlassSVM(kernel="rbf", gamma=0.7, **plain).fit(ROWS, y)
    mapped = KernelMap(gamma=0.7).fit_transform(ROWS)
    other = MulticlassSVM(**plain).fit(mapped, y)
    a, b = own.certificate_, other.certificate_
    assert abs(a.primal - b.primal) <= a.gap + b.gap + 1e-9
    assert (own.predict(ROWS) == other.predict(mapped)).all()


def test_graphs_and_soft_training_have_kernels():
    nodes = [RNG.normal(size=(4, 2)) for _ in range(6)]
    labels = [(np.abs(x).max(axis=1) > 1.0).astype(int) for x in nodes]
    kernel = KernelMap(gamma=1.0).fit(nodes)
    mapped, edges = kernel.transform(nodes), np.array([[0, 1], [1, 2], [2, 3]])
    model = PottsSVM(lam=1e-3, tol=1e-3).fit([(x, edges) for x in mapped], labels)
    found = model.predict([(x, edges) for x in mapped])
    assert all((a == b).all() for a, b in zip(found, labels, strict=True))
    assert model.certificate_.quality == "exact"
    graphs = [
        {
            "variables": [{"states": [0, 1]}] * 4,
            "factors": [
                {"template": "node", "variables": [v], "attributes": x[v].tolist()}
                for v in range(4)
            ]
            + [
                {"template": "edge", "variables": edge.tolist(), "attributes": [1.0]}
                for edge in edges
            ],
        }
        for x in mapped
    ]
    soft = FactorGraphSVM(lam=1e-2, training="soft", rho=1.0, tol=1e-2).fit(graphs, labels)
    assert soft.certificate_.gap <= 1e-2


def test_inputs_without_meaning_are_refused():
    for wrong, text in [
        ({"kernel": "cubic"}, "known are"),
        ({"gamma": -1.0}, "gamma"),
        ({"max_features": 0}, "max_features"),
    ]:
        with pytest.raises(ValueError, match=text):
            KernelMap(**wrong).fit(ROWS)
    with pytest.raises(ValueError, match="two dimensions"):
        KernelMap().fit(ROWS[0])
    with pytest.raises(ValueError, match="must be finite"):
        KernelMap().fit([[np.nan]])
    with pytest.raises(ValueError, match="attributes"):
        KernelMap().fit(ROWS).transform(ROWS[:, :2])
