"""Sequences that are cut into segments."""

import os
import pickle
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

import maxmargin
from maxmargin import SegmentSVM
from maxmargin.io import segments_of_tags, tags_of_segments


def span(x, start, stop):
    """Features of a segment: how much its tokens differ, and whether it ends the sequence."""
    own = np.asarray(x)[start:stop, 0]
    return [own.max() - own.min(), float(stop == len(x))]


def steps(rng, count):
    """Noisy signals that are constant for a while: two tokens of label "a", or one or three of "b"."""
    X, y = [], []
    for _ in range(count):
        segments, levels, place, level = [], [], 0, 0
        for _ in range(int(rng.integers(1, 4))):
            label = "ab"[rng.integers(2)]
            length = 2 if label == "a" else int(rng.choice([1, 3]))
            segments.append((place, place + length, label))
            level = (level + int(rng.integers(1, 3))) % 3  # another one than before
            levels += [float(level)] * length
            place += length
        X.append(
            np.column_stack([np.array(levels) + rng.normal(scale=0.1, size=place), np.ones(place)])
        )
        y.append(segments)
    return X, y


def outputs(tokens, longest, labels):
    if tokens == 0:
        return [[]]
    found = []
    for length in range(1, min(longest, tokens) + 1):
        for rest in outputs(tokens - length, longest, labels):
            found += [[*rest, (tokens - length, tokens, label)] for label in labels]
    return found


def score(model, x, segments):
    groups, at = model.weights_, {label: k for k, label in enumerate(model.classes_.tolist())}
    total = 0.0
    for place, (start, stop, label) in enumerate(segments):
        k = at[label]
        rows = np.hstack([x[start:stop], np.ones((stop - start, 1))])
        total += (rows @ groups["tokens"][:, k]).sum() + groups["lengths"][stop - start - 1, k]
        if groups["first"].size:
            total += rows[0] @ groups["first"][:, k]
        if groups["segments"].size:
            total += np.array(span(x, start, stop)) @ groups["segments"][:, k]
        if place:
            total += groups["transition"][at[segments[place - 1][2]], k]
    return total


def tags(segments):
    return [(label, t == start) for start, stop, label in segments for t in range(start, stop)]


@pytest.mark.parametrize("features", [None, span])
@pytest.mark.parametrize("kind", ["normalised", "hamming"])
@pytest.mark.parametrize("firsts", [False, True])
def test_the_objective_is_that_of_the_formulas(rng, features, kind, firsts):
    X, y = steps(rng, 12)
    how = {"lam": 0.05, "loss": kind, "tol": 1e-3, "first_tokens": firsts}
    model = SegmentSVM(segment_features=features, **how).fit(X, y)
    assert model.certificate_.quality == "exact"
    hinges = []
    for x, truth in zip(X, y, strict=True):
        scale = len(x) if kind == "normalised" else 1
        loss = {
            tuple(o): sum(a != b for a, b in zip(tags(o), tags(truth), strict=True)) / scale
            for o in outputs(len(x), model.longest_, ["a", "b"])
        }
        hinges.append(max(v + score(model, x, o) for o, v in loss.items()) - score(model, x, truth))
    primal = 0.025 * np.sum(model.coef_**2) + np.mean(hinges)
    assert primal == pytest.approx(model.certificate_.primal, abs=1e-9)
    for x, found in zip(X, model.predict(X), strict=True):
        best = max(score(model, x, o) for o in outputs(len(x), model.longest_, ["a", "b"]))
        assert score(model, x, found) == pytest.approx(best, abs=1e-9)
    assert model.verify(X, y) == []
    assert "not those the model was trained on" in model.verify(X[1:], y[1:])[0]


def test_segments_see_what_tokens_cannot(rng):
    X, y = steps(rng, 80)
    X_test, y_test = steps(rng, 40)
    blind = SegmentSVM().fit(X, y)
    model = SegmentSVM(segment_features=span).fit(X, y)
    assert model.score(X_test, y_test) > 0.85 > blind.score(X_test, y_test)
    right = [a == b for a, b in zip(model.predict(X_test), y_test, strict=True)]
    assert np.mean(right) > 0.6
    lengths = model.weights_["lengths"]  # two tokens are "a", one and three are "b"
    assert lengths[1, 0] > lengths[1, 1] and lengths[0, 1] > lengths[0, 0]


def test_scikit_learns_tools_and_files(rng, tmp_path):
    X, y = steps(rng, 30)
    model = SegmentSVM(lam=0.05, segment_features=span, solver="bcfw", n_jobs=2).fit(X, y)
    assert np.array_equal(clone(model).set_params(n_jobs=1).fit(X, y).coef_, model.coef_)
    assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)
    search = GridSearchCV(SegmentSVM(), {"lam": [0.01, 10.0]}, cv=KFold(3))
    assert search.fit(X, y).best_score_ > 0.2
    judged = SegmentSVM(lam=0.05, patience=3, solver="bcfw")
    judged.fit(X[:20], y[:20], validation=(X[20:], y[20:]))
    assert judged.validation_error_ == pytest.approx(1 - judged.score(X[20:], y[20:]))
    sparse = SegmentSVM(lam=0.05, solver="bcfw").fit([sp.csr_matrix(x) for x in X], y)
    dense = SegmentSVM(lam=0.05, solver="bcfw").fit(X, y)
    assert np.array_equal(sparse.coef_, dense.coef_)
    bounded = SegmentSVM(lam=0.05, bounds={"lengths": (0, None)}).fit(X, y)
    assert bounded.weights_["lengths"].min() >= 0
    path = maxmargin.regularization_path(SegmentSVM(), X, y, epsilon=0.5, lambda_min=0.1)
    assert path.best(X, y).score(X, y) > 0.2
    model.to_report(tmp_path / "page.html")
    assert model.plot_weights() is not None
    model.save(tmp_path / "model.safetensors")
    again = maxmargin.load(tmp_path / "model.safetensors")
    assert isinstance(again, SegmentSVM) and again.longest_ == 3
    with pytest.raises(ValueError, match="needs segment_features, which files do not keep"):
        again.predict(X)
    assert again.set_params(segment_features=span).predict(X) == model.predict(X)
    assert again.verify(X, y) == []


def test_what_is_wrong_is_said(rng):
    X, y = steps(rng, 3)

    def refused(match, x=X[1], segments=y[1], **how):
        with pytest.raises(ValueError, match=match):
            SegmentSVM(**how).fit([X[0], x], [y[0], segments])

    n = len(X[1])
    refused("sequence 1: a segment is a tuple", segments=[(0, n)])
    refused("sequence 1: the segment .* should begin at token 0", segments=[(1, n, "a")])
    refused("should begin at token 1", segments=[(0, 1, "a"), (1, 1, "b")])
    refused("sequence 1: the segments have", segments=[(0, n + 1, "a")])
    refused("sequence 1: it has 1 columns, and others have 2", x=X[1][:, :1])
    refused("sequence 1: token 0: attribute 0 has the value NaN", x=X[1] * np.nan)
    refused("has a segment of", longest=1, segments=[(0, n, "a")] if n > 1 else y[1])
    refused("loss is 'l2'", loss="l2")
    refused("longest is 0", longest=0)
    refused("gave 2 numbers", segment_features=lambda x, a, b: [0.0] * (b - a))
    with pytest.raises(ValueError, match="there are no sequences"):
        SegmentSVM().fit([], [])
    with pytest.raises(ValueError, match="X has 1 sequences and y has 2"):
        SegmentSVM().fit(X[:1], y[:2])


def test_tokens_may_have_attributes_by_name(tmp_path):
    X = [[["the"], ["cat"], ["sat"]], [{"w": "a"}, {"w": "dog", "long": 0.5}, ["sat"]]]
    y = segments_of_tags([["B-NP", "I-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"]])
    model = SegmentSVM(lam=0.01).fit(X, y)
    assert model.predict(X) == y and model.verify(X, y) == []
    assert model.attribute_names_ == ["the", "cat", "sat", "w:a", "w:dog", "long"]
    assert model.weights_["first"].shape == (7, 2)
    model.save(tmp_path / "model")
    again = maxmargin.load(tmp_path / "model")
    assert again.predict(X) == y and again.verify(X, y) == [] and again.first_tokens
    assert again.attribute_names_ == model.attribute_names_
    # What is not known is left out, and a sequence without tokens has no segments.
    assert again.predict([[["a", "mat"]], []])[1] == []
    assert again.decision_function([[]])[0].shape == (0, 2)


def test_tags_and_segments_go_both_ways():
    tags = [["B-NP", "I-NP", "O", "B-VP"], ["O"], []]
    segments = segments_of_tags(tags)
    assert segments == [[(0, 2, "NP"), (2, 3, "O"), (3, 4, "VP")], [(0, 1, "O")], []]
    assert tags_of_segments(segments) == tags
    assert tags_of_segments(segments, "bioes")[0] == ["B-NP", "E-NP", "O", "S-VP"]
    assert segments_of_tags([["a", "a", "b"]]) == [[(0, 2, "a"), (2, 3, "b")]]
    with pytest.raises(ValueError, match="known are bio, bioes, runs"):
        segments_of_tags(tags, "iob")


def test_the_command_line_reads_models_of_segments_and_the_other_way_round(tmp_path):
    program = os.environ.get("MAXMARGIN")
    if program is None:
        pytest.skip("MAXMARGIN names no command line")
    lines = "B-A\t1:1.5\t2:1\nI-A\t1:1\nO\t2:-1\n\nO\t2:-2\nB-A\t1:2\n"
    (tmp_path / "data.crf").write_text(lines)

    def run(*arguments):
        found = subprocess.run(
            [program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return found.stdout

    X = [np.array([[1.5, 1.0], [1.0, 0.0], [0.0, -1.0]]), np.array([[0.0, -2.0], [2.0, 0.0]])]
    y = segments_of_tags([["B-A", "I-A", "O"], ["O", "B-A"]])
    model = SegmentSVM(lam=0.01).fit(X, y)
    model.save(tmp_path / "python.model")
    assert run("predict", "python.model", "data.crf").split() == ["B-A", "I-A", "O", "O", "B-A"]
    assert "The claim holds" in run("verify", "python.model", "data.crf")
    run("train", "data.crf", "--model", "segment", "--lambda", "0.01", "-q", "-o", "cli.model")
    loaded = maxmargin.load(tmp_path / "cli.model")
    assert loaded.predict(X) == y
    assert loaded.certificate_.primal == pytest.approx(model.certificate_.primal, abs=0.01)
    tokens, tags = maxmargin.read_sequences(tmp_path / "data.crf", "crfsuite")
    assert loaded.verify(tokens, segments_of_tags(tags)) == []


def test_scores_of_tokens_are_those_of_the_best_segments(rng):
    X, y = steps(rng, 6)
    model = SegmentSVM(lam=0.05).fit(X, y)
    for x, found in zip(X, model.decision_function(X), strict=True):
        all_of_them = outputs(len(x), model.longest_, ["a", "b"])
        for t in range(len(x)):
            for k, label in enumerate("ab"):
                own = [o for o in all_of_them if tags(o)[t][0] == label]
                assert found[t, k] == pytest.approx(max(score(model, x, o) for o in own))
