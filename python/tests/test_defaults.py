"""What estimators do that nobody has told anything: λ, tolerance, loss, pairs of labels, and scales."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from maxmargin import ChainSVM, MulticlassSVM, MultilabelSVM, StructuredSVM, load

X = [[["the"], ["cat"], ["purrs"]], [["the"], ["dog"], ["barks"]], [["cat"], ["barks"]]]
Y = [["DT", "NN", "VB"], ["DT", "NN", "VB"], ["NN", "VB"]]


def wild(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes, which a column in hundredths tells apart, beside one in thousands."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    told = np.eye(3)[y] * 0.02 + 0.002 * rng.standard_normal((60, 3))
    return np.column_stack([3000 * rng.random(60), told]), y


def test_lambda_follows_the_scale() -> None:
    model = ChainSVM().fit(X, Y)
    source = model.lam_source_
    assert source["rule"] == "scale"
    assert source["lambda"] == model.certificate_.lam
    assert model.certificate_.gap <= 0.01 * model.certificate_.primal
    assert model.status_ == "converged"
    assert model.verify(X, Y) == []
    assert ChainSVM(lam=None).fit(X, Y).certificate_.lam == model.certificate_.lam


def test_features_in_other_units_predict_the_same() -> None:
    rows, y = np.random.default_rng(1).standard_normal((40, 3)), np.arange(40) % 2
    rows[:, 0] += y
    lams = [
        MulticlassSVM(fit_intercept=False).fit(unit * rows, y).certificate_.lam for unit in (1, 100)
    ]
    assert lams[1] == pytest.approx(1e4 * lams[0])


def test_transitions_have_the_value_that_fits_attributes(tmp_path: Path) -> None:
    # One attribute of the value 1 per token: of its square, 1 - Σ share² is left when it is centred.
    counts = np.array([2, 2, 1, 1, 2])
    value = np.sqrt(1 - np.sum((counts / 8) ** 2))
    model = ChainSVM().fit(X, Y)
    assert model.transition_scale_ == pytest.approx(value)
    assert model.verify(X, Y) == []
    assert ChainSVM(kernel="linear").fit(X, Y).transition_scale_ == 1.0
    # Features in other units predict the same.
    longer = [[{token[0]: 100.0} for token in sequence] for sequence in X]
    other = ChainSVM().fit(longer, Y)
    assert other.transition_scale_ == pytest.approx(100 * value)
    assert other.certificate_.primal == pytest.approx(model.certificate_.primal, rel=0.02)

    # Weights are what is added to scores.
    model = ChainSVM(transition_scale=3.0, tol="0.1%").fit(X, Y)
    assert model.transition_scale_ == 3.0
    groups = model.weights_
    assert np.array_equal(np.concatenate([group.ravel() for group in groups.values()]), model.coef_)
    emission = groups["emission"][[model.attribute_names_.index(name) for name in ("the", "cat")]]
    nodes = emission + groups["bias"]
    scores = nodes[0][:, None] + groups["transition"] + nodes[1][None, :]
    scores += groups["first"][:, None] + groups["last"][None, :]
    _, score = model.predict_nbest([[["the"], ["cat"]]], 1)[0][0]
    assert score == pytest.approx(scores.max())
    model.save(tmp_path / "three.model")
    assert load(tmp_path / "three.model").transition_scale == 3.0
    for wrong in (0, -1, "wide"):
        with pytest.raises(ValueError, match="transition_scale"):
            ChainSVM(transition_scale=wrong).fit(X, Y)


def test_the_papers_are_one_parameter_away() -> None:
    model = ChainSVM(lam="1/n", loss="normalised", tol=0.01, transition_scale=1.0).fit(X, Y)
    assert model.transition_scale_ == 1.0
    assert model.certificate_.lam == pytest.approx(1 / 3)
    assert model.lam_source_ == {"rule": "1/n"}
    assert ChainSVM(C=2.0).fit(X, Y).certificate_.lam == pytest.approx(1 / 6)


@pytest.mark.parametrize("tol", ["1", "100%", "-1%", "some%", float("nan"), -1])
def test_tolerances_that_make_no_sense_are_refused(tol: object) -> None:
    with pytest.raises(ValueError, match="tol is "):
        ChainSVM(tol=tol).fit(X, Y)


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="lam is 'best'; it must be a positive number, 'scale'"):
        ChainSVM(lam="best").fit(X, Y)
    with pytest.raises(ValueError, match="two ways to say the same"):
        ChainSVM(lam="auto", C=1.0).fit(X, Y)


def test_a_search_is_never_worse_than_where_it_began() -> None:
    rows, y = wild()
    model = MulticlassSVM(lam="auto").fit(rows, y)
    source = model.lam_source_
    assert (source["rule"], source["measure"], source["folds"]) == ("auto", "error", 3)
    errors = dict(zip(model.lam_curve_["lam"], model.lam_curve_["error"], strict=True))
    assert errors[model.certificate_.lam] <= errors[source["scale"]["lambda"]]


def test_wild_scales_are_standardised_and_weights_stay_in_their_units(tmp_path) -> None:
    rows, y = wild()
    model = MulticlassSVM().fit(rows, y)
    assert model.score(rows, y) == 1.0
    assert np.abs(model.coef_[:, 1:]).max() > 1000 * np.abs(model.coef_[:, 0]).max()
    scores = rows @ model.coef_.T + model.intercept_
    assert (model.classes_[scores.argmax(1)] == y).all()
    assert model.verify(rows, y) == []
    model.save(tmp_path / "model")
    again = MulticlassSVM.load(tmp_path / "model")
    assert (again.predict(rows) == y.astype(str)).all()
    assert MulticlassSVM(standardise=False).fit(rows, y).score(rows, y) < 0.9
    held = MulticlassSVM(standardise=True, validation=0.2).fit(rows, y)
    assert held.validation_error_ < 0.2
    with pytest.raises(ValueError, match="standardise is 'often'"):
        MulticlassSVM(standardise="often").fit(rows, y)


def wild_sequences(seed: int = 0) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    """Sequences whose labels words tell, beside an amount of money that tells nothing."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for labels in rng.integers(2, size=(30, 4)):
        labels[0] = 0
        amounts = 3000 * rng.random(4)
        numbers = zip(labels.tolist(), amounts.tolist(), strict=True)
        X.append([{f"word={own}": 1.0, "same": 1.0, "money": amount} for own, amount in numbers])
        y.append(["ab"[own] for own in labels])
    return X, y


def test_tokens_are_standardised_and_weights_stay_in_their_units(tmp_path: Path) -> None:
    X, y = wild_sequences()
    model = ChainSVM().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.verify(X, y) == []
    assert ChainSVM(standardise=True).fit(X, y).coef_.tolist() == model.coef_.tolist()
    plain = ChainSVM(standardise=False).fit(X, y)
    assert plain.score(X, y) < 0.9
    assert plain.transition_scale_ > 100 * model.transition_scale_
    # Weights are in the units of the data: they are what is added to scores.
    place = model.attribute_names_.index("money")
    scores = [model.predict_nbest([[{"money": amount}]], 1)[0][0][1] for amount in (0.0, 1e6)]
    ends = model.weights_["bias"] + model.weights_["first"] + model.weights_["last"]
    for amount, score in zip((0.0, 1e6), scores, strict=True):
        expected = (ends + amount * model.weights_["emission"][place]).max()
        assert score == pytest.approx(expected, rel=1e-9)
    model.save(tmp_path / "model")
    again = ChainSVM.load(tmp_path / "model")
    assert again.verify(X, y) == []
    assert [own.tolist() for own in again.predict(X)] == [own.tolist() for own in model.predict(X)]
    held = ChainSVM(standardise=True, validation=0.2).fit(X, y)
    assert held.validation_error_ < 0.2
    assert ChainSVM(transition_scale=2.0).fit(X, y).transition_scale_ == 2.0
    for refused in ({"kernel": "linear"}, {"bounds": (-1, 1)}):
        with pytest.raises(
            ValueError, match="standardise=True does not go with bounds or a kernel"
        ):
            ChainSVM(standardise=True, **refused).fit(X, y)
    with pytest.raises(ValueError, match="standardise is 'often'"):
        ChainSVM(standardise="often").fit(X, y)


def test_tokens_far_from_zero_are_centred(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    years = [1900.0 + 100.0 * rng.random((5, 1)) for _ in range(30)]
    y = [["new" if year >= 1950 else "old" for year in own[:, 0]] for own in years]
    model = ChainSVM().fit(years, y)
    assert model.score(years, y) > 0.97
    assert model.verify(years, y) == []
    plain = ChainSVM(standardise=False).fit(years, y)
    assert plain.score(years, y) < model.score(years, y)
    # Weights are in the units of the data: years in the middle have about the same score for both labels.
    emission, bias = model.weights_["emission"][0], model.weights_["bias"]
    edge = -(bias[1] - bias[0]) / (emission[1] - emission[0])
    assert 1930.0 < edge < 1970.0
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.verify(years, y) == []
    assert [own.tolist() for own in again.predict(years)] == [
        own.tolist() for own in model.predict(years)
    ]
    held = ChainSVM(validation=0.2).fit(years, y)
    assert held.validation_error_ < 0.1
    # More data have other means.
    grown = ChainSVM().partial_fit(years[:15], y[:15]).partial_fit(years[15:], y[15:])
    assert grown.verify(years, y) == []


def test_many_labels_have_fewer_pairs() -> None:
    for labels, pairs in ((15, 105), (16, 15), (101, 0)):
        rows = np.eye(labels)
        sets = [{k, (k + 1) % labels} for k in range(labels)]
        with pytest.warns():
            model = MultilabelSVM(max_passes=1).fit(rows, sets)
        assert len(model.pairs_) == pairs


class Sign:
    """One number is positive or not."""

    def __init__(self, unit: float) -> None:
        self.unit = unit

    def features(self, x: float, y: int) -> np.ndarray:
        return np.array([self.unit * x * y])

    def loss(self, truth: int, y: int) -> float:
        return float(truth != y)

    def decode(self, x: float, truth: int | None, w: np.ndarray, augmented: bool) -> int:
        def score(y: int) -> float:
            return float(w @ self.features(x, y)) + (self.loss(truth, y) if augmented else 0.0)

        return max((1, -1), key=score)


def test_own_structures_have_a_scale_too() -> None:
    xs, ys = [1.0, -2.0, 3.0], [1, -1, 1]
    lams = [StructuredSVM(Sign(unit)).fit(xs, ys).certificate_.lam for unit in (1.0, 10.0)]
    assert lams[1] == pytest.approx(100 * lams[0])
    # Features change by 2x: (4 + 16 + 36)/3 per unit of loss, divided by six times three examples.
    assert lams[0] == pytest.approx(56 / 3 / 18)
