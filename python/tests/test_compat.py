"""The stand-in for sklearn-crfsuite, the stubs, and the examples."""

import pathlib
import runpy
import subprocess
import sys

import numpy as np
import pytest
from sklearn.model_selection import RandomizedSearchCV

import maxmargin
from maxmargin.compat.sklearn_crfsuite import CRF

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
    with pytest.warns(UserWarning, match="no meaning"):
        crf = CRF(
            algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True
        )
    crf.fit(X, y)
    assert crf.predict(X) == y and crf.score(X, y) == 1.0 and crf.classes_ == ["D", "N", "V"]
    assert crf.predict_single(X[0]) == y[0]
    assert crf.state_features_["word:cat", "N"] > 0
    assert crf.transition_features_["D", "N"] > crf.transition_features_["D", "V"]
    crf.dump(tmp_path / "model")
    assert CRF.load(tmp_path / "model").predict(X) == y
    assert CRF(average=True).fit(X, y, X[:5], y[:5]).score(X, y) == 1.0
    search = RandomizedSearchCV(CRF(), {"c2": [0.01, 0.1, 1.0]}, n_iter=2, random_state=0, cv=2)
    assert search.fit(X, y).best_score_ > 0.9
    with pytest.raises(TypeError, match="unknown parameters"):
        CRF(c3=1.0)


def test_the_stubs_are_those_of_the_native_half():
    from maxmargin import _maxmargin as native

    stub = pathlib.Path(maxmargin.__file__).with_name("_maxmargin.pyi").read_text()
    for name in dir(native):
        if not name.startswith("_"):
            assert f"class {name}" in stub or f"def {name}" in stub, name
            for method in dir(getattr(native, name)):
                if not method.startswith("_"):
                    assert f"def {method}(" in stub or f"    {method}:" in stub, (name, method)
    assert pathlib.Path(maxmargin.__file__).with_name("py.typed").exists()


def test_docstrings_run_as_they_are():
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--doctest-modules", "--pyargs", "maxmargin"],
        capture_output=True,
        text=True,
        cwd=pathlib.Path(maxmargin.__file__).parent,
    )
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert list(tmp_path.glob("*.png")), "it draws a picture"


def test_the_first_program_of_the_guide_runs():
    guide = EXAMPLES[0].parents[2] / "docs" / "python.md"
    first = guide.read_text().split("```python\n")[1].split("```")[0]
    names: dict = {}
    exec(compile(first, str(guide), "exec"), names)
    assert names["model"].certificate_.gap <= 0.05
