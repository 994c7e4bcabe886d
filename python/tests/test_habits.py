"""What users of scikit-learn are used to: weights of classes, more data, labels of any type, weights to read."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import maxmargin
from maxmargin import (
    BinarySVM,
    ChainSVM,
    GraphSVM,
    MatchingSVM,
    MulticlassSVM,
    MultilabelSVM,
    Pruning,
    StructuredSVM,
    TreeSVM,
)


def test_class_weights_are_those_of_liblinear():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for weight in ({0: 5.0}, "balanced"):
        ours = BinarySVM(C=0.1, tol=1e-5, fit_intercept=False, class_weight=weight).fit(X, y)
        theirs = LinearSVC(
            C=0.1, loss="hinge", tol=1e-8, fit_intercept=False, max_iter=10**6, class_weight=weight
        ).fit(X, y)
        assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.995
        own = 1 / np.bincount(y) * len(y) / 2 if weight == "balanced" else np.array([5.0, 1.0])
        sign, each = np.where(y == 1, 1.0, -1.0), own[y]

        def objective(w, sign=sign, each=each, lam=ours.certificate_.lam):
            hinge = np.maximum(0, 1 - sign * (X @ w.ravel()))
            return lam / 2 * np.sum(w**2) + np.average(hinge, weights=each)

        assert objective(ours.coef_) == pytest.approx(ours.certificate_.primal, abs=1e-9)
        assert objective(theirs.coef_) >= ours.certificate_.dual - 1e-9
        assert ours.verify(X, y) == []
    # By the rule, λ goes with what classes count.
    plain, heavy = BinarySVM().fit(X, y), BinarySVM(class_weight={0: 9.0, 1: 9.0}).fit(X, y)
    assert heavy.certificate_.lam == pytest.approx(plain.certificate_.lam / 9)


def test_class_weights_multiply_sample_weights(rng):
    X, y = rng.normal(size=(40, 3)), np.array(["a", "b"])[rng.integers(2, size=40)]
    weights = rng.uniform(0.5, 2.0, size=40)
    by_class = MulticlassSVM(lam=0.1, class_weight={"a": 3.0}).fit(X, y, weights)
    by_hand = MulticlassSVM(lam=0.1).fit(X, y, weights * np.where(y == "a", 3.0, 1.0))
    assert np.array_equal(by_class.coef_, by_hand.coef_)
    assert by_class.verify(X, y, sample_weight=weights) == []
    for wrong, text in [
        ({"c": 1.0}, "label 'c', which the data do not have"),
        ({"a": -1.0}, "must not be negative"),
        ({"a": float("nan")}, "finite number"),
        ("much", "or 'balanced'"),
    ]:
        with pytest.raises(ValueError, match=text):
            MulticlassSVM(class_weight=wrong).fit(X, y)


def test_class_weights_of_tokens_are_costs_by_label(sequences):
    X, y = sequences
    own = ChainSVM(lam=0.05, class_weight={"red": 4.0}).fit(X, y)
    same = ChainSVM(lam=0.05, label_weights={"red": 4.0}).fit(X, y)
    assert np.array_equal(own.coef_, same.coef_) and own.verify(X, y) == []
    counts = {name: sum(labels.count(name) for labels in y) for name in ("red", "green", "blue")}
    costs = {name: sum(counts.values()) / (3 * count) for name, count in counts.items()}
    balanced = ChainSVM(lam=0.05, class_weight="balanced").fit(X, y)
    by_hand = ChainSVM(lam=0.05, label_weights=costs).fit(X, y)
    assert np.allclose(balanced.coef_, by_hand.coef_)
    with pytest.raises(ValueError, match="say the same"):
        ChainSVM(class_weight="balanced", label_weights={"red": 2.0}).fit(X, y)


def test_class_weights_of_sets(rng):
    X = rng.normal(size=(60, 4))
    y = (X[:, :3] + rng.normal(size=(60, 3)) > 1.0).astype(int)
    plain = MultilabelSVM(lam=0.1).fit(X, y)
    heavy = MultilabelSVM(lam=0.1, class_weight={0: 20.0}).fit(X, y)

    def wrong(model):
        return np.sum(model.predict(X)[:, 0] != y[:, 0])

    assert wrong(heavy) <= wrong(plain) and heavy.verify(X, y) == []
    assert MultilabelSVM(lam=0.1, class_weight="balanced").fit(X, y).verify(X, y) == []


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, pd.DataFrame])
def test_partial_fit_is_a_fit_on_all_data_that_goes_on(rng, form):
    X, y = rng.normal(size=(90, 4)), rng.integers(3, size=90)
    model = MulticlassSVM(lam=0.05, tol=1e-6)
    for start in range(0, 90, 30):
        if form is pd.DataFrame:
            part = pd.DataFrame(X[start : start + 30], columns=list("abcd"))
        else:
            part = form(X[start : start + 30])
        assert model.partial_fit(part, y[start : start + 30], classes=[0, 1, 2]) is model
    whole = MulticlassSVM(lam=0.05, tol=1e-6).fit(X, y)
    assert model.certificate_.primal == pytest.approx(whole.certificate_.primal, abs=2e-6)
    assert (
        model.verify(pd.DataFrame(X, columns=list("abcd")) if form is pd.DataFrame else X, y) == []
    )


def test_partial_fit_of_sequences_and_structures(sequences):
    X, y = sequences
    model = ChainSVM(lam=0.05, tol=1e-6).partial_fit(X[:10], y[:10])
    first = model.certificate_
    model.partial_fit(X[10:], y[10:])
    whole = ChainSVM(lam=0.05, tol=1e-6).fit(X, y)
    assert model.certificate_.primal == pytest.approx(whole.certificate_.primal, abs=2e-6)
    # The blocks of the first data still count a third of what they did, less what lies between.
    assert model.history_["dual"][0] > 0.1 * first.dual > 0
    assert model.verify(X, y) == []
    tokens = [[{"a": "x"}, {"b": 1.0}], [{"c": "new"}, {"a": "x"}]]
    tags = [["p", "q"], ["q", "p"]]
    named = ChainSVM(lam=0.1).partial_fit(tokens[:1], tags[:1]).partial_fit(tokens[1:], tags[1:])
    assert named.attribute_names_ == ["a:x", "b", "c:new"] and named.verify(tokens, tags) == []
    # A label that is new makes it start anew, and the result is the same.
    named.partial_fit([[{"d": 1.0}]], [["a first one"]])
    assert named.classes_.tolist() == ["a first one", "p", "q"]

    class Sign:
        def decode(self, x, y, w, loss_augmented):
            scores = {s: s * float(x @ w) + (loss_augmented and s != y) for s in (-1, 1)}
            return max(scores, key=scores.get)

        def features(self, x, y):
            return y * x

        def loss(self, y, y_hat):
            return float(y != y_hat)

    rng = np.random.default_rng(0)
    X = list(rng.normal(size=(40, 3)))
    y = [1 if x[0] > 0 else -1 for x in X]
    own = StructuredSVM(Sign(), lam=0.1, tol=1e-6).partial_fit(X[:20], y[:20])
    own.partial_fit(X[20:], y[20:])
    whole = StructuredSVM(Sign(), lam=0.1, tol=1e-6).fit(X, y)
    assert own.certificate_.primal == pytest.approx(whole.certificate_.primal, abs=2e-6)
    scores = [float(x @ own.coef_) * s for x, s in zip(X, own.predict(X), strict=True)]
    assert np.allclose(own.decision_function(X), scores)


def test_partial_fit_refuses_what_it_cannot_go_on_from(rng, sequences):
    X, y = rng.normal(size=(20, 3)), rng.integers(2, size=20)
    with pytest.warns(UserWarning, match="trained by fit"):
        again = BinarySVM().fit(X, y).partial_fit(X[:15], y[:15])
    assert again.verify(X[:15], y[:15]) == []
    model = BinarySVM().partial_fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="neither files nor lengths"):
        ChainSVM().partial_fit(X, y, lengths=[10, 10])
    with pytest.raises(ValueError, match="was given to some rounds"):
        graph = (X, [[0, 1]])
        GraphSVM().partial_fit([graph], [y]).partial_fit([graph], [y], node_weight=[np.ones(20)])


def test_weights_are_read_only(sequences, rng):
    X, y = sequences
    chain = ChainSVM().fit(X, y)
    rows, labels = rng.normal(size=(30, 3)), rng.integers(2, size=30)
    for model in (
        chain,
        MulticlassSVM().fit(rows, labels),
        pickle.loads(pickle.dumps(MulticlassSVM().fit(rows, labels))),
        BinarySVM().fit(rows, labels),
        MultilabelSVM().fit(rows, np.stack([labels, 1 - labels], axis=1)),
        GraphSVM().fit([(rows, [[0, 1]])], [labels]),
        MatchingSVM().fit([rng.normal(size=(2, 2, 3))], [[(0, 1)]]),
        TreeSVM(parents=[None, 0]).fit([rng.normal(size=(2, 1, 3, 3))], [[(0, 1), (1, 1)]]),
    ):
        with pytest.raises(ValueError, match="read-only"):
            model.coef_[...] = 0.0
        with pytest.raises(AttributeError, match="read-only"):
            model.coef_ = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        chain.weights_["emission"][0] = 1.0
    with pytest.raises(AttributeError):
        _ = MulticlassSVM(kernel="rbf").fit(rows, labels).coef_
    with pytest.raises(AttributeError):
        _ = MulticlassSVM().coef_


def test_who_is_a_classifier(rng):
    assert all(is_classifier(cls()) for cls in (BinarySVM, MulticlassSVM, MultilabelSVM))
    # The others predict more than a label, and scikit-learn could not stratify them.
    assert not any(is_classifier(cls()) for cls in (ChainSVM, GraphSVM, TreeSVM, MatchingSVM))
    X = rng.normal(size=(30, 3))
    assert cross_val_score(MultilabelSVM(), X, (X[:, :2] > 0).astype(int), cv=3).mean() > 0.8


LABELS = [(None, ("a", 1)), (frozenset("x"), 2.5), (b"bytes", "text"), (True, "yes")]


@pytest.mark.parametrize("pair", LABELS, ids=repr)
def test_labels_of_any_hashable_type(pair):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = [pair[0], pair[0], pair[1], pair[1]]
    for cls in (BinarySVM, MulticlassSVM):
        model = cls(lam=0.1, class_weight={pair[0]: 2.0}).fit(X, y)
        assert list(model.predict(X)) == y and model.verify(X, y) == [] and model.score(X, y) == 1.0
    tokens = [[["x"], ["y"]], [["y"]]]
    chain = ChainSVM(lam=0.1).fit(tokens, [list(pair), [pair[1]]])
    assert chain.predict(tokens)[0].tolist() == list(pair)
    assert chain.score(tokens, [list(pair), [pair[1]]]) == 1.0
    sets = MultilabelSVM(lam=0.1).fit(X, [{label} for label in y])
    assert sets.predict(X) == [(label,) for label in y]
    graph = (X, [[0, 1], [2, 3]])
    assert GraphSVM(lam=0.01).fit([graph], [y]).predict([graph])[0].tolist() == y


def test_every_estimator_has_a_decision_function(rng):
    maps = [rng.normal(size=(2, 1, 3, 3)) for _ in range(4)]
    tree = TreeSVM(parents=[None, 0]).fit(maps, [[(0, 1), (1, 1)]] * 4)
    best = [found[0][1] for found in tree.predict_nbest(maps, 1)]
    assert tree.decision_function(maps).tolist() == best


def test_pruning_says_what_it_costs(sequences, tmp_path):
    X, y = sequences
    model = ChainSVM(lam=0.01).fit(X, y)
    before, weights = model.certificate_, np.count_nonzero(model.coef_)
    for cost in ("20%", 0.001):
        small = ChainSVM(lam=0.01).fit(X, y)
        found = small.prune(X, y, cost=cost)
        most = 0.2 * before.primal if cost == "20%" else cost
        assert isinstance(found, Pruning) and found.cost <= most + 1e-12
        assert found.before == before.primal and found.after == small.certificate_.primal
        # The bound is computed again from the dual point.
        assert small.certificate_.dual == pytest.approx(before.dual, rel=1e-14)
        assert small.verify(X, y) == []
        assert np.count_nonzero(small.coef_) == found.kept == weights - found.zeroed
        assert found == small.pruned_
        small.save(tmp_path / "model")
        loaded = maxmargin.load(tmp_path / "model")
        assert loaded.pruned_ == found and np.array_equal(loaded.coef_, small.coef_)
        assert loaded.verify(X, y) == []
    assert model.pruned_ is None
    half = model.prune(X, y, keep=0.5)
    assert half.kept == -(-weights // 2) and half.cost > 0
    with pytest.raises(ValueError, match="give one of them"):
        model.prune(X, y, keep=0.5, below=0.1)
    with pytest.raises(ValueError, match="not those the model was trained on"):
        model.prune(X[1:], y[1:], below=0.1)


def test_files_do_not_store_zeros(tmp_path):
    X = [[[f"word {i}"]] for i in range(200)]
    y = [["abcdefghij"[i % 10]] for i in range(200)]
    model = ChainSVM(lam=0.01).fit(X, y)
    model.save(tmp_path / "model", dual=False)
    names = sum(len(name) + 8 for name in model.attribute_names_)
    stored = 12 * np.count_nonzero(model.coef_)
    assert (tmp_path / "model").stat().st_size < stored + names + 5000
    assert np.array_equal(ChainSVM.load(tmp_path / "model").coef_, model.coef_)


def test_time_limits_are_positive_numbers():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="max_seconds"):
        MulticlassSVM(max_seconds=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="max_seconds"):
        MulticlassSVM(max_seconds=float("nan")).fit(X, y)
