"""scikit-learn's conventions."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import (
    BinarySVM,
    ChainSVM,
    FactorGraphSVM,
    GraphSVM,
    GridSVM,
    MatchingSVM,
    MulticlassSVM,
    MultilabelSVM,
    PottsSVM,
    SegmentSVM,
    TreeSVM,
)

NOT_SO_EXACT = "it compares to 7 digits; see test_weights_of_rows_are_repetitions"


def expected(estimator):
    return {
        "check_sample_weight_equivalence_on_dense_data": NOT_SO_EXACT,
        "check_sample_weight_equivalence_on_sparse_data": NOT_SO_EXACT,
    }


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([BinarySVM(), MulticlassSVM()], expected_failed_checks=expected)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


ALL = [BinarySVM, MulticlassSVM, MultilabelSVM, ChainSVM]
ALL += [SegmentSVM, PottsSVM, GraphSVM, GridSVM, TreeSVM, MatchingSVM, FactorGraphSVM]


@pytest.mark.parametrize("cls", ALL)
def test_parameters_are_kept_as_they_are(cls):
    estimator = cls(lam=0.3, tol=0.5, verbose=0)
    assert clone(estimator).get_params() == estimator.get_params()
    assert estimator.set_params(max_passes=7).max_passes == 7
    assert "lam=0.3" in repr(estimator)
    with pytest.raises(TypeError):
        cls(lamda=0.3)


def test_grid_search_over_sequences(sequences):
    X, y = sequences
    search = GridSearchCV(ChainSVM(), {"lam": [0.01, 0.1, 10.0]}, cv=KFold(3)).fit(X, y)
    assert search.best_params_["lam"] < 10.0 and search.best_score_ > 0.7
    assert cross_val_score(ChainSVM(C=1.0), X, y, cv=KFold(3)).shape == (3,)


def test_pipelines():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), BinarySVM(C=1.0)).fit(X, y)
    assert model.score(X, y) > 0.97
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), MulticlassSVM(C=1.0))
    assert model.fit(X, y).score(X, y) > 0.9
    assert list(model[-1].feature_names_in_) == list(X.columns)


def test_pickles_predict_the_same_and_go_on(sequences):
    X, y = sequences
    model = ChainSVM(lam=0.05, warm_start=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.coef_, model.coef_)
    for a, b in zip(again.predict(X), model.predict(X), strict=True):
        assert a.tolist() == b.tolist()
    assert again.certificate_ == model.certificate_
    assert again.history_.tobytes() == model.history_.tobytes()
    again.tol = 1e-3
    again.fit(X, y)
    assert again.certificate_.gap <= 1e-3
    assert again.history_["dual"][0] >= model.certificate_.dual - 1e-9  # it went on from there


def test_a_warm_start_on_other_data_is_a_cold_one(sequences):
    X, y = sequences
    model = ChainSVM(lam=0.05, warm_start=True).fit(X[:20], y[:20]).fit(X, y)
    assert np.array_equal(model.coef_, ChainSVM(lam=0.05).fit(X, y).coef_)


def test_multiclass_agrees_with_crammer_and_singer_of_liblinear():
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    ours = MulticlassSVM(C=1.0, tol=1e-4, fit_intercept=False, standardise=False).fit(X, y)
    theirs = LinearSVC(
        C=1.0, multi_class="crammer_singer", tol=1e-6, fit_intercept=False, max_iter=100_000
    ).fit(X, y)
    lam = 1.0 / len(X)

    def objective(w):
        margins = X @ w.T
        truth = margins[np.arange(len(X)), y]
        other = margins + (np.arange(10) != y[:, None])
        return lam / 2 * np.sum(w**2) + np.mean(other.max(axis=1) - truth)

    assert objective(ours.coef_) == pytest.approx(ours.certificate_.primal, abs=1e-9)
    assert objective(theirs.coef_) >= ours.certificate_.dual - 1e-9
    assert objective(ours.coef_) <= objective(theirs.coef_) + 1e-4
    assert np.allclose(ours.decision_function(X), X @ ours.coef_.T)


def test_binary_agrees_with_the_hinge_svm_of_liblinear():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = BinarySVM(C=0.5, tol=1e-5, fit_intercept=False).fit(X, y)
    theirs = LinearSVC(C=0.5, loss="hinge", tol=1e-8, fit_intercept=False, max_iter=10**6)
    theirs.fit(X, y)
    lam, sign = 2.0 / len(X), np.where(y == 1, 1.0, -1.0)

    def objective(w):
        return lam / 2 * np.sum(w**2) + np.mean(np.maximum(0, 1 - sign * (X @ w.ravel())))

    primal = objective(ours.coef_)
    # Scores of the two labels differ by twice the score, and the margin is asked of the difference.
    assert primal == pytest.approx(ours.certificate_.primal, abs=1e-9)
    assert primal <= objective(theirs.coef_) + 1e-5
    assert np.allclose(ours.decision_function(X), X @ ours.coef_[0])


def test_sparse_dense_frames_and_dictionaries_agree(rng):
    X, y = rng.normal(size=(40, 5)), rng.integers(3, size=40)
    X[np.abs(X) < 0.5] = 0.0
    dense = MulticlassSVM(lam=0.1).fit(X, y)
    names = [f"c{j}" for j in range(5)]
    rows = [{n: v for n, v in zip(names, row.tolist(), strict=True)} for row in X]
    for other in (sp.csr_matrix(X), sp.csc_matrix(X), pd.DataFrame(X, columns=names), rows):
        model = MulticlassSVM(lam=0.1).fit(other, y)
        assert np.allclose(model.coef_, dense.coef_), type(other)
        assert np.array_equal(model.predict(other), dense.predict(X))
    assert [len(best) for best in dense.predict_nbest(X, 2)] == [2] * 40
    labels, margins = dense.predict_confidence(X)
    assert np.array_equal(labels, dense.predict(X)) and (margins >= 0).all()


def test_weights_of_rows_are_repetitions(rng):
    X, y = rng.normal(size=(30, 4)), rng.integers(3, size=30)
    weights = rng.integers(0, 3, size=30)
    weighted = MulticlassSVM(lam="1/n", tol=1e-9).fit(X, y, sample_weight=weights)
    repeated = MulticlassSVM(lam="1/n", tol=1e-9).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert weighted.verify(X, y, sample_weight=weights) == []
    assert weighted.verify(X, y) != []
    assert weighted.certificate_.lam == repeated.certificate_.lam
    assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, abs=2e-9)


def test_costs_enter_as_the_formulas_say(rng):
    X, y = rng.normal(size=(60, 4)), rng.integers(3, size=60)
    costs = np.array([[0, 9, 9], [1, 0, 1], [1, 1, 0]])
    for rescaling in ("margin", "slack"):
        model = MulticlassSVM(lam=0.1, costs=costs, rescaling=rescaling, fit_intercept=False)
        model.fit(X, y)
        scores = X @ model.coef_.T
        ahead = scores - scores[np.arange(60), y][:, None]
        own = costs[y]
        hinge = own + ahead if rescaling == "margin" else own * (1 + ahead)
        primal = 0.05 * np.sum(model.coef_**2) + hinge.max(axis=1).mean()
        assert primal == pytest.approx(model.certificate_.primal, abs=1e-9)
        assert model.status_ == "converged"
    with pytest.raises(ValueError, match="correctly costs"):
        MulticlassSVM(costs=np.eye(3)).fit(X, y)
