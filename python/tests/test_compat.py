"""The stand-ins for sklearn-crfsuite and python-crfsuite, the stubs, and the examples."""

import importlib.util
import inspect
import itertools
import pathlib
import pickle
import runpy
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV

import maxmargin
from maxmargin import MulticlassSVM, read_columns
from maxmargin.compat.pycrfsuite import ItemSequence, Tagger, Trainer, _parameters
from maxmargin.compat.sklearn_crfsuite import CRF, metrics, scorers
from maxmargin.io import chunk_f1

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
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the tutorial's arguments all mean something
        crf.fit(X, y)
    assert crf.predict(X) == y and crf.score(X, y) == 1.0 and crf.classes_ == ["D", "N", "V"]
    assert crf.predict_single(X[0]) == y[0]
    assert crf.state_features_["word:cat", "N"] > 0
    assert crf.transition_features_["D", "N"] > crf.transition_features_["D", "V"]
    crf.dump(tmp_path / "model")
    assert CRF.load(tmp_path / "model").predict(X) == y
    assert CRF(average=False).fit(X, y, X[:5], y[:5]).score(X, y) == 1.0
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        CRF(c3=1.0)
    with pytest.raises(ValueError, match="both X_dev and y_dev"):
        CRF().fit(X, y, X_dev=X)


def test_parameters_without_effect_are_warned_of_once(tagged):
    X, y = tagged
    _parameters._warned.clear()
    crf = CRF("pa", min_freq=2, pa_type=2)
    with pytest.warns(UserWarning, match=r"\['feature.minfreq', 'type'\] have no effect"):
        crf.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        crf.fit(X, y)
        CRF(min_freq=3).fit(X, y)
    with pytest.warns(UserWarning, match="c1 is no parameter of the algorithm arow"):
        CRF("arow", c1=0.5).fit(X, y)
    with pytest.raises(ValueError, match="algorithm='newton'"):
        CRF("newton").fit(X, y)


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
    crf = clone(CRF("lbfgs", c1=0.5, model_filename=tmp_path / "model"))
    assert crf.get_params()["c1"] == 0.5 and crf.algorithm == "lbfgs"
    crf.fit(X, y)
    assert CRF(model_filename=tmp_path / "model").predict(X) == y  # without fit
    assert crf.tagger_.tag(X[0]) == y[0] and crf.tagger_.labels() == crf.classes_
    assert crf.tagger_.info().state_features == crf.state_features_
    assert crf.tagger_.info().transitions == crf.transition_features_
    with pytest.raises(ValueError, match="no sequence"):
        Tagger._of(crf.estimator_).tag()
    crf.tagger_.set(X[1])
    assert crf.tagger_.tag() == y[1]
    assert len(crf.attributes_) == crf.num_attributes_ == 7
    assert crf.size_ == (tmp_path / "model").stat().st_size
    log = crf.training_log_
    assert len(log.iterations) == crf.estimator_.n_iter_ == log.last_iteration["num"]
    assert pickle.loads(pickle.dumps(crf)).predict(X) == y
    unfitted = CRF()
    for name in ("classes_", "tagger_", "size_", "training_log_", "state_features_", "attributes_"):
        assert getattr(unfitted, name) is None
    assert unfitted.num_attributes_ is None and unfitted.transition_features_ is None
    with pytest.raises(AttributeError, match="not fitted"):
        unfitted.predict(X)
    MulticlassSVM().fit(np.eye(2), [0, 1]).save(tmp_path / "other")
    with pytest.raises(ValueError, match="holds a MulticlassSVM"):
        CRF.load(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        CRF(model_filename=tmp_path / "none").predict(X)


def test_odd_data_are_taken_as_by_the_original(tagged):
    X, y = tagged
    odd = [[{b"key": b"value", "солнце": "не светит".encode()}, [b"\xff", "plain"]], []]
    crf = CRF().fit(odd, [[b"p", "q"], []])
    assert crf.attributes_ == ["key:value", "солнце:не светит", "\\xff", "plain"]
    assert crf.predict(odd) == [["p", "q"], []] and crf.predict_marginals([[]]) == [[]]
    one = CRF().fit([[{"a": 1.0}, {"b": 1.0}]], [["x", "x"]])
    assert one.predict([[{"a": 1.0}], []]) == [["x"], []]
    assert one.predict_marginals([[{"a": 1.0}]]) == [[{"x": 1.0}]]
    with pytest.raises(ValueError, match=r"\|x\| = 3, \|y\| = 2"):
        CRF().fit(X[:1], [y[0][:2]])
    with pytest.raises(ValueError, match="X has 2 sequences and y has 1"):
        CRF().fit(X[:2], y[:1])
    assert CRF().fit(iter(X), iter(y)).predict(iter(X)) == y


def test_marginals_are_the_softmax_of_scores_by_enumeration(tagged):
    X, y = tagged
    model = CRF().fit(X, y).estimator_
    w, labels = model.weights_, list(model.classes_)
    x = X[3]
    # All labellings with their scores, from the weights alone.
    names = {name: at for at, name in enumerate(model.attribute_names_)}
    rows = []
    for token in x:
        row = w["emission"][names["word:" + token["word"]]] + w["bias"]
        rows.append(row + float(token["first"]) * w["emission"][names["first"]])
    rows[0] = rows[0] + w["first"]
    rows[-1] = rows[-1] + w["last"]
    scores = {}
    for path in itertools.product(range(3), repeat=3):
        pairs = sum(w["transition"][a, b] for a, b in itertools.pairwise(path))
        scores[path] = sum(row[k] for row, k in zip(rows, path, strict=True)) + pairs
    whole = sum(np.exp(score) for score in scores.values())
    table = model.predict_marginals([x])[0]
    tagger = Tagger._of(model)
    tagger.set(x)
    for t in range(3):
        for k in range(3):
            part = sum(np.exp(score) for path, score in scores.items() if path[t] == k)
            assert table[t, k] == pytest.approx(part / whole, abs=1e-12)
            assert tagger.marginal(labels[k], t) == table[t, k]
    for path, score in scores.items():
        found = tagger.probability([labels[k] for k in path])
        assert found == pytest.approx(np.exp(score) / whole, rel=1e-9)
    # What is fixed is certain, and what a rule forbids is impossible.
    fixed = model.predict_marginals([x], fixed=[["V", None, None]])[0]
    assert fixed[0].tolist() == [0.0, 0.0, 1.0] and fixed.sum(axis=1) == pytest.approx(1.0)
    with pytest.raises(RuntimeError, match="label identifier: Z"):
        tagger.marginal("Z", 0)
    with pytest.raises(ValueError, match="out of range of 3"):
        tagger.marginal("D", 3)


def test_the_stand_in_for_pycrfsuite(tagged, tmp_path, capsys):
    X, y = tagged
    trainer = Trainer("lbfgs", params={"c2": 0.1})
    assert trainer.get("c2") == 0.1 and trainer.get("c1") == 0.0 and "L1" in trainer.help("c1")
    assert trainer.get_params()["max_iterations"] == 2147483647
    for at, (xseq, yseq) in enumerate(zip(X, y, strict=True)):
        trainer.append(ItemSequence(xseq) if at % 2 else xseq, yseq, group=at % 10 == 0)
    trainer.train(str(tmp_path / "model"), holdout=1)
    assert "num=1" in capsys.readouterr().out
    assert trainer.logparser.last_iteration["item_accuracy_float"] == 1.0
    with Tagger().open(tmp_path / "model") as tagger:
        assert [tagger.tag(own) for own in X] == y
        tagger.dump(tmp_path / "dump.txt")
        assert "word:cat --> N: " in (tmp_path / "dump.txt").read_text(encoding="utf-8")
        assert tagger.info().header["num_labels"] == "3"
    with pytest.raises(ValueError, match="not opened"):
        tagger.labels()
    with Tagger().open_inmemory((tmp_path / "model").read_bytes()) as tagger:
        assert tagger.tag(X[0]) == y[0]
    with pytest.raises(ValueError, match="Parameter not found: c1"):
        Trainer("l2sgd").set("c1", 1.0)
    with pytest.raises(ValueError, match="cannot be 'much'"):
        trainer.set("c2", "much")
    with pytest.raises(ValueError, match="not a maxmargin model"):
        Tagger().open(__file__)
    trainer.clear()
    trainer.train(str(tmp_path / "nothing"))
    assert not (tmp_path / "nothing").exists()


def test_trainers_of_your_own_hear_of_every_pass(tagged):
    X, y = tagged
    heard = []

    class Own(Trainer):
        def on_iteration(self, log, info):
            heard.append(info["num"])

    crf = CRF(max_iterations=4, trainer_cls=Own).fit(X, y)
    assert heard == [1, 2, 3, 4] and crf.estimator_.n_iter_ == 4
    with pytest.raises(TypeError, match="subclass of maxmargin.compat.pycrfsuite.Trainer"):
        CRF(trainer_cls=dict).fit(X, y)


CONLL = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.mark.skipif(not CONLL.exists(), reason="the data of CoNLL-2000 are not there")
@pytest.mark.parametrize(
    "arguments", [{}, {"algorithm": "lbfgs", "c1": 0.1, "c2": 0.1, "max_iterations": 100}]
)
def test_it_predicts_like_the_original_on_conll_2000(arguments):
    """sklearn-crfsuite 0.5 has 92.92 points of chunk F1 with either, on the same attributes."""
    X, y = read_columns(CONLL / "conll2000_train.txt.gz")
    test, truth = read_columns(CONLL / "conll2000_test.txt.gz")
    crf = CRF(**arguments).fit(map(tutorial_attributes, X), y)
    found = crf.predict(map(tutorial_attributes, test))
    assert 100 * chunk_f1(truth, found)[2] >= 92.92 - 0.2


def tutorial_attributes(sentence):
    """The attributes of sklearn-crfsuite's tutorial."""

    def of(token, prefix):
        word, tag = token[0], token[1]
        return {
            f"{prefix}word.lower()": word.lower(),
            f"{prefix}word.istitle()": word.istitle(),
            f"{prefix}word.isupper()": word.isupper(),
            f"{prefix}postag": tag,
            f"{prefix}postag[:2]": tag[:2],
        }

    found = []
    for at, token in enumerate(sentence):
        word = token[0]
        own = {"bias": 1.0, "word[-3:]": word[-3:], "word[-2:]": word[-2:], **of(token, "")}
        own["word.isdigit()"] = word.isdigit()
        own |= of(sentence[at - 1], "-1:") if at else {"BOS": True}
        own |= of(sentence[at + 1], "+1:") if at + 1 < len(sentence) else {"EOS": True}
        found.append(own)
    return found


def test_searches_over_parameters_of_crfsuite(tagged):
    X, y = tagged
    grid = {"c1": [0.1, 1.0], "c2": [0.01, 0.1, 1.0]}
    for scoring in (None, scorers.flat_accuracy, scorers.sequence_accuracy):
        search = RandomizedSearchCV(CRF(), grid, n_iter=2, random_state=0, cv=2, scoring=scoring)
        assert search.fit(X, y).best_score_ > 0.9


def test_flat_measures():
    truth, found = [["a", "b"], ["a"]], [["a", "a"], ["a"]]
    assert metrics.flat_accuracy_score(truth, found) == pytest.approx(2 / 3)
    f1 = metrics.flat_f1_score(truth, found, average="macro", labels=["a", "b"])
    assert f1 == pytest.approx(0.4)
    assert "macro avg" in metrics.flat_classification_report(truth, found, zero_division=0)
    assert metrics.flat_fbeta_score(truth, found, 1.0, average="macro") == pytest.approx(0.4)
    assert metrics.sequence_accuracy_score(truth, found) == 0.5
    assert metrics.sequence_accuracy_score([], []) == 0
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
    for name in ("torch", "jax"):
        if importlib.util.find_spec(name) is None:
            command += ["--ignore", str(pathlib.Path(maxmargin.__file__).with_name(name))]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert list(tmp_path.glob("*.png")), "it draws a picture"
