"""Chains: what is learned, from inputs in all forms."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from maxmargin import ChainSVM, ConvergenceWarning


def scores(model, tokens, labels):
    """The score of a labelling, by the formula."""
    w, index = model.weights_, {label: k for k, label in enumerate(model.classes_)}
    y = [index[label] for label in labels]
    total = sum(tokens[t] @ w["emission"][:, k] + w["bias"][k] for t, k in enumerate(y))
    total += sum(w["transition"][a, b] for a, b in itertools.pairwise(y))
    return total + w["first"][y[0]] + w["last"][y[-1]]


def objective(model, X, y, lam):
    """λ/2 ‖w‖² + mean hinge, over all labellings, where w is what features are multiplied by."""
    emission = model.weights_["emission"]
    constants = model.coef_[emission.size :] / model.transition_scale_
    norm_sq = np.sum(emission**2) + np.sum(constants**2)
    hinges = []
    for tokens, truth in zip(X, y, strict=True):
        values = []
        for other in itertools.product(model.classes_, repeat=len(truth)):
            loss = np.mean([a != b for a, b in zip(truth, other, strict=True)])
            values.append(loss + scores(model, tokens, other) - scores(model, tokens, truth))
        hinges.append(max(values))
    return lam / 2 * norm_sq + np.mean(hinges)


def test_the_certificate_is_that_of_the_formulas(sequences):
    X, y = sequences
    model = ChainSVM(lam=0.05, tol=1e-4, loss="normalised").fit(X, y)
    c = model.certificate_
    assert c.gap <= 1e-4 and c.quality == "exact" and c.lam == 0.05
    assert c.primal == pytest.approx(objective(model, X, y, 0.05), abs=1e-9)
    assert c.dual <= c.primal and model.status_ == "converged"
    # Nothing near it is better than the dual allows.
    rng = np.random.default_rng(0)
    for _ in range(5):
        other = ChainSVM(lam=0.05, max_passes=1, tol=0, random_state=int(rng.integers(99)))
        with pytest.warns(ConvergenceWarning):
            other.fit(X, y)
        assert objective(other, X, y, 0.05) >= c.dual


def test_all_forms_of_input_train_the_same_model(sequences):
    X, y = sequences
    dense = ChainSVM(lam=0.05).fit(X, y)
    lengths = [len(tokens) for tokens in X]
    flat = [label for labels in y for label in labels]
    stacked = np.vstack(X)
    forms = {
        "sparse": ChainSVM(lam=0.05).fit([sp.csr_matrix(tokens) for tokens in X], y),
        "stacked": ChainSVM(lam=0.05).fit(stacked, flat, lengths=lengths),
        "stacked, labels by sequence": ChainSVM(lam=0.05).fit(stacked, y, lengths=lengths),
        "stacked sparse": ChainSVM(lam=0.05).fit(sp.csr_matrix(stacked), flat, lengths=lengths),
        "frames": ChainSVM(lam=0.05).fit([pd.DataFrame(t, columns=list("abcd")) for t in X], y),
        "lists of numbers": ChainSVM(lam=0.05).fit([t.tolist() for t in X], y),
        "dictionaries": ChainSVM(lam=0.05).fit(
            [[dict(zip("abcd", row.tolist(), strict=True)) for row in t] for t in X], y
        ),
    }
    for name, model in forms.items():
        assert np.array_equal(model.coef_, dense.coef_), name
    predicted = [labels.tolist() for labels in dense.predict(X)]
    found = forms["stacked sparse"].predict(sp.csr_matrix(stacked), lengths=lengths)
    assert [labels.tolist() for labels in found] == predicted
    halves = [t.astype(np.float32) for t in X]
    single = ChainSVM(lam=0.05).fit(halves, y)
    double = ChainSVM(lam=0.05).fit([t.astype(np.float64) for t in halves], y)
    assert np.array_equal(single.coef_, double.coef_)


def test_three_dimensional_arrays_are_sequences_of_equal_length(rng):
    X = rng.normal(size=(10, 3, 2))
    y = (X[:, :, 0] > 0).astype(int)
    model = ChainSVM(lam=0.01).fit(X, y)
    assert model.score(X, y) > 0.9 and model.predict(X)[0].dtype == model.classes_.dtype


@pytest.mark.parametrize("labels", [[0, 1], ["a", "b"], [("x", 1), None], [True, False], [1, "1"]])
def test_labels_of_any_type(labels):
    X = [np.eye(2), np.eye(2)[::-1]]
    y = [[labels[0], labels[1]], [labels[1], labels[0]]]
    model = ChainSVM(lam=0.01).fit(X, y)
    assert [own.tolist() for own in model.predict(X)] == y


def test_feature_dictionaries_mean_what_they_do_in_crfsuite():
    token = {"a": "b", "c": 2.0, "d": True, "e": {"x": 1, "y": "z"}, "f": ["p"], "h": False, "i": 3}
    model = ChainSVM(lam=0.1).fit([[token, ["k"]]], [["A", "B"]])
    names = ["a:b", "c", "d", "e:x", "e:y:z", "f:p", "h", "i", "k"]
    assert model.attribute_names_ == names
    plain = dict.fromkeys(names[:-1], 1.0) | {"c": 2.0, "h": 0.0, "i": 3.0}
    again = ChainSVM(lam=0.1).fit([[plain, ["k"]]], [["A", "B"]])
    assert np.array_equal(again.coef_, model.coef_)


def test_the_best_labels_and_their_margins_by_brute_force(sequences):
    X, y = sequences
    model = ChainSVM(lam=0.05).fit(X, y)
    for tokens in X[:5]:
        ranked = sorted(
            itertools.product(model.classes_, repeat=len(tokens)),
            key=lambda labels: -scores(model, tokens, labels),
        )
        assert model.predict([tokens])[0].tolist() == list(ranked[0])
        best = model.predict_nbest([tokens], 3)[0]
        for (labels, score), expected in zip(best, ranked, strict=False):
            assert labels.tolist() == list(expected)
            assert score == pytest.approx(scores(model, tokens, expected))
        labels, margins = model.predict_confidence([tokens])[0]
        table = model.decision_function([tokens])[0]
        assert table.shape == (len(tokens), 3)
        for t in range(len(tokens)):
            for k, label in enumerate(model.classes_):
                most = max(scores(model, tokens, y) for y in ranked if y[t] == label)
                assert table[t, k] == pytest.approx(most)
            two = np.sort(table[t])[-2:]
            assert margins[t] == pytest.approx(two[1] - two[0])
            assert labels[t] == model.classes_[np.argmax(table[t])]


def test_rules_and_fixed_labels_are_kept(rng):
    X = [rng.normal(size=(6, 3)) for _ in range(20)]
    tags = np.array(["B-NP", "I-NP", "O"])
    y = [tags[rng.integers(3, size=6)] for _ in X]
    model = ChainSVM(lam=0.1).fit(X, y)
    for labels in model.predict(X, rules="bio"):
        for before, label in itertools.pairwise(["O", *labels]):
            assert label != "I-NP" or before in ("B-NP", "I-NP")
    fixed = [[None, "O", None, None, "I-NP", "?"]] * len(X)
    with pytest.raises(ValueError, match="unknown label '\\?'"):
        model.predict(X, fixed=fixed)
    fixed = [["?", "O", "?", "?", "I-NP", "?"]] * len(X)
    for labels in model.predict(X, fixed=fixed, open_label="?", rules="bio"):
        assert labels[1] == "O" and labels[4] == "I-NP" and labels[3] in ("B-NP", "I-NP")
    with pytest.raises(ValueError, match="sequence 0 keeps all rules"):
        model.predict(X, fixed=[["I-NP", *"?????"]] * len(X), open_label="?", rules="bio")
    with pytest.raises(ValueError, match="known are bio"):
        model.predict(X, rules="iob")


def test_bounds_label_weights_and_groups(sequences):
    X, y = sequences
    model = ChainSVM(lam=0.05, bounds={"transition": (0, None), "emission": (-0.5, 0.5)}).fit(X, y)
    assert model.weights_["transition"].min() >= 0
    assert np.abs(model.weights_["emission"]).max() <= 0.5
    assert ChainSVM(lam=0.05, bounds=(-0.1, 0.1)).fit(X, y).coef_.max() <= 0.1
    slim = ChainSVM(lam=0.05, without=["transition", "first", "last"]).fit(X, y)
    assert slim.weights_["transition"].size == 0 and slim.weights_["bias"].size == 3
    costly = ChainSVM(lam=0.5, label_weights={"red": 20.0}).fit(X, y)
    plain = ChainSVM(lam=0.5).fit(X, y)
    reds = [sum(list(p).count("red") for p in m.predict(X)) for m in (costly, plain)]
    assert reds[0] >= reds[1]
    for wrong in ({"without": ["edges"]}, {"bounds": {"edges": (0, 1)}}, {"loss": "zero-one"}):
        with pytest.raises(ValueError):
            ChainSVM(**wrong).fit(X, y)


def test_sample_weights_are_repetitions(sequences):
    X, y = sequences
    weights = np.ones(len(X))
    weights[:5] = 3.0
    weighted = ChainSVM(lam=0.05, tol=1e-6).fit(X, y, sample_weight=weights)
    assert weighted.verify(X, y, sample_weight=weights) == []
    repeated = ChainSVM(lam=0.05, tol=1e-6).fit(X + X[:5] * 2, y + y[:5] * 2)
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, abs=2e-6)
    assert np.allclose(weighted.coef_, repeated.coef_, atol=2e-2)


def test_what_is_wrong_is_said(sequences):
    X, y = sequences
    cases = [
        (lambda: ChainSVM().fit(X, y[:-1]), "30 sequences and y has 29"),
        (lambda: ChainSVM().fit(X, [labels[:-1] for labels in y]), "sequence 0: it has"),
        (lambda: ChainSVM().fit(X, [["red"] * len(t) for t in X]), "nothing to learn"),
        (lambda: ChainSVM().fit([], []), "no sequences"),
        (lambda: ChainSVM().fit([X[0] * np.nan, *X[1:]], y), "sequence 0: .*finite"),
        (lambda: ChainSVM().fit([[{"a": float("inf")}, {}]], [["a", "b"]]), "finite number"),
        (lambda: ChainSVM().fit(np.vstack(X), y, lengths=[3, 4]), "lengths sum to 7"),
        (lambda: ChainSVM(lam=0.1, C=1).fit(X, y), "lam and C"),
        (lambda: ChainSVM(lam=-1).fit(X, y), "lam is -1"),
        (lambda: ChainSVM(solver="sgd").fit(X, y), "solver"),
        (lambda: ChainSVM(options={"tolerence": 1}).fit(X, y), "tolerence"),
        (lambda: ChainSVM().fit(X, y).predict([np.ones((2, 7))]), "7 features"),
    ]
    for run, message in cases:
        with pytest.raises(ValueError, match=message):
            run()
    with pytest.raises(TypeError, match="sequence 0"):
        ChainSVM().fit([[{1: 2.0}, {"a": 1.0}]], [["a", "b"]])
