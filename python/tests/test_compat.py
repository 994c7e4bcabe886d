"""The stand-in for sklearn-crfsuite, the stubs, and the examples."""

import importlib.util
import inspect
import pathlib
import runpy
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV

import maxmargin
from maxmargin import MulticlassSVM
from maxmargin.compat.sklearn_crfsuite import CRF, metrics, scorers

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.fixture
def tagged():
    words = {"the": "D", "a": "D", "cat": "N", "dog": "N", "runs": "V", "sleeps": "V"}
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(30):
        sentence = [
            rng.choice(["the", "a"]),
            rng.choice(["cat", "dog"]),
            rng.choice(["runs", "sleeps"]),
        ]
        X.append([{"word": str(word), "first": at == 0} for at, word in enumerate(sentence)])
        y.append([words[word] for word in sentence])
    return X, y


def test_the_stand_in_for_sklearn_crfsuite(tagged, tmp_path):
    X, y = tagged
    crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    with pytest.warns(UserWarning, match=r"\['all_possible_transitions', 'c1'\] have no meaning"):
        crf.fit(X, y)
    assert crf.predict(X) == y and crf.score(X, y) == 1.0 and crf.classes_ == ["D", "N", "V"]
    assert crf.predict_single(X[0]) == y[0]
    assert crf.state_features_["word:cat", "N"] > 0
    assert crf.transition_features_["D", "N"] > crf.transition_features_["D", "V"]
    crf.dump(tmp_path / "model")
    assert CRF.load(tmp_path / "model").predict(X) == y
    assert CRF(average=True).fit(X, y, X[:5], y[:5]).score(X, y) == 1.0
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        CRF(c3=1.0)
    with pytest.raises(ValueError, match="go together"):
        CRF().fit(X, y, X_dev=X)


def test_everything_that_a_crf_of_sklearn_crfsuite_has(tagged, tmp_path):
    X, y = tagged
    # All parameters are kept, in the order in which they are known.
    names = list(inspect.signature(CRF).parameters)
    assert names[:7] == [
        "algorithm",
        "min_freq",
        "all_possible_states",
        "all_possible_transitions",
        "c1",
        "c2",
        "max_iterations",
    ]
    crf = clone(CRF("pa", c1=0.5, pa_type=1, model_filename=tmp_path / "model"))
    assert crf.get_params()["c1"] == 0.5 and crf.algorithm == "pa"
    with pytest.warns(UserWarning, match="no meaning"):
        crf.fit(X, y)
    assert CRF.load(tmp_path / "model").predict(X) == y
    assert crf.tagger_.tag(X[0]) == y[0] and crf.tagger_.labels() == crf.classes_
    assert crf.tagger_.info().state_features == crf.state_features_
    assert crf.tagger_.info().transitions == crf.transition_features_
    tagger = crf.tagger_
    with pytest.raises(ValueError, match="no sequence"):
        tagger.tag()
    tagger.set(X[1])
    assert tagger.tag() == y[1]
    assert len(crf.attributes_) == crf.num_attributes_ == 7
    assert crf.size_ == (tmp_path / "model").stat().st_size
    log = crf.training_log_
    assert len(log.iterations) == crf.estimator_.n_iter_ == log.last_iteration["num"]
    assert crf.predict([[], X[0]]) == [[], y[0]]
    with pytest.raises(AttributeError, match="no probabilities"):
        _ = crf.predict_marginals
    for name in ("classes_", "tagger_", "size_", "training_log_", "state_features_"):
        with pytest.raises(AttributeError, match="not fitted"):
            getattr(CRF(), name)
    MulticlassSVM().fit(np.eye(2), [0, 1]).save(tmp_path / "other")
    with pytest.raises(ValueError, match="holds a MulticlassSVM"):
        CRF.load(tmp_path / "other")


def test_searches_over_parameters_of_crfsuite(tagged):
    X, y = tagged
    grid = {"c1": [0.1, 1.0], "c2": [0.01, 0.1, 1.0]}
    for scoring in (None, scorers.flat_accuracy, scorers.sequence_accuracy):
        search = RandomizedSearchCV(CRF(), grid, n_iter=2, random_state=0, cv=2, scoring=scoring)
        with pytest.warns(UserWarning, match="no meaning"):
            assert search.fit(X, y).best_score_ > 0.9


def test_flat_measures():
    truth, found = [["a", "b"], ["a"]], [["a", "a"], ["a"]]
    assert metrics.flat_accuracy_score(truth, found) == pytest.approx(2 / 3)
    f1 = metrics.flat_f1_score(truth, found, average="macro", labels=["a", "b"])
    assert f1 == pytest.approx(0.4)
    assert "macro avg" in metrics.flat_classification_report(truth, found, zero_division=0)
    assert metrics.sequence_accuracy_score(truth, found) == 0.5
    with pytest.raises(ValueError, match="not as long"):
        metrics.flat_accuracy_score(truth, [["a"], ["a"]])


def test_the_stubs_are_those_of_the_native_half():
    from maxmargin import _maxmargin as native

    stub = pathlib.Path(maxmargin.__file__).with_name("_maxmargin.pyi").read_text()
    for name in dir(native):
        if not name.startswith("_"):
            found = f"class {name}" in stub or f"def {name}" in stub or f"\n{name}: " in stub
            assert found, name
            if name.isupper():
                continue
            for method in dir(getattr(native, name)):
                if not method.startswith("_"):
                    assert f"def {method}(" in stub or f"    {method}:" in stub, (name, method)
    assert pathlib.Path(maxmargin.__file__).with_name("py.typed").exists()


def test_the_reference_is_up_to_date():
    """Otherwise: python python/tools/reference.py docs/reference/python.md"""
    written = EXAMPLES[0].parents[2] / "docs" / "reference" / "python.md"
    assert runpy.run_path(str(EXAMPLES[0].parents[1] / "tools" / "reference.py"))["page"]() == (
        written.read_text(encoding="utf-8")
    )


def test_docstrings_run_as_they_are(tmp_path):
    """Those of maxmargin.torch where PyTorch is installed; not from the folder of the package, which has a
    module of that name."""
    command = [sys.executable, "-m", "pytest", "-q", "--doctest-modules", "--pyargs", "maxmargin"]
    if importlib.util.find_spec("torch") is None:
        command += ["--ignore-glob", "*/maxmargin/torch*"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert list(tmp_path.glob("*.png")), "it draws a picture"
