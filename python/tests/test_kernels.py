"""Kernels: against explicit features, against models without, and against the command line."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from test_files import as_text, needs_command, run

import maxmargin
from maxmargin import ChainSVM, MulticlassSVM, MultilabelSVM, regularization_path

#: A fixed method, so that runs can be compared.
METHOD = {"solver": "bcfw", "order": "permutation", "direction": "fw"}


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(40, 3)).round(3)  # files have few digits
    return X, (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)


def estimators(X, y, **settings):
    """Each kind with a kernel, and data for it."""
    halves = [X[:15], X[15:25], X[25:]], [y[:15], y[15:25], y[25:]]
    sets = [{f"k{k}", "x"} if k else {"z"} for k in y]
    yield ChainSVM(**settings), *halves
    yield MulticlassSVM(fit_intercept=False, **settings), X, y
    yield MultilabelSVM(fit_intercept=False, **settings), X, sets


def test_the_linear_kernel_changes_nothing(rows):
    settings = {"lam": 0.5, "tol": 0.01, **METHOD}
    plain = estimators(*rows, **settings)
    for (one, X, y), (other, _, _) in zip(
        plain, estimators(*rows, kernel="linear", **settings), strict=True
    ):
        if isinstance(one, ChainSVM):
            # The value with kernels.
            one.set_params(transition_scale=1.0)
        one.fit(X, y)
        other.fit(X, y)
        assert other.certificate_.primal == pytest.approx(one.certificate_.primal, rel=1e-9)
        assert other.certificate_.dual == pytest.approx(one.certificate_.dual, rel=1e-9)
        assert other.n_iter_ == one.n_iter_
        if isinstance(one, MultilabelSVM):
            assert other.predict(X) == one.predict(X)
        else:
            # Scores and not labels, since two labels may have the same one.
            scores = zip(other.decision_function(X), one.decision_function(X), strict=True)
            assert all(np.allclose(found, expected, atol=1e-9) for found, expected in scores)
        assert other.verify(X, y) == []


def test_a_polynomial_is_its_features(rows):
    """(⟨a, b⟩/2 + 1)² is an inner product of all monomials up to degree 2."""
    X, y = rows
    scale = {True: 0.5, False: np.sqrt(0.5)}
    squares = [scale[i == j] * X[:, i] * X[:, j] for i in range(3) for j in range(i + 1)]
    features = np.column_stack([np.ones(len(X)), X, *squares])
    settings = {"lam": 0.02, "tol": 1e-4, "fit_intercept": False, "max_passes": 5000}
    explicit = MulticlassSVM(**settings).fit(features, y)
    kernel = MulticlassSVM(kernel="poly", gamma=0.5, degree=2, coef0=1.0, **settings).fit(X, y)
    a, b = explicit.certificate_, kernel.certificate_
    assert max(a.dual, b.dual) <= min(a.primal, b.primal) + 1e-9
    # The weights of both are within √(2·gap/λ) of one optimum, so their scores are near each other too.
    away = 2 * np.sqrt(2 * max(a.gap, b.gap) / 0.02) * np.linalg.norm(features, axis=1)
    scores = np.abs(explicit.decision_function(features) - kernel.decision_function(X))
    assert (scores <= away[:, None] + 1e-9).all()


def test_what_no_linear_model_can_do(rows):
    X, y = rows
    linear = MulticlassSVM(lam=1e-3).fit(X, y).score(X, y)
    kernel = MulticlassSVM(lam=1e-3, kernel="rbf").fit(X, y)
    assert kernel.score(X, y) > max(linear, 0.9)
    inputs = kernel.support_vectors_.shape[0]
    assert kernel.support_vectors_.shape == (inputs, 3) and kernel.dual_coef_.shape == (3, inputs)
    assert not hasattr(kernel, "coef_")


def test_everything_a_fitted_model_can_do(rows, tmp_path):
    for model, X, y in estimators(*rows, lam=0.01, kernel="rbf", gamma=0.7):
        model.fit(X, y)
        file = tmp_path / "model.safetensors"
        model.save(file)
        for again in (pickle.loads(pickle.dumps(model)), maxmargin.load(file)):
            assert as_text(again.predict(X)) == as_text(model.predict(X))
            assert again.get_params()["gamma"] == 0.7 and again.kernel == "rbf"
            assert again.support_vectors_.shape == model.support_vectors_.shape
        assert clone(model).get_params() == model.get_params()
        model.to_report(tmp_path / "page.html", "kernel")
        model.plot_weights(top=3)
        assert model.verify(X, y) == []
        early = clone(model).set_params(patience=2).fit(X, y)
        assert 0.0 <= early.validation_error_ <= 1.0
        passes = model.n_iter_
        assert model.set_params(warm_start=True).fit(X, y).n_iter_ <= passes


def test_chains_with_kernels_rank_too(rows):
    model, X, y = next(estimators(*rows, lam=0.01, kernel="rbf"))
    model.fit(X, y)
    best = model.predict(X)
    for own, ranked, (confident, margins) in zip(
        best, model.predict_nbest(X, 3), model.predict_confidence(X), strict=True
    ):
        assert np.array_equal(ranked[0][0], own) and np.array_equal(confident, own)
        assert ranked[0][1] >= ranked[1][1] >= ranked[2][1] and (margins >= 0).all()
        # Whoever changes one label pays at least the smallest margin.
        assert ranked[0][1] - ranked[1][1] == pytest.approx(margins.min())
    assert set(model.weights_) == {"coefficients", "transition", "bias", "first", "last"}


@needs_command
@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("--kernel rbf", {"kernel": "rbf"}),
        ("--kernel rbf --gamma 0.5", {"kernel": "rbf", "gamma": 0.5}),
        ("--kernel poly --degree 2 --coef0 0.5", {"kernel": "poly", "degree": 2, "coef0": 0.5}),
        ("--kernel linear --kernel-bytes 1000", {"kernel": "linear", "kernel_bytes": 1000}),
    ],
)
def test_the_command_line_finds_the_same(rows, tmp_path, options, parameters):
    X, y = rows
    data, file = tmp_path / "rows.svm", tmp_path / "model.safetensors"
    dump_svmlight_file(X, y, str(data), zero_based=False)
    method = "--solver bcfw --order permutation --direction fw --lambda 0.05 --tolerance 1e-3"
    run("train", data, "--model", "multiclass", "-q", "-o", file, *method.split(), *options.split())
    theirs = MulticlassSVM.load(file)
    ours = MulticlassSVM(lam=0.05, tol=1e-3, **METHOD, **parameters).fit(X, y)
    assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=1e-9)
    assert ours.certificate_.gap == pytest.approx(theirs.certificate_.gap, rel=1e-6)
    assert [str(k) for k in ours.predict(X)] == list(theirs.predict(X))
    for name, value in parameters.items():
        assert getattr(theirs, name) == value
    ours.save(file)
    assert "holds" in run("verify", file, data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "sigmoid"}, "known are"),
        ({"gamma": 1.0}, "without a kernel"),
        ({"kernel": "linear", "gamma": 1.0}, "gamma is none of 'linear'"),
        ({"kernel": "rbf", "degree": 2}, "degree is none of 'rbf'"),
        ({"kernel": "rbf", "gamma": -1.0}, "positive"),
        ({"kernel": "poly", "degree": 0}, "degree"),
        ({"kernel": "rbf", "bounds": (0, None)}, "bounds do not go with a kernel"),
    ],
)
def test_wrong_combinations_are_refused(rows, parameters, message):
    for model, X, y in estimators(*rows, **parameters):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)


def test_what_kernels_cannot_do_says_so(rows):
    X, y = rows
    with pytest.raises(ValueError, match="slack"):
        MulticlassSVM(kernel="rbf", rescaling="slack").fit(X, y)
    with pytest.raises(ValueError, match="paths are of weights"):
        regularization_path(MulticlassSVM(kernel="rbf"), X, y)
