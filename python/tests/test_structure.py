"""Structures of one's own, and regularization paths."""

import pickle
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from maxmargin import (
    ChainSVM,
    MulticlassSVM,
    OracleError,
    RegularizationPath,
    StructuredSVM,
    check_structure,
    regularization_path,
)


class Classes:
    """Multiclass classification written out, to compare with that of the native half."""

    def __init__(self, classes, features, form="dense"):
        self.classes, self.width, self.form = classes, features, form
        self.n_features = classes * features

    def decode(self, x, y, w, loss_augmented):
        scores = w.reshape(self.width, self.classes).T @ x
        if loss_augmented:
            scores = scores + (np.arange(self.classes) != y)
        return int(np.argmax(scores))

    def features(self, x, y):
        dense = np.zeros((self.width, self.classes))
        dense[:, y] = x
        dense = dense.ravel()
        if self.form == "sparse":
            return sp.csr_matrix(dense)
        if self.form == "dict":
            return {int(at): dense[at] for at in np.flatnonzero(dense)}
        if self.form == "pair":
            return np.arange(self.n_features), dense
        return dense

    def loss(self, y, y_hat):
        return float(y != y_hat)


@pytest.fixture
def iris():
    X, y = load_iris(return_X_y=True)
    return X - X.mean(axis=0), y


def test_the_same_problem_has_the_same_optimum(iris):
    X, y = iris
    native = MulticlassSVM(lam=0.05, tol=1e-4, fit_intercept=False).fit(X, y)
    own = StructuredSVM(Classes(3, 4), lam=0.05, tol=1e-4).fit(X, y)
    assert own.certificate_.primal == pytest.approx(native.certificate_.primal, abs=2e-4)
    assert own.certificate_.dual <= native.certificate_.primal
    assert own.predict(X) == native.predict(X).tolist() or own.score(X, y) > 0.8
    assert own.score(X, y) == pytest.approx(np.mean(np.array(own.predict(X)) == y))


def test_features_in_any_form(iris):
    X, y = iris
    # By name: calls into Python take about as long as makes `auto` keep corners, or not.
    parts = {"lam": 0.1, "order": "gap", "direction": "corrective"}
    dense = StructuredSVM(Classes(3, 4), **parts).fit(X, y)
    for form in ("sparse", "dict", "pair"):
        other = StructuredSVM(Classes(3, 4, form), **parts).fit(X, y)
        assert np.array_equal(other.coef_, dense.coef_), form


@pytest.mark.parametrize(
    "parts",
    [
        {"solver": "fw"},
        {"order": "gap", "direction": "pairwise", "cache": "on"},
        {"order": "cyclic", "direction": "away"},
        {"direction": "corrective", "cache": "on"},
        {"order": "lazy"},
    ],
)
def test_all_parts_of_the_loop_serve_it(iris, parts):
    X, y = iris
    best = StructuredSVM(Classes(3, 4), lam=0.5, tol=1e-4).fit(X, y).certificate_
    model = StructuredSVM(Classes(3, 4), lam=0.5, tol=0.02, **parts).fit(X, y)
    assert best.dual <= model.certificate_.primal + 1e-9 <= best.primal + 0.02 + 1e-9


def test_threads_give_the_same_bits(iris):
    X, y = iris
    serial = StructuredSVM(Classes(3, 4), lam=0.1, order="uniform").fit(X, y)
    threads = StructuredSVM(Classes(3, 4), lam=0.1, order="uniform", n_jobs=3).fit(X, y)
    assert np.array_equal(serial.coef_, threads.coef_)
    assert serial.certificate_ == threads.certificate_


def test_processes_give_the_same_bits(iris):
    X, y = iris
    serial = StructuredSVM(Classes(3, 4), lam=0.1, order="uniform").fit(X, y)
    assert serial.verify(X, y) == []
    many = StructuredSVM(Classes(3, 4), lam=0.1, order="uniform", n_jobs=2, backend="processes")
    many.fit(X, y)
    assert np.array_equal(serial.coef_, many.coef_) and many.verify(X, y) == []
    changed = many.coef_.copy()
    changed[0] += 1.0
    many._coef = changed
    assert "the weights differ" in many.verify(X, y)[0]
    assert "150 examples, not 149" in many.verify(X[1:], y[1:])[0]

    class Faulty(Classes):
        def decode(self, x, y, w, loss_augmented):
            if x[0] == X[120, 0] and w.any():
                raise ZeroDivisionError("by design")
            return super().decode(x, y, w, loss_augmented)

    model = StructuredSVM(Faulty(3, 4), lam=0.1, solver="fw", n_jobs=2, backend="processes")
    with pytest.raises(OracleError, match="decode failed.*by design") as info:
        model.fit(X, y)
    assert isinstance(info.value.__cause__, ZeroDivisionError)
    with pytest.raises(ValueError, match="backend"):
        StructuredSVM(Classes(3, 4), backend="cluster").fit(X, y)


class Batched(Classes):
    """Decodes many examples with one product of matrices."""

    def __init__(self, classes, features):
        super().__init__(classes, features)
        self.sizes = []

    def decode_batch(self, xs, ys, w, loss_augmented):
        assert isinstance(xs, list) and isinstance(ys, list)
        self.sizes.append(len(xs))
        # One by one, so that sums have the same bits as those of ``decode``.
        weights = w.reshape(self.width, self.classes).T
        scores = np.array([weights @ x for x in xs])
        if loss_augmented:
            scores += np.arange(self.classes) != np.array(ys)[:, None]
        return np.argmax(scores, axis=1).tolist()


@pytest.mark.parametrize("solver", ["fw", "bcfw", "n-slack"])
def test_batches_give_the_same_bits_everywhere(iris, solver):
    X, y = iris
    parts = {"lam": 0.1, "tol": 0.05, "solver": solver}
    serial = StructuredSVM(Classes(3, 4), **parts).fit(X, y)
    for n_jobs, backend in [(1, "threads"), (3, "threads"), (2, "processes")]:
        structure = Batched(3, 4)
        model = StructuredSVM(structure, n_jobs=n_jobs, backend=backend, **parts).fit(X, y)
        assert np.array_equal(model.coef_, serial.coef_), backend
        assert model.certificate_ == serial.certificate_
        # Exact passes ask for many examples at once: four batches for each thread, at least.
        assert max(structure.sizes) == -(-150 // (4 * n_jobs))
        assert model.predict(X) == serial.predict(X)
        assert structure.sizes[-1] == 150
        assert model.score(X, y) == serial.score(X, y)


def test_a_batch_has_as_many_outputs_as_inputs(iris):
    X, y = iris

    class Short(Batched):
        def decode_batch(self, xs, ys, w, loss_augmented):
            return super().decode_batch(xs, ys, w, loss_augmented)[1:]

    with pytest.raises(OracleError, match="decode_batch failed.*has returned 37 outputs for 38"):
        StructuredSVM(Short(3, 4), lam=0.1, solver="fw").fit(X, y)


def test_a_batch_that_answers_otherwise_breaks_a_law(iris):
    X, y = iris

    class Lax(Batched):
        def decode_batch(self, xs, ys, w, loss_augmented):
            return super().decode_batch(xs, ys, w, False)

    assert check_structure(Batched(3, 4), X, y) == []
    broken = check_structure(Lax(3, 4), X, y, raise_errors=False)
    assert [law.law for law in broken] == ["batch"]


def test_processes_that_call_a_structure_do_not_import_scikit_learn():
    """It takes more than a second."""
    code = "import sys, maxmargin._oracle; print(sorted({'sklearn', 'scipy'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_ctrl_c_leaves_the_other_processes_alone(iris, tmp_path):
    """On a terminal it goes to all processes of the group."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            import os, signal, warnings
            from maxmargin import StructuredSVM

            class Sign:
                n_features = 1
                calls = 0

                def decode(self, x, y, w, loss_augmented):
                    self.calls += 1
                    if self.calls == 100 and os.getpid() == trainer:
                        os.killpg(os.getpgid(0), signal.SIGINT)
                    return max((-1, 1), key=lambda s: s * x * w[0] + loss_augmented * (s != y))

                def features(self, x, y):
                    return {0: x * y}

                def loss(self, y, y_hat):
                    return float(y != y_hat)

            if __name__ == "__main__":
                trainer = os.getpid()
                Sign.decode.__globals__["trainer"] = trainer
                signal.signal(signal.SIGINT, signal.default_int_handler)
                warnings.simplefilter("ignore")
                model = StructuredSVM(
                    Sign(), lam=0.1, tol=0, max_passes=10**6, n_jobs=2, backend="processes", solver="fw",
                    on_interrupt="keep",
                )
                model.fit([1.0, -1.0, 2.0] * 9, [1, -1, -1] * 9)
                print(model.status_)
            else:
                trainer = None
        """)
    )
    run = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, start_new_session=True
    )
    assert run.stdout == "interrupted\n", run.stderr


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("method", ["decode", "features", "loss"])
def test_exceptions_come_back_with_the_example(iris, n_jobs, method):
    X, y = iris

    class Faulty(Classes):
        armed = False

    def fault(self, *arguments):
        last = Faulty.armed and any(arguments[0] is x for x in (X[17], y_list[17]))
        if last:
            raise ZeroDivisionError("by design")
        return getattr(Classes, method)(self, *arguments)

    setattr(Faulty, method, fault)
    y_list = [np.int64(label) for label in y]
    X = list(X)

    def arm(row):
        Faulty.armed = True

    with pytest.raises(OracleError, match="for example 17: ZeroDivisionError: by design") as info:
        model = StructuredSVM(Faulty(3, 4), lam=1e-4, tol=0, n_jobs=n_jobs, callback=arm)
        model.fit(X, y_list)
    assert info.value.index == 17 and info.value.method == method
    assert isinstance(info.value.__cause__, ZeroDivisionError)


def test_nonsense_is_refused(iris):
    X, y = iris

    class Costly(Classes):
        def loss(self, y, y_hat):
            return 1.0

    class Wide(Classes):
        def features(self, x, y):
            return {99: 1.0}

    class Lost(Classes):
        def loss(self, y, y_hat):
            return 0.0 if y == y_hat else float("nan")

    for structure, error, message in [
        (Costly(3, 4), ValueError, "true output of example 0 has the loss 1"),
        (Wide(3, 4), OracleError, "example 0: ValueError: feature 99 does not exist; there are 12"),
        (Lost(3, 4), OracleError, "the loss is nan; it must be a number ≥ 0"),
        (object(), TypeError, "no method decode"),
    ]:
        with pytest.raises(error, match=message):
            StructuredSVM(structure, lam=0.1).fit(X, y)
    with pytest.raises(ValueError, match="150 examples and y has 3"):
        StructuredSVM(Classes(3, 4)).fit(X, y[:3])
    with pytest.raises(NotImplementedError, match="pickle"):
        StructuredSVM(Classes(3, 4), lam=1.0).fit(X, y).save("file")


def test_weights_bounds_warm_starts_validation_and_pickles(iris):
    X, y = iris
    bounded = StructuredSVM(Classes(3, 4), lam=0.1, bounds=(-0.2, None)).fit(X, y)
    assert bounded.coef_.min() >= -0.2
    model = StructuredSVM(Classes(3, 4), lam=0.1, warm_start=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.coef_, model.coef_)
    again.set_params(tol=1e-3).fit(X, y)
    assert again.history_["dual"][0] >= model.certificate_.dual - 1e-9
    stopped = StructuredSVM(Classes(3, 4), lam=1e-3, tol=0.0, patience=2, validation=0.3).fit(X, y)
    assert stopped.status_ == "patience" and 0 <= stopped.validation_error_ <= 1
    weights = np.where(y == 0, 5.0, 1.0)
    weighted = StructuredSVM(Classes(3, 4), lam=0.1, tol=1e-4).fit(X, y, sample_weight=weights)
    native = MulticlassSVM(lam=0.1, tol=1e-4, fit_intercept=False)
    native.fit(X, y, sample_weight=weights)
    assert weighted.certificate_.primal == pytest.approx(native.certificate_.primal, abs=2e-4)


def test_a_heuristic_says_so(iris):
    X, y = iris
    structure = Classes(3, 4)
    structure.quality = "heuristic"
    assert StructuredSVM(structure, lam=0.1).fit(X, y).certificate_.quality == "heuristic"


def test_the_path_is_good_at_every_lambda(iris):
    X, y = iris
    estimator = MulticlassSVM(fit_intercept=False)
    path = regularization_path(estimator, X, y, epsilon=0.1, lambda_min=0.01)
    assert path.is_guaranteed and (np.diff(path.lambdas) < 0).all() and len(path) > 3
    lam = 1.0 / np.exp(np.linspace(np.log(1 / path.lambdas[0]), np.log(1 / path.lambdas[-1]), 5))
    for value in lam:
        w = path.coef_at(value).reshape(4, 3)
        scores = X @ w
        other = scores + (np.arange(3) != y[:, None])
        primal = value / 2 * np.sum(w**2) + np.mean(other.max(axis=1) - scores[np.arange(150), y])
        best = MulticlassSVM(lam=value, tol=1e-4, fit_intercept=False).fit(X, y).certificate_
        claimed = path.certificate_at(value)
        assert primal <= best.primal + 0.1 and claimed.dual <= best.primal + 1e-9
        assert claimed.gap <= 0.1 + 1e-9 and primal <= claimed.primal + 1e-9
    best = path.best(X, y)
    assert best.score(X, y) == path.scores(X, y).max() and best.certificate_.gap <= 0.1 + 1e-9
    assert path.plot(scores=path.scores(X, y)).get_xlabel() == "λ"
    with pytest.raises(ValueError, match="no weights at λ = -1"):
        path.coef_at(-1.0)


def test_a_certificate_is_for_the_lambda_of_its_dual_point(iris):
    X, y = iris
    model = StructuredSVM(Classes(3, 4), lam=0.1).fit(X, y)
    assert model.verify(X, y) == []
    model.certificate_ = replace(model.certificate_, lam=0.2)
    finding = "the dual point is for lambda 0.1, but the certificate is for lambda 0.2"
    assert model.verify(X, y)[-1] == finding


@pytest.mark.parametrize("quality", ["upper-bound", "heuristic"])
def test_an_inexact_structure_claims_its_quality(iris, quality):
    X, y = iris
    structure = Classes(3, 4)
    structure.quality = quality
    model = StructuredSVM(structure, lam=0.1).fit(X, y)
    assert model.certificate_.quality == quality and model.verify(X, y) == []


def test_paths_of_chains_and_of_own_structures(sequences, iris, tmp_path):
    X, y = sequences
    path = regularization_path(ChainSVM(), X, y, epsilon=0.2, lambda_min=0.05)
    model = path.best(X, y)
    assert model.score(X, y) > 0.5 and len(model.predict(X)) == len(X)
    path.save(tmp_path / "all.path")
    again = RegularizationPath.load(tmp_path / "all.path")
    assert np.array_equal(again.coef_at(0.1), path.coef_at(0.1))
    assert again.estimator_at(0.1).score(X, y) == path.estimator_at(0.1).score(X, y)
    X, y = iris
    own = regularization_path(StructuredSVM(Classes(3, 4)), X, y, epsilon=0.2, lambda_min=0.1)
    native = regularization_path(MulticlassSVM(fit_intercept=False), X, y, 0.2, lambda_min=0.1)
    assert own.lambdas[0] == pytest.approx(native.lambdas[0], rel=0.2)
    assert own.best(X, y).score(X, y) > 0.6


def test_a_path_that_is_cut_short_says_so(iris):
    X, y = iris
    estimator = MulticlassSVM(max_passes=1, options={"max_oracle_calls": 1})
    path = regularization_path(estimator, X, y, epsilon=1e-3, lambda_min=1e-3)
    assert not path.is_guaranteed
