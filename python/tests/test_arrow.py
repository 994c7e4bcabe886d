"""Columns and tables of Arrow, wherever pandas' are taken."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from maxmargin import BinarySVM, ChainSVM, MulticlassSVM, MultilabelSVM, PottsSVM


def test_tables_are_matrices_with_names(rng):
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    label = np.where(frame["a"] + frame["b"] > 0, "yes", "no")
    for cls in (BinarySVM, MulticlassSVM):
        theirs = cls(lam=0.1, solver="bcfw").fit(frame, label)
        for table in (pa.table(frame), pa.RecordBatch.from_pandas(frame)):
            ours = cls(lam=0.1, solver="bcfw").fit(table, pa.array(label))
            assert np.array_equal(ours.coef_, theirs.coef_)
            assert list(ours.feature_names_in_) == ["a", "b", "c"]
            assert ours.predict(table).tolist() == theirs.predict(frame).tolist()
            assert ours.score(table, label) == theirs.score(frame, label)
    weights = pa.array(rng.random(40))
    weighted = BinarySVM(lam=0.1, solver="bcfw").fit(pa.table(frame), label, sample_weight=weights)
    assert weighted.score(pa.table(frame), label) > 0.8
    sets = [["x", "y"] if k == "yes" else ["x"] for k in label]
    both = [
        MultilabelSVM(lam=0.1, solver="bcfw").fit(frame, y).coef_ for y in (sets, pa.array(sets))
    ]
    assert np.array_equal(*both)


def test_sequences_of_tables(rng):
    frames = [pd.DataFrame(rng.normal(size=(n, 2)), columns=["p", "q"]) for n in (3, 4, 5)]
    y = [np.where(frame["p"] > 0, "on", "off").tolist() for frame in frames]
    theirs = ChainSVM(lam=0.1, solver="bcfw").fit(frames, y)
    tables = [pa.table(frame) for frame in frames]
    ours = ChainSVM(lam=0.1, solver="bcfw").fit(tables, [pa.array(own) for own in y])
    assert np.array_equal(ours.coef_, theirs.coef_) and ours.attribute_names_ == ["p", "q"]
    listed = ChainSVM(lam=0.1, solver="bcfw").fit(tables, pa.array(y))
    assert np.array_equal(listed.coef_, theirs.coef_)
    stacked = pa.table(pd.concat(frames, ignore_index=True))
    flat = pa.chunked_array([own for own in y])
    whole = ChainSVM(lam=0.1, solver="bcfw").fit(stacked, flat, lengths=pa.array([3, 4, 5]))
    assert np.array_equal(whole.coef_, theirs.coef_)
    assert whole.score(stacked, flat, lengths=[3, 4, 5]) == theirs.score(frames, y)
    tokens = [[{"word": "cat", "n": 1.0}, {"word": "dog", "n": 2.0}], [{"word": "cat", "n": 0.5}]]
    labels = [["N", "V"], ["N"]]
    by_name = [ChainSVM(solver="bcfw").fit(X, labels).coef_ for X in (tokens, pa.array(tokens))]
    assert np.array_equal(*by_name)


def test_graphs_of_tables(rng):
    frame = pd.DataFrame(rng.normal(size=(4, 2)))
    edges = pd.DataFrame({"from": [0, 1, 2], "to": [1, 2, 3]})
    y = ["a", "b", "a", "b"]
    theirs = PottsSVM(lam=0.1, solver="bcfw").fit([(frame, edges)], [y])
    frame.columns = frame.columns.astype(str)
    ours = PottsSVM(lam=0.1, solver="bcfw").fit([(pa.table(frame), pa.table(edges))], [pa.array(y)])
    assert np.array_equal(ours.coef_, theirs.coef_)


def test_nulls_are_refused(rng):
    table = pa.table({"a": [1.0, None, 2.0], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="NaN"):
        BinarySVM().fit(table, [0, 1, 0])
    with pytest.raises(ValueError, match="1 nulls"):
        BinarySVM().fit(table.select(["b"]), pa.array([0, None, 1]))
    with pytest.raises(ValueError, match="1 nulls"):
        ChainSVM().fit([[["x"], ["y"]]], [pa.array(["a", None])])
    with pytest.raises(ValueError, match="NaN"):
        ChainSVM().fit([table], [["a", "b", "a"]])


def test_frames_with_texts_are_tokens_with_attributes():
    words, tags = [["the", "old", "cat"], ["a", "dog"]], [["D", "A", "N"], ["D", "N"]]
    rows = [[{"word": word, "length": float(len(word))} for word in own] for own in words]
    expected = ChainSVM(lam=0.1).fit(rows, tags)
    for table in (pd.DataFrame, pa.Table.from_pylist):
        frames = [table(own) for own in rows]
        model = ChainSVM(lam=0.1).fit(frames, tags)
        assert model.attribute_names_ == expected.attribute_names_
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        assert [list(own) for own in model.predict(frames)] == tags
    stacked = pd.DataFrame([token for own in rows for token in own])
    model = ChainSVM(lam=0.1).fit(stacked, [tag for own in tags for tag in own], lengths=[3, 2])
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_a_text_that_is_missing_is_no_attribute():
    whole = [[{"word": "cat", "suffix": "t"}, {"word": "a"}], [{"word": "dog"}, {"word": "x"}]]
    tags = [["N", "D"], ["N", "X"]]
    frames = [
        pd.DataFrame({"word": ["cat", "a"], "suffix": ["t", None]}),
        pd.DataFrame({"word": ["dog", "x"]}),
    ]
    model, expected = ChainSVM(lam=0.1).fit(frames, tags), ChainSVM(lam=0.1).fit(whole, tags)
    assert model.attribute_names_ == expected.attribute_names_
    with pytest.raises(ValueError, match="sequence 0"):
        ChainSVM().fit([pd.DataFrame({"word": ["a", "b"], "size": [1.0, np.nan]})], [["N", "V"]])
