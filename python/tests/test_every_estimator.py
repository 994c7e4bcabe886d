"""What holds for all estimators alike: a table of them, and tests over the table."""

import copy
import pickle
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

import maxmargin
from maxmargin import (
    BinarySVM,
    ChainSVM,
    FactorGraphSVM,
    GraphSVM,
    GridSVM,
    JointKernelSVM,
    LatentSVM,
    MatchingSVM,
    MulticlassSVM,
    MultilabelSVM,
    PottsSVM,
    SegmentSVM,
    StructuredSVM,
    TreeSVM,
)

#: Labels of any hashable type, of which NumPy would make other things.
A, B = ("a", 1), None
LINE = np.array([[0, 1], [1, 2], [2, 3]])


class Sign:
    """The sign of ⟨w, x⟩."""

    def decode(self, x, y, w, loss_augmented):
        scores = {s: s * float(x @ w) + (loss_augmented and s != y) for s in (-1, 1)}
        return max(scores, key=scores.get)

    def features(self, x, y):
        return y * x

    def loss(self, y, y_hat):
        return float(y != y_hat)


class SignKernel:
    """The same sign, with ⟨x, x′⟩·y·y′ as the kernel."""

    def outputs(self, x):
        return [-1, 1]

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def kernel(self, x, y, x2, y2):
        return float(x @ x2) * y * y2


def two_pixels(labels):
    rows = [[labels[at] for at in row] for row in ((0, 0, 1), (0, 1, 1))]
    return np.array([[-1.0, -1.2, 1.0], [-0.9, 1.1, 1.3]]), rows


def graph_of(states):
    factors: list[dict[str, Any]] = [
        {"template": "unary", "variables": [v], "attributes": [x, 1.0]}
        for v, x in enumerate((-1.0, 1.0))
    ]
    factors.append({"template": "pair", "variables": [0, 1], "attributes": [1.0]})
    return {"variables": [{"states": states}] * 2, "factors": factors}


@dataclass
class Case:
    """An estimator with data that it learns by heart."""

    estimator: Any
    X: list[Any]
    y: list[Any]
    labels: tuple[Any, ...] = ()
    is_classifier: bool = False
    #: The parameters with which weights of classes go, and their names.
    class_weight: dict[str, Any] | None = None
    partial_fit: bool = True
    extra: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return type(self.estimator).__name__


ROWS = np.array([[-2.0, 1.0], [-1.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
IMAGES = [two_pixels((A, B)) for _ in range(3)]
POINTS = [(np.array([[x]]), []) for x in (-3.0, -2.5, -0.5, 0.0, 0.4, 2.6, 3.1)]
SEEN = [["out"], ["out"], ["in"], ["in"], ["in"], ["out"], ["out"]]
STATES = {"in": "in", "left": "out", "right": "out"}


def cases():
    rng = np.random.default_rng(0)
    maps = [0.1 * rng.normal(size=(2, 1, 3, 3)) for _ in range(4)]
    for own in maps:
        own[0, 0, 1, 0] += 3.0  # column 0 of row 1
        own[1, 0, 1, 1] += 3.0
    pairs = [np.array([[[2.0], [0.0]], [[0.1], [1.5]]]) for _ in range(4)]
    heavy = {"class_weight": {A: 3.0}}
    return [
        Case(BinarySVM(lam=0.01), list(ROWS), [A, A, B, B], (A, B), True, heavy),
        Case(MulticlassSVM(lam=0.01), list(ROWS), [A, A, B, B], (A, B), True, heavy),
        Case(MultilabelSVM(lam=0.01), list(ROWS), [(A,), (A,), (B,), (B,)], (A, B), True, heavy),
        Case(
            ChainSVM(lam=0.01),
            [[["x"], ["y"]], [["y"]], [["x"]]],
            [[A, B], [B], [A]],
            (A, B),
            class_weight=heavy,
        ),
        Case(
            SegmentSVM(lam=0.01),
            [np.array([[-1.0], [-1.0], [1.0]])] * 3,
            [[(0, 2, A), (2, 3, B)]] * 3,
            (A, B),
            class_weight=heavy,
        ),
        Case(
            GraphSVM(lam=0.01),
            [(ROWS, LINE)] * 3,
            [[A, A, B, B]] * 3,
            (A, B),
            class_weight=heavy,
        ),
        Case(
            PottsSVM(lam=0.01),
            [(ROWS, LINE)] * 3,
            [[A, A, B, B]] * 3,
            (A, B),
            class_weight={**heavy, "loss": "normalised"},
        ),
        Case(
            GridSVM(lam=0.01),
            [image for image, _ in IMAGES],
            [labels for _, labels in IMAGES],
            (A, B),
            class_weight=heavy,
        ),
        Case(
            GridSVM(lam=0.01, pairwise="potts"),
            [image for image, _ in IMAGES],
            [labels for _, labels in IMAGES],
            (A, B),
            class_weight=heavy,
        ),
        Case(
            FactorGraphSVM(lam=0.01),
            [graph_of([A, B])] * 3,
            [[A, B]] * 3,
            (A, B),
            class_weight=heavy,
        ),
        Case(TreeSVM(parents=[None, 0], lam=0.01), maps, [[(0, 1), (1, 1)]] * 4),
        Case(MatchingSVM(lam=0.01), pairs, [[(0, 0), (1, 1)]] * 4),
        Case(StructuredSVM(Sign(), lam=0.01), list(ROWS), [-1, -1, 1, 1]),
        Case(JointKernelSVM(SignKernel(), lam=0.01), list(ROWS), [-1, -1, 1, 1], partial_fit=False),
        Case(
            LatentSVM(GraphSVM(lam=0.01, visible=STATES), random_state=3),
            POINTS,
            SEEN,
            ("in", "out"),
            partial_fit=False,
        ),
    ]


CASES = cases()
every = pytest.mark.parametrize("case", CASES, ids=repr)


def plain(output: Any) -> Any:
    """An output without arrays and tuples."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    return [plain(own) for own in output] if isinstance(output, (list, tuple)) else output


def test_the_table_has_all_estimators():
    known = {
        name
        for name in maxmargin.__all__
        if isinstance(getattr(maxmargin, name), type)
        and hasattr(getattr(maxmargin, name), "predict")
    }
    assert {repr(case) for case in CASES} == known


@every
def test_it_learns_labels_of_any_type_and_gives_them_back(case):
    model = clone(case.estimator).fit(case.X, case.y)
    assert [plain(found) for found in model.predict(case.X)] == [plain(own) for own in case.y]
    assert model.score(case.X, case.y) == 1.0
    if case.labels and repr(case) not in ("FactorGraphSVM", "LatentSVM"):
        assert set(model.classes_.tolist()) == set(case.labels)


@every
def test_it_has_a_decision_function(case):
    model = clone(case.estimator)
    with pytest.raises(NotFittedError):
        model.decision_function(case.X)
    scores = model.fit(case.X, case.y).decision_function(case.X)
    assert len(scores) == len(case.X)
    for own in scores:
        parts = own if isinstance(own, list) else [own]
        assert all(np.isfinite(np.asarray(part)).all() for part in parts)


@every
def test_who_is_a_classifier(case):
    assert is_classifier(case.estimator) is case.is_classifier


@every
def test_class_weights_change_the_objective_and_are_verified(case):
    if case.class_weight is None:
        assert "class_weight" not in case.estimator.get_params()
        return
    # A large λ leaves losses, which are what classes weigh.
    model = clone(case.estimator).set_params(**case.class_weight, lam=1.0).fit(case.X, case.y)
    same = clone(model).set_params(class_weight={A: 1.0}).fit(case.X, case.y)
    assert model.certificate_.primal != pytest.approx(same.certificate_.primal, rel=1e-6)
    assert model.verify(case.X, case.y) == []
    balanced = clone(model).set_params(class_weight="balanced")
    assert balanced.fit(case.X, case.y).verify(case.X, case.y) == []
    for wrong, text in [
        ({"who?": 1.0}, "which the data do not have"),
        ({A: -1.0}, "must not be negative"),
        ("much", "or 'balanced'"),
    ]:
        with pytest.raises(ValueError, match=text):
            model.set_params(class_weight=wrong).fit(case.X, case.y)


@every
def test_partial_fit_goes_on_or_says_why_not(case):
    model = clone(case.estimator)
    if not case.partial_fit:
        with pytest.raises(NotImplementedError, match="has no partial_fit"):
            model.partial_fit(case.X, case.y)
        return
    half = len(case.X) // 2
    extra = {"classes": list(case.labels)} if case.is_classifier else {}
    assert model.partial_fit(case.X[:half], case.y[:half], **extra) is model
    model.partial_fit(case.X[half:], case.y[half:])
    whole = clone(case.estimator).fit(case.X, case.y)
    assert model.verify(case.X, case.y) == []
    near = max(model.certificate_.gap, whole.certificate_.gap)
    assert model.certificate_.primal == pytest.approx(whole.certificate_.primal, abs=2 * near)


@every
def test_it_is_copied_and_pickled_as_it_is(case):
    model = clone(case.estimator)
    assert copy.deepcopy(model).get_params().keys() == model.get_params().keys()
    model.fit(case.X, case.y)
    expected = [plain(found) for found in model.predict(case.X)]
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert [plain(found) for found in again.predict(case.X)] == expected
        assert again.certificate_ == model.certificate_


@every
def test_predicting_before_training_is_refused(case):
    with pytest.raises(NotFittedError):
        clone(case.estimator).predict(case.X)


@every
def test_numbers_of_inputs_and_outputs_must_agree(case):
    with pytest.raises(ValueError):
        clone(case.estimator).fit(case.X, case.y[:-1])
    with pytest.raises(ValueError):
        clone(case.estimator).fit([], [])


@every
def test_a_time_limit_is_a_status_and_counts_from_the_call(case):
    if "max_seconds" not in case.estimator.get_params():
        return
    model = clone(case.estimator).set_params(max_seconds=1e-9, tol=0.0)
    with pytest.warns(maxmargin.ConvergenceWarning, match="max-seconds"):
        model.fit(case.X, case.y)
    assert model.status_ == "max-seconds"


@every
def test_slack_rescaling_says_what_it_proves_and_is_kept_in_files(case, tmp_path):
    if "rescaling" not in case.estimator.get_params():
        return
    # A large λ leaves losses, which are what is multiplied.
    model = clone(case.estimator).set_params(rescaling="slack", lam=0.5).fit(case.X, case.y)
    c = model.certificate_
    assert c.problem == "structured SVM with slack rescaling"
    assert c.quality == "exact" if c.missed is None else c.missed >= 0.0
    assert c.proven_gap == c.gap + (c.missed or 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a dual point of which no outputs were found
        assert model.verify(case.X, case.y) == []
    with pytest.raises(ValueError, match="known are 'margin' and 'slack'"):
        clone(model).set_params(rescaling="both").fit(case.X, case.y)
    if repr(case) == "StructuredSVM":
        return
    model.save(tmp_path / "slack.model")
    again = maxmargin.load(tmp_path / "slack.model")
    assert again.rescaling == "slack" and again.certificate_ == c
    assert (again.coef_ == model.coef_).all() and again._model.meta() == model._model.meta()
