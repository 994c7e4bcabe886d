"""Files: models, traces, data, and what the command line makes of them."""

import gzip
import json
import os
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import maxmargin
from maxmargin import BinarySVM, ChainSVM, FactorGraphSVM, MulticlassSVM, MultilabelSVM
from maxmargin.io import chunk_f1


def command():
    """The command line, if it is at hand: MAXMARGIN or on the path."""
    return os.environ.get("MAXMARGIN") or shutil.which("maxmargin")


needs_command = pytest.mark.skipif(command() is None, reason="the command line is not installed")


def run(*arguments):
    result = subprocess.run([command(), *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def fitted(rng):
    X, y = rng.normal(size=(30, 4)), rng.integers(3, size=30)
    halves = [X[:15], X[15:]]
    yield ChainSVM(lam=0.1, tol=0.2).fit(halves, [y[:15], y[15:]]), halves
    yield MulticlassSVM(lam=0.1).fit(X, y), X
    yield BinarySVM(lam=0.1).fit(X, y > 0), X
    yield MultilabelSVM(lam=0.1).fit(X, [{f"k{k}", "x"} for k in y]), X
    graphs = [
        {"variables": [2], "factors": [{"template": "t", "variables": [0], "attributes": row}]}
        for row in X
    ]
    yield FactorGraphSVM(lam=0.1).fit(graphs, [[int(k > 0)] for k in y]), graphs


def as_text(labels):
    return [list(map(str, np.atleast_1d(own))) for own in labels]


def test_models_come_back_as_they_were(rng, tmp_path):
    for model, X in fitted(rng):
        file = tmp_path / "model.safetensors"
        model.save(file)
        again = maxmargin.load(file)
        assert type(again) is type(model)
        assert np.array_equal(again._model.weights(), model._model.weights())
        assert again.certificate_ == model.certificate_ and again.status_ == model.status_
        assert as_text(again.predict(X)) == as_text(model.predict(X)), type(model)
        slim = tmp_path / "slim.safetensors"
        model.save(slim, dual=False)
        assert slim.stat().st_size < file.stat().st_size
        other = MulticlassSVM if type(model) is not MulticlassSVM else BinarySVM
        with pytest.raises(ValueError, match=f"not one for {other.__name__}"):
            other.load(file)


def test_what_is_no_model_is_refused(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("just some text that is nothing like a model")
    with pytest.raises(ValueError, match="notes.txt: not a maxmargin model"):
        maxmargin.load(file)
    with pytest.raises(FileNotFoundError, match="No such file"):
        maxmargin.load(tmp_path / "nothing")


def test_verification_fails_on_other_data(sequences):
    X, y = sequences
    model = ChainSVM(lam=0.1).fit(X, y)
    assert model.verify(X, y) == []
    X[3][0, 0] += 1.0
    assert "not those the model was trained on" in model.verify(X, y)[0]


CHUNKS = """\
He PRP B-NP
reckons VBZ B-VP
the DT B-NP
current JJ I-NP
account NN I-NP
. . O

It PRP B-NP
ran VBD B-VP
. . O
"""


def test_data_of_the_command_line_are_read(tmp_path):
    file = tmp_path / "data.txt"
    file.write_text(CHUNKS)
    X, y = maxmargin.read_sequences(file, "conll")
    assert y[1] == ["B-NP", "B-VP", "O"] and X[0][0]["w[0]=He"] == 1.0
    model = ChainSVM(lam=0.01).fit(X, y)
    assert chunk_f1(y, model.predict(X, rules="bio")) == (1.0, 1.0, 1.0)
    as_file = ChainSVM(lam=0.01).fit(maxmargin.SequenceFile(file, "conll"))
    assert as_file.certificate_.primal == pytest.approx(model.certificate_.primal, abs=0.01)
    assert as_text(as_file.predict(X)) == as_text(y)
    assert as_file.score(maxmargin.SequenceFile(file, "conll")) == as_file.score(X, y) == 1.0
    assert as_file.verify(maxmargin.SequenceFile(file, "conll")) == [] == model.verify(X, y)
    judged = ChainSVM(lam=0.01).fit(X, y, validation=maxmargin.SequenceFile(file, "conll"))
    assert judged.validation_error_ == 0.0
    crf = tmp_path / "data.crfsuite.gz"
    with gzip.open(crf, "wt") as out:
        out.write("noun\tw=cat\tlong:0.5\nverb\tw=purrs\n\nverb\tw=runs\n")
    X, y = maxmargin.read_sequences(crf)
    assert X[0][0] == {"w=cat": 1.0, "long": 0.5} and y == [["noun", "verb"], ["verb"]]
    rows = tmp_path / "rows.svm"
    rows.write_text("2,7 1:0.5 3:1\n1:0.25\n")
    X, y, names = maxmargin.read_rows(rows)
    assert X.toarray().tolist() == [[0.5, 1.0], [0.25, 0.0]]
    assert y == [["2", "7"], []] and names == ["1", "3"]
    with pytest.raises(ValueError, match="data.txt:1"):
        maxmargin.read_sequences(file, "svm-hmm")
    with pytest.raises(ValueError, match="unknown format"):
        maxmargin.read_sequences(file, "xml")


@needs_command
def test_the_command_line_and_python_train_the_same_model(tmp_path):
    data, model, trace = (tmp_path / name for name in ("d.txt", "m.safetensors", "t.jsonl"))
    data.write_text("noun\tw=cat\nverb\tw=purrs\tlong:2\n\nverb\tw=runs\nnoun\tw=dog\n")
    run("train", data, "--lambda", 0.1, "-o", model, "--trace", trace, "--order", "gap", "-q")
    X, y = maxmargin.read_sequences(data)
    theirs = maxmargin.load(model)
    ours = ChainSVM(lam=0.1, order="gap").fit(X, y)
    assert theirs.certificate_.gap == ours.certificate_.gap
    # Labels are sorted here, and in the order of their occurrence there.
    index = [theirs.classes_.tolist().index(label) for label in ours.classes_]
    assert np.array_equal(theirs.weights_["emission"][:, index], ours.weights_["emission"])
    assert as_text(theirs.predict(X)) == as_text(ours.predict(X))
    rows = maxmargin.read_trace(trace)
    assert rows.dtype == ours.history_.dtype
    assert rows["gap"].tolist()[-1] == ours.history_["gap"][-1]
    # And what Python writes, the command line verifies, evaluates and predicts with.
    ours.save(model)
    assert "claim holds" in run("verify", model, data)
    assert json.loads(run("evaluate", model, data, "--json"))["hamming"] == 1 - ours.score(X, y)
    assert run("predict", model, data).split() == [label for own in y for label in own]


@needs_command
@pytest.mark.parametrize("standardise", ["auto", "always", "never"])
@pytest.mark.parametrize("number", ["money", "year"])
def test_the_command_line_and_python_standardise_alike(tmp_path, standardise, number):
    data, model = tmp_path / "d.txt", tmp_path / "m.safetensors"
    rng = np.random.default_rng(3)
    lines = []
    start, width = {"money": (0, 3000), "year": (1900, 100)}[number]
    for _ in range(30):
        labels = ["a", *rng.choice(["a", "b"], 3)]
        numbers = start + width * rng.random(4)
        pairs = zip(labels, numbers, strict=True)
        lines += [f"{own}\tword={own}\tsame\t{number}:{value}" for own, value in pairs]
        lines.append("")
    data.write_text("\n".join(lines))
    run("train", data, "--standardise", standardise, "-o", model, "-q")
    X, y = maxmargin.read_sequences(data)
    given = {"auto": "auto", "always": True, "never": False}[standardise]
    theirs = maxmargin.load(model)
    for ours in (
        ChainSVM(standardise=given).fit(X, y),
        ChainSVM(standardise=given).fit(maxmargin.SequenceFile(data)),
    ):
        assert theirs.coef_.tolist() == ours.coef_.tolist()
        assert theirs.certificate_ == ours.certificate_
        assert theirs.transition_scale_ == ours.transition_scale_
        ours.save(tmp_path / "ours")
        assert "claim holds" in run("verify", tmp_path / "ours", data)


@needs_command
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_constants_of_sets_cross_over(rng, tmp_path, fit_intercept):
    X = np.abs(rng.normal(size=(40, 3)))
    y = [{f"k{k}" for k in range(3) if row[k] > 1.0} for row in X]
    rows = [" ".join(f"{k}:{v!r}" for k, v in enumerate(row.tolist(), 1)) for row in X]
    data, model = tmp_path / "rows.svm", tmp_path / "model"
    lines = (f"{','.join(sorted(own))} {row}" for own, row in zip(y, rows, strict=True))
    data.write_text("".join(line.lstrip() + "\n" for line in lines))

    ours = MultilabelSVM(lam=0.01, pairs="none", tol=1e-6, fit_intercept=fit_intercept).fit(X, y)
    ours.save(model)
    predicted = run("predict", model, data, "--format", "multilabel").splitlines()
    assert predicted == [",".join(own) for own in ours.predict(X)]

    options = ["--lambda", "0.01", "--pairs", "none", "--tolerance", "1e-6"]
    options += [] if fit_intercept else ["--bias", "0"]
    run("train", data, "--format", "multilabel", *options, "-o", model, "-q")
    theirs = maxmargin.load(model)
    assert theirs.certificate_.primal == pytest.approx(ours.certificate_.primal, abs=2e-6)
    predicted = run("predict", model, data, "--format", "multilabel").splitlines()
    assert predicted == [",".join(own) for own in theirs.predict(X)]
    run("verify", model, data, "--format", "multilabel")


def test_matrices_are_the_rows_of_libsvm_files(rng, tmp_path):
    X, y = rng.normal(size=(40, 6)), rng.integers(3, size=40)
    X[np.abs(X) < 0.7] = 0.0
    X[:, 2] = 0.0  # a column that files know nothing of
    data, model = tmp_path / "rows.svm", tmp_path / "m.safetensors"
    dump_svmlight_file(X, y, str(data), zero_based=False)
    X = np.round(X, 16)
    ours = MulticlassSVM(lam=0.1, tol=1e-9).fit(X, y)
    ours.save(model)
    assert run("predict", model, data).split() == list(map(str, ours.predict(X)))
    options = ("--lambda", 0.1, "--tolerance", 1e-9, "-o", model, "-q")
    run("train", data, "--model", "multiclass", *options)
    theirs = maxmargin.load(model)
    assert theirs.n_features_in_ == 6 and theirs.coef_.shape == (3, 5)
    assert np.allclose(theirs.decision_function(X), ours.decision_function(X), atol=1e-3)
    assert theirs.certificate_.primal == pytest.approx(ours.certificate_.primal, abs=1e-8)


def test_reports_and_pictures(sequences, tmp_path):
    X, y = sequences
    model = ChainSVM(lam=0.1, patience=9).fit(X, y)
    page = tmp_path / "report.html"
    model.to_report(page, title="Colours & more")
    text = page.read_text()
    assert text.startswith("<!doctype html>") and "Colours &amp; more" in text
    assert "Transition weights" in text and "Convergence" in text
    assert model.plot_convergence().get_ylabel() == "duality gap"
    assert len(model.plot_convergence(x="seconds").lines) == 2  # with the validation error
    assert model.plot_weights().get_xlabel() == "next label"
    slim = ChainSVM(lam=0.1, without=["transition"]).fit(X, y)
    assert slim.plot_weights(top=5).get_xlabel() == "weight"
    with pytest.raises(ValueError, match="x is 'time'"):
        model.plot_convergence(x="time")


def test_all_estimators_draw(rng, tmp_path):
    for model, _ in fitted(rng):
        assert model.plot_weights() is not None and model.plot_convergence() is not None
        model.to_report(tmp_path / "page.html")
