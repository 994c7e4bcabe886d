"""Mistakes in structures are found, by ``check_structure`` and at the start of ``fit``."""

import warnings

import numpy as np
import pytest

from maxmargin import BrokenLaw, OracleError, StructuredSVM, check_structure


class Tags:
    """Three tags for each of a few words; a tag is scored by the word alone."""

    n_features = 12
    quality = "exact"

    def score(self, x, w):
        return w.reshape(4, 3)[x]

    def decode(self, x, y, w, loss_augmented):
        score = self.score(x, w)
        if loss_augmented:
            score = score + (np.arange(3) != y[:, None]) / len(x)
        return np.argmax(score, axis=1)

    def features(self, x, y):
        found = np.zeros((4, 3))
        np.add.at(found, (x, y), 1.0)
        return found.ravel()

    def loss(self, y, y_hat):
        return float(np.mean(y != y_hat))


class OtherFeatures(Tags):
    """Half of the features that ``decode`` scores."""

    def features(self, x, y):
        found = super().features(x, y)
        found[::2] *= 0.5
        return found


class Truth(Tags):
    def decode(self, x, y, w, loss_augmented):
        return y if loss_augmented else super().decode(x, y, w, False)


class Forgetful(Tags):
    def decode(self, x, y, w, loss_augmented):
        return super().decode(x, y, w, False)


class Minimal(Tags):
    def decode(self, x, y, w, loss_augmented):
        if not loss_augmented:
            return super().decode(x, y, w, False)
        score = self.score(x, w) + (np.arange(3) != y[:, None]) / len(x)
        return np.argmin(score, axis=1)


class Moody(Tags):
    def __init__(self):
        self.calls = 0

    def decode(self, x, y, w, loss_augmented):
        self.calls += 1
        return super().decode(x, y, w, loss_augmented and self.calls % 3 > 0)


class Charging(Tags):
    """A loss of the truth."""

    def loss(self, y, y_hat):
        return 0.25 + super().loss(y, y_hat)


@pytest.fixture
def words():
    rng = np.random.default_rng(0)
    X = [rng.integers(4, size=n) for n in (3, 1, 4, 2, 5)]
    return X, [x % 3 for x in X]


def laws(structure, X, y, **options):
    return [
        broken.law for broken in check_structure(structure, X, y, raise_errors=False, **options)
    ]


def test_a_good_structure_passes(words):
    for seed in range(5):
        assert check_structure(Tags(), *words, random_state=seed) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StructuredSVM(Tags(), lam=0.1).fit(*words)


@pytest.mark.parametrize(
    ("structure", "law"),
    [
        (OtherFeatures(), "oracle"),
        (OtherFeatures(), "decode"),
        (Truth(), "oracle"),
        (Forgetful(), "oracle"),
        (Minimal(), "oracle"),
        (Moody(), "repeatable"),
        (Charging(), "truth-loss"),
    ],
)
def test_mistakes_break_their_law(words, structure, law):
    assert law in laws(structure, *words)


def test_a_few_examples_suffice(words):
    X, y = words
    for structure in (Truth(), Forgetful(), Minimal()):
        assert laws(structure, X[:1], y[:1]) == ["oracle"]
        assert laws(structure, X, y, n_examples=2) == ["oracle"]


def test_all_broken_laws_are_in_the_exception(words):
    with pytest.raises(ValueError, match="2 laws") as info:
        check_structure(OtherFeatures(), *words)
    text = str(info.value)
    assert "\n- oracle: example 0: at " in text and "\n- decode: example " in text
    with pytest.raises(ValueError, match="every answer of the oracle was the truth"):
        check_structure(Truth(), *words)


def test_broken_laws_tell_where(words):
    [broken] = check_structure(Truth(), *words, raise_errors=False)
    assert isinstance(broken, BrokenLaw)
    assert (broken.example, broken.examples) == (0, 5)
    assert str(broken).endswith("(and in 4 more)")


def test_a_heuristic_promises_nothing(words):
    structure = Forgetful()
    structure.quality = "heuristic"
    assert check_structure(structure, *words) == []


def test_outputs_on_hand_are_compared_with(words):
    class Narrow(Tags):
        """Never predicts the last tag."""

        def score(self, x, w):
            return super().score(x, w) - np.array([0.0, 0.0, 1e9])

    X, y = words
    y = [np.minimum(truth, 1) for truth in y]
    assert laws(Narrow(), X, y) == []
    known = [[np.full(len(x), 2)] for x in X]
    assert laws(Narrow(), X, y, outputs=known) == ["oracle", "decode"]


def test_weights_are_tried_within_bounds(words):
    class Positive(Tags):
        """Good for weights that are not negative."""

        def score(self, x, w):
            return super().score(x, np.abs(w))

    assert "oracle" in laws(Positive(), *words)
    assert check_structure(Positive(), *words, bounds=(0, None)) == []


def test_plain_decoding_does_not_see_the_truth(words):
    seen = []

    class Watched(Tags):
        def decode(self, x, y, w, loss_augmented):
            seen.append((loss_augmented, y is None))
            return super().decode(x, y, w, loss_augmented)

    check_structure(Watched(), *words)
    StructuredSVM(Watched(), lam=0.1, solver="perceptron", max_passes=5).fit(*words)
    assert set(seen) == {(True, False), (False, True)}


def test_exceptions_name_the_example(words):
    class Faulty(Tags):
        def features(self, x, y):
            if len(x) == 1:
                raise ZeroDivisionError("by design")
            return super().features(x, y)

    with pytest.raises(OracleError, match="features failed for example 1"):
        check_structure(Faulty(), *words)


def test_nothing_but_the_truth(words):
    class Stuck(Tags):
        def decode(self, x, y, w, loss_augmented):
            return x % 3

    assert laws(Stuck(), *words) == ["only-truth"]


def test_arguments_that_make_no_sense(words):
    X, y = words
    for arguments, text in [
        ((X, y[1:]), "y has 4"),
        (([], []), "no examples"),
    ]:
        with pytest.raises(ValueError, match=text):
            check_structure(Tags(), *arguments)
    with pytest.raises(ValueError, match="outputs has 1"):
        check_structure(Tags(), X, y, outputs=[[]])
    with pytest.raises(ValueError, match="n_examples is 0"):
        check_structure(Tags(), X, y, n_examples=0)
    with pytest.raises(TypeError, match="is a class"):
        check_structure(Tags, X, y)


def test_fit_warns_once(words):
    for structure in (Truth(), Forgetful(), Minimal()):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            StructuredSVM(structure, lam=0.1, max_passes=5).fit(*words)
        told = [one for one in caught if "check_structure" in str(one.message)]
        assert len(told) == 1 and told[0].category is UserWarning
        assert told[0].filename == __file__


def test_the_look_of_fit_costs_nine_calls(words):
    calls = []

    class Counting(Tags):
        def decode(self, x, y, w, loss_augmented):
            calls.append(loss_augmented)
            return super().decode(x, y, w, loss_augmented)

    model = StructuredSVM(Counting(), lam=0.1, solver="fw").fit(*words)
    assert len(calls) == model.totals_["oracle_calls"] + 9 and all(calls)
