"""λ that is chosen by the error on data held out."""

import json
import signal
import subprocess
import time

import numpy as np
import pytest
from sklearn.datasets import load_iris
from test_files import command, needs_command

import maxmargin
from maxmargin import BinarySVM, ChainSVM, MulticlassSVM, MultilabelSVM, StructuredSVM


@pytest.fixture
def noisy(rng):
    """Rows of which many columns say nothing, so that there is a best λ."""
    X = rng.normal(size=(120, 30))
    return X, np.argmax(X[:, :3] + rng.normal(size=(120, 3)), axis=1)


@needs_command
def test_the_command_line_chooses_the_same(tmp_path):
    file = maxmargin.SequenceFile("ocr-small")
    model = ChainSVM(lam="auto", solver="bcfw", max_passes=1, tol=1.0).fit(file)
    options = "train ocr-small --lambda auto --solver bcfw --max-passes 1 --tolerance 1"
    run = subprocess.run(
        [command(), *options.split(), "-o", tmp_path / "model"],
        capture_output=True,
        text=True,
        check=True,
    )
    said = [line.split() for line in run.stderr.splitlines() if line.startswith("lambda ")]
    tried = [float(line[1]) for line in said if line[1] != "auto:"]
    assert np.allclose(model.lam_curve_["lam"], sorted(tried, reverse=True), rtol=1e-3)
    theirs = maxmargin.load(tmp_path / "model")
    assert theirs.certificate_.lam == model.certificate_.lam
    assert (theirs.coef_ == model.coef_).all() and theirs.lam_curve_ is None


def test_the_curve_and_the_choice(noisy):
    X, y = noisy
    model = MulticlassSVM(lam="auto").fit(X, y)
    curve = model.lam_curve_
    # From the scale outwards by factors of four, and of two around the best.
    began = model.lam_source_["scale"]["lambda"]
    steps = np.log2(curve["lam"] / began)
    assert np.allclose(steps, np.round(steps)) and steps[0] > 0 > steps[-1]
    errors = dict(zip(curve["lam"], curve["error"], strict=True))
    assert errors[model.certificate_.lam] <= errors[began]
    # The model itself is trained on everything, and proven.
    assert model.verify(X, y) == []
    assert model.certificate_.gap <= 0.01 * model.certificate_.primal
    assert MulticlassSVM(lam=0.1).fit(X, y).lam_curve_ is None
    # The same seed holds the same parts out, on any number of threads.
    again = MulticlassSVM(lam="auto", n_jobs=2).fit(X, y)
    assert (again.lam_curve_ == curve).all() and (again.coef_ == model.coef_).all()


def test_data_of_ones_own_decide(noisy):
    X, y = noisy
    model = BinarySVM(lam="auto").fit(X[:80], y[:80] == 0, validation=(X[80:], y[80:] == 0))
    for lam, error in model.lam_curve_[::4]:
        other = BinarySVM(lam=lam, tol=1e-4).fit(X[:80], y[:80] == 0)
        # Each was trained to five per cent of its objective only.
        assert abs(1 - other.score(X[80:], y[80:] == 0) - error) <= 0.15
    assert model.validation_error_ is not None


class Classes:
    n_features = 12

    def scores(self, x, w):
        return w.reshape(3, 4) @ x

    def decode(self, x, y, w, loss_augmented):
        return int(np.argmax(self.scores(x, w) + (np.arange(3) != y) * loss_augmented))

    def features(self, x, y):
        found = np.zeros((3, 4))
        found[y] = x
        return found.ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)


def test_sets_kernels_and_own_structures(noisy):
    X, y = noisy
    sets = MultilabelSVM(lam="auto").fit(X, np.eye(3, dtype=int)[y])
    kernel = MulticlassSVM(lam="auto", kernel="rbf").fit(X[:60], y[:60])
    for model in (sets, kernel):
        assert model.certificate_.lam in model.lam_curve_["lam"]

    X, y = load_iris(return_X_y=True)
    # By the clock, `auto` decides whether to remember corners; parts that are named repeat.
    parts = {"order": "gap", "direction": "corrective"}
    own = StructuredSVM(Classes(), lam="auto", **parts).fit(X, y.tolist())
    again = StructuredSVM(Classes(), lam="auto", **parts, n_jobs=2).fit(X, y.tolist())
    assert (own.lam_curve_ == again.lam_curve_).all() and (own.coef_ == again.coef_).all()
    chosen = own.lam_curve_[own.lam_curve_["lam"] == own.certificate_.lam]
    # A difference that fifteen flowers cannot show is none.
    assert chosen["error"] <= own.lam_curve_["error"].min() + 0.5 * np.sqrt(0.25 / 15)
    named = StructuredSVM(Classes(), lam="auto", **parts)
    named.fit(X, y.tolist(), validation=(X, y.tolist()))
    assert named.lam_curve_["error"].min() < named.lam_curve_["error"][0]


def test_what_cannot_be_chosen_says_so(noisy):
    X, y = noisy
    with pytest.raises(ValueError, match="at least two examples"):
        ChainSVM(lam="auto").fit([X[:4]], [["a", "b", "a", "b"]])
    with pytest.raises(ValueError, match="'auto'"):
        ChainSVM(lam="best").fit([X[:2]], [["a", "b"]])
    with pytest.raises(ValueError, match="give one of them"):
        MulticlassSVM(lam="auto", C=1.0).fit(X, y)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_search():
    class Pressed(Classes):
        calls = 0

        def decode(self, x, y, w, loss_augmented):
            self.calls += 1
            if self.calls == 1000:
                signal.raise_signal(signal.SIGINT)
            if self.calls >= 1000:
                time.sleep(0.01)  # until the signal is seen
            return super().decode(x, y, w, loss_augmented)

    X, y = load_iris(return_X_y=True)
    structure = Pressed()
    with pytest.raises(KeyboardInterrupt):
        StructuredSVM(structure, lam="auto", max_passes=100000, tol=0).fit(X, y.tolist())
    assert structure.calls < 5000


def test_the_model_file_has_the_choice(noisy, tmp_path):
    X, y = noisy
    model = MulticlassSVM(lam="auto").fit(X, y)
    model.save(tmp_path / "model")
    loaded = maxmargin.load(tmp_path / "model")
    settings = json.loads(loaded._model.meta())["settings"]
    assert settings["lambda"] == model.certificate_.lam == loaded.lam


def test_lam_is_chosen_by_the_measure_that_is_named():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 90)
    X = np.eye(3)[y] + 0.8 * rng.normal(size=(90, 3))
    sets = np.eye(3, dtype=int)[y]
    for measure in ("micro-f1", "subset", "error"):
        model = MultilabelSVM(lam="auto", measure=measure).fit(X, sets)
        assert model.lam_source_["measure"] == measure
        assert model.get_params()["measure"] == measure
    assert MultilabelSVM(lam="auto").fit(X, sets).lam_source_["measure"] == "micro-f1"
    with pytest.raises(ValueError, match='unknown measure "f2"; known are error, subset'):
        MulticlassSVM(lam="auto", measure="f2").fit(X, y)
    with pytest.raises(ValueError, match="aer"):
        MulticlassSVM(lam="auto", measure="aer").fit(X, y)
    with pytest.raises(ValueError, match="measure has a meaning only with lam='auto'"):
        MulticlassSVM(measure="error").fit(X, y)
