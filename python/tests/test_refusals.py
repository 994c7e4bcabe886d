"""What is wrong with input is said by name, and nothing wrong passes silently."""

import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import maxmargin
from maxmargin import (
    ChainSVM,
    FactorGraphSVM,
    MulticlassSVM,
    MultilabelSVM,
    OracleError,
    StructuredSVM,
    regularization_path,
)

NAN, INF = float("nan"), float("inf")
X = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}]]
Y = [["A", "B"], ["B"]]
ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.0]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lam": -1}, "lam is -1; it must be a positive number"),
        ({"lam": NAN}, "lam is nan; it must be a finite number"),
        ({"C": INF}, "C is inf; it must be a finite number"),
        ({"C": "x"}, "C is 'x'; it must be a finite number"),
        ({"tol": NAN}, "tol is nan"),
        ({"tol": None}, "tol is None"),
        ({"tol": -1.0}, "tol is -1.0; it must be at least 0"),
        ({"max_passes": 0}, "max_passes is 0; it must be a whole number, at least 1"),
        ({"max_passes": 2.5}, "max_passes is 2.5; it must be a whole number"),
        ({"max_passes": INF}, "max_passes is inf; it must be a whole number"),
        ({"max_seconds": NAN}, "max_seconds is nan"),
        ({"patience": -1}, "patience is -1; it must be a whole number, at least 1"),
        ({"random_state": -1}, "random_state is -1; seeds are whole numbers"),
        ({"n_jobs": "all"}, "n_jobs is 'all'; it must be a whole number"),
        ({"bounds": 3}, "it must be a pair"),
        ({"bounds": {"transition": 0}}, "the bound of transition is 0; it must be a pair"),
        ({"bounds": (NAN, 1)}, "the lower bound of all is nan"),
        ({"bounds": (INF, None)}, "the lower bound of all is inf"),
        ({"validation": (X, Y)}, "give data of your own to fit"),
        ({"validation": "x"}, "validation is 'x'"),
        ({"options": 3}, "options is 3; it must be a dictionary"),
        ({"options": {"foo": 1}}, "unknown field `foo`"),
        ({"options": {"rate": NAN}}, "settings: "),
        ({"solver": "xx"}, "1-slack, eg$"),
        ({"without": "bias"}, r"give \['bias'\]"),
        ({"label_weights": {"A": NAN}}, "a label weight is nan"),
        ({"kernel": "rbf", "gamma": NAN}, "gamma is nan"),
        ({"kernel": "poly", "degree": 1.5}, "degree is 1.5; it must be a whole number"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ChainSVM(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ((X, None), ValueError, "y is None"),
        (("abc", "abc"), TypeError, "X must be a list of sequences, not str"),
        ((["abc"], [list("ABA")]), TypeError, "sequence 0 is of the type str"),
        (([["abc", "de"]], [["A", "B"]]), TypeError, "the token 'abc' is a text"),
        ((X[0], Y[0]), TypeError, r"for a single one give \[X\]"),
        (([[[1.0, 2.0], [1.0]]], [["A", "B"]]), ValueError, "sequence 0: "),
        ((ROWS, list("ABAB")), ValueError, "say with lengths="),
        ((sp.csr_matrix(ROWS), list("ABAB")), ValueError, "say with lengths="),
        ((pd.DataFrame(ROWS), list("ABAB")), ValueError, "say with lengths="),
        (([ROWS.astype(complex)], [list("ABAB")]), ValueError, "Complex data not supported"),
        ((X, [["A", NAN], ["A"]]), ValueError, "a label is NaN"),
        ((X, [[["A"], ["B"]], [["B"]]]), TypeError, "labels must be hashable"),
    ],
)
def test_sequences(data, error, message):
    with pytest.raises(error, match=message):
        ChainSVM().fit(*data)


def test_lengths():
    for lengths in ([1.5, 2.5], [5, -1], [], "ab", [[4]]):
        with pytest.raises(ValueError, match="lengths"):
            ChainSVM().fit(ROWS, list("ABAB"), lengths=lengths)


def test_predictions_of_nothing_are_empty():
    model = ChainSVM().fit(X, Y)
    assert model.predict([]) == []
    empty, full = model.predict([[], X[0]])
    assert empty.tolist() == [] and full.tolist() == Y[0]
    assert [
        len(own) for own in model.predict([X[1], [], X[0]], fixed=[["A"], [], ["A", None]])
    ] == [
        1,
        0,
        2,
    ]
    assert model.predict_nbest([[]])[0][0][0].tolist() == []
    assert model.predict_confidence([[]])[0][1].tolist() == []
    assert model.decision_function([[]])[0].shape == (0, 2)
    assert model.score([[], X[0]], [[], Y[0]]) == 1.0
    with pytest.raises(ValueError, match="X has 2 sequences and fixed has 1"):
        model.predict(X, fixed=[["A", None]])
    with pytest.raises(ValueError, match="a sequence needs at least one token"):
        ChainSVM().fit([[], X[0]], [[], Y[0]])


def test_scores_compare_what_belongs_together():
    model = ChainSVM().fit(X, Y)
    with pytest.raises(ValueError, match="sequence 0: it has 2 tokens and 1 labels"):
        model.score(X, [["A"], ["B"]])  # one label would otherwise stand for both
    with pytest.raises(ValueError, match="X has 2 sequences and y has 1"):
        model.score(X, Y[:1])
    with pytest.raises(ValueError, match="validation must be a tuple"):
        model.fit(X, Y, validation=[X, Y])
    sets = MultilabelSVM().fit(ROWS, [{"a"}, {"b"}, {"a", "b"}, set()])
    with pytest.raises(ValueError, match="X has 4 rows and y has 1"):
        sets.score(ROWS, [{"a"}])


def test_data_to_validate_on_are_looked_at():
    y = [0, 1, 1, 0]
    sets = [{k} for k in y]
    for model, truth in ((MulticlassSVM(), y), (MultilabelSVM(), sets)):
        for rows in (ROWS, ROWS.tolist(), sp.csr_matrix(ROWS), [{"1": 1.0}] * 4):
            with pytest.raises(ValueError, match="inconsistent numbers of samples"):
                model.fit(ROWS, truth, validation=(rows, truth[:3]))


def test_columns_go_by_their_names():
    frame = pd.DataFrame({"f": [1.0, 0.0], "g": [0.0, 1.0]})
    model = ChainSVM(without=["transition", "first", "last"]).fit([frame], [["A", "B"]])
    assert model.predict([frame])[0].tolist() == ["A", "B"]
    assert model.predict([frame[["g", "f"]]])[0].tolist() == ["A", "B"]
    with pytest.raises(ValueError, match=r"columns with the names \['h'\]"):
        model.predict([frame.rename(columns={"g": "h"})])
    with pytest.raises(ValueError, match="sequence 1 has the columns"):
        model.predict([frame, frame[["g", "f"]]])


def test_names_are_not_for_models_of_columns_without():
    y = [0, 1, 1, 0]
    for model, good, bad in (
        (MulticlassSVM().fit(ROWS, y), [{"1": 1.0}], [{"height": 1.0}]),
        (MultilabelSVM().fit(ROWS, [{k} for k in y]), [{"2": 1.0}], [{"height": 1.0}]),
        (ChainSVM().fit([ROWS], [y]), [[{"1": 1.0}]], [[{"height": 1.0}]]),
    ):
        assert len(model.predict(good)) == 1
        with pytest.raises(ValueError, match="columns have the names 1 to 2"):
            model.predict(bad)


def test_sets_as_tokens_have_an_order_of_their_own(tmp_path):
    program = (
        "from maxmargin import ChainSVM; "
        "X = [[{'a', 'b', 'c'}, {'d', 'e', 'f', 'g'}], [frozenset({'x', 'y', 'z'})]]; "
        "print(ChainSVM().fit(X, [['A', 'B'], ['A']]).attribute_names_)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": str(seed), "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert found == {str(list("abcdefgxyz")) + "\n"}


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full((4, 2), NAN), "y has the value nan"),
        (np.full((4, 2), 3), "y has the value 3"),
        (np.array([[1, -1]] * 4), "y has the value -1"),
        ([[1, 0], [0, 0], [1, 1], [0, 1]], "row 1 has a label twice"),
        (["ab", "b", "a", "a"], "'ab' in place of a set"),
        ([0, 1, 1, 0], "in place of a set"),
        (None, "y is None"),
    ],
)
def test_sets(y, message):
    with pytest.raises(ValueError, match=message):
        MultilabelSVM().fit(ROWS, y)


def test_columns_of_sets_have_names():
    y = pd.DataFrame({"warm": [1, 0, 1, 0], "wet": [0, 1, 1, 0]})
    model = MultilabelSVM(lam=0.01).fit(ROWS, y)
    assert model.classes_.tolist() == ["warm", "wet"]
    assert (model.predict(ROWS) == y.to_numpy()).all()


def test_sparse_matrices_whose_rows_end_before_they_begin():
    damaged = sp.csr_matrix(ROWS)
    damaged.indptr = damaged.indptr.copy()
    damaged.indptr[2] = 0
    with pytest.raises(ValueError, match="row 1 of the sparse matrix is damaged"):
        MulticlassSVM(lam=0.1).fit(damaged, [0, 1, 0, 1])


@pytest.mark.parametrize("column", [4, 2**32, 2**32 + 1, 2**63 - 1, -1])
def test_sparse_matrices_with_columns_that_do_not_exist(column):
    def damaged(matrix):
        matrix = sp.csr_matrix(matrix)
        matrix.indices, matrix.indptr = (
            own.astype(np.int64) for own in (matrix.indices, matrix.indptr)
        )
        matrix.indices[0] = column
        return matrix

    rows = damaged(np.eye(4))
    for fit in (
        lambda: MulticlassSVM(lam=0.1).fit(rows, [0, 1, 0, 1]),
        lambda: MultilabelSVM(lam=0.1).fit(rows, [["a"], ["b"], [], ["a", "b"]]),
        lambda: MultilabelSVM(lam=0.1).fit(np.eye(4), damaged(np.eye(4))),
        lambda: ChainSVM(lam=0.1).fit([rows], [["a", "b", "a", "b"]]),
        lambda: MulticlassSVM(lam=0.1).fit(np.eye(4), [0, 1, 0, 1]).predict(rows),
    ):
        with pytest.raises(ValueError, match="does not exist|is damaged"):
            fit()


@pytest.mark.parametrize("estimator", [ChainSVM, MulticlassSVM])
def test_more_columns_than_weights_are_refused_before_they_are_named(estimator):
    wide = sp.csr_matrix((2, 2**33))
    X, y = ([wide], [["a", "b"]]) if estimator is ChainSVM else (wide, ["a", "b"])
    with pytest.raises(ValueError, match="X has 8589934592 columns, of which at most 536870912"):
        estimator(lam=0.1).fit(X, y)


def test_matrices_of_labels_are_not_changed():
    y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    explicit = sp.csr_matrix(
        (y.ravel()[::-1], np.tile([2, 1, 0], 4), np.arange(0, 13, 3)), shape=(4, 3)
    )
    before = explicit.copy()
    MultilabelSVM(lam=0.1).fit(np.eye(4), explicit)
    for own in ("data", "indices", "indptr"):
        assert (getattr(explicit, own) == getattr(before, own)).all()


def test_labels_may_end_with_a_character_that_numpy_drops(tmp_path):
    model = ChainSVM(lam=0.1).fit(X, [["A\0", "B"], ["B"]])
    model.save(tmp_path / "m")
    for own in (model, ChainSVM.load(tmp_path / "m")):
        assert [list(labels) for labels in own.predict(X)] == [["A\0", "B"], ["B"]]


def test_costs():
    for costs in (np.full((2, 2), NAN), np.ones((3, 3)), {"a": 1}):
        with pytest.raises(ValueError, match="costs"):
            MulticlassSVM(costs=costs).fit(ROWS, [0, 1, 1, 0])


def test_factor_graphs():
    graph = {
        "variables": [2],
        "factors": [{"template": "t", "variables": [0], "attributes": [1.0]}],
    }
    nan = {**graph, "factors": [{"template": "t", "variables": [0], "attributes": [NAN]}]}
    for graphs, y, error, message in (
        ([], [], ValueError, "there are no graphs"),
        ([{}], [[0]], ValueError, "graph 0 has no 'variables'"),
        ([3], [[0]], TypeError, "graph 0: a graph is a dictionary, not int"),
        ([graph, nan], [[0], [1]], ValueError, "graph 1: "),
    ):
        with pytest.raises(error, match=message):
            FactorGraphSVM().fit(graphs, y)
    model = FactorGraphSVM().fit([graph, graph], [[0], [1]])
    with pytest.raises(ValueError, match="graph 0 has 1 variables and 2 states"):
        model.score([graph], [[0, 0]])


def test_files(tmp_path):
    model = ChainSVM().fit(X, Y)
    missing = tmp_path / "no" / "file"
    for attempt in (
        lambda: maxmargin.load(missing),
        lambda: maxmargin.read_sequences(missing),
        lambda: maxmargin.read_rows(missing),
        lambda: maxmargin.read_graphs(missing),
        lambda: maxmargin.read_superpixels(missing),
        lambda: maxmargin.read_alignments(missing),
        lambda: maxmargin.RegularizationPath.load(missing),
        lambda: ChainSVM().fit(maxmargin.SequenceFile(missing)),
        lambda: model.save(missing),
        lambda: model.to_report(missing),
    ):
        with pytest.raises(FileNotFoundError, match="file"):
            attempt()
    with pytest.raises(IsADirectoryError):
        maxmargin.load(tmp_path)
    (tmp_path / "rows").write_text("1 1:nan\n")
    with pytest.raises(ValueError, match=r"give one with format= \("):
        maxmargin.read_rows(tmp_path / "rows")
    # A page that cannot be written leaves nothing behind.
    (tmp_path / "page").mkdir()
    with pytest.raises(OSError, match="page"):
        model.to_report(tmp_path / "page")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page", "rows"]


def test_what_is_not_fitted():
    for ask in ("coef_", "weights_", "attribute_names_"):
        assert not hasattr(ChainSVM(), ask)
        with pytest.raises(AttributeError, match="not fitted yet"):
            getattr(ChainSVM(), ask)


class Sign:
    n_features = 1

    def decode(self, x, y, w, loss_augmented):
        return max((-1, 1), key=lambda s: s * x * w[0] + loss_augmented * (s != y))

    def features(self, x, y):
        return {0: x * y}

    def loss(self, y, y_hat):
        return float(y != y_hat)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": lambda self, y, z: -float(y != z)}, "the loss is -1.0; it must be a number ≥ 0"),
        ({"loss": lambda self, y, z: NAN if y != z else 0.0}, "the loss is nan"),
        ({"features": lambda self, x, y: {3: x}}, "feature 3 does not exist; there are 1"),
        ({"features": lambda self, x, y: ([-1], [x])}, "feature -1 does not exist"),
    ],
)
def test_structures_are_told_the_example(change, message):
    # decode must go wrong for a negative loss to come up at all
    change = {"decode": lambda self, x, y, w, augmented: -y, **change}
    broken = type("Broken", (Sign,), change)()
    with pytest.raises(OracleError, match=message) as caught:
        StructuredSVM(broken).fit([1.0, -1.0], [1, -1])
    assert caught.value.index in (0, 1)


def test_structures():
    xs, ys = [1.0, -1.0, 2.0], [1, -1, 1]
    for parameters, arguments, error, message in (
        ({"structure": Sign}, (xs, ys), TypeError, "is a class; give an object"),
        ({}, ([], []), ValueError, "there are no examples"),
        ({}, (xs, ys, [1, -1, 1]), ValueError, "the weight of example 1 is -1.0"),
        ({"bounds": ([0, 0], None)}, (xs, ys), ValueError, "the lower bounds have the shape"),
        ({"bounds": {"a": 1}}, (xs, ys), ValueError, "it must be a pair"),
    ):
        with pytest.raises(error, match=message):
            StructuredSVM(**{"structure": Sign(), **parameters}).fit(*arguments)
    with pytest.raises(ValueError, match="X has 3 examples and y has 2"):
        StructuredSVM(Sign()).fit(xs, ys).score(xs, ys[:2])


def test_structures_have_reports(tmp_path):
    model = StructuredSVM(Sign()).fit([1.0, -1.0, 2.0], [1, -1, 1])
    model.to_report(tmp_path / "a page.html", title="Signs")
    page = (tmp_path / "a page.html").read_text()
    assert "Signs" in page and "Convergence" in page and "Duality gap" in page
    # A pickle knows its history, and its page shows it.
    again = pickle.loads(pickle.dumps(ChainSVM().fit(X, Y)))
    again.to_report(tmp_path / "chain.html")
    assert "Convergence" in (tmp_path / "chain.html").read_text()


def test_paths_can_be_pickled():
    path = regularization_path(ChainSVM(), X, Y, 0.1, lambda_min=0.05)
    again = pickle.loads(pickle.dumps(path))
    assert (again.lambdas == path.lambdas).all() and (again.coef_at(0.1) == path.coef_at(0.1)).all()
    assert again.best(X, Y).score(X, Y) == path.best(X, Y).score(X, Y)
    legend = path.plot(scores=path.scores(X, Y)).figure.axes[1].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["primal", "dual", "score"]
    for epsilon in (NAN, -1.0):
        with pytest.raises(ValueError, match="epsilon"):
            regularization_path(ChainSVM(), X, Y, epsilon)


def test_every_module_is_in_the_wheel():
    sources = pathlib.Path(__file__).resolve().parents[1] / "maxmargin"
    installed = pathlib.Path(maxmargin.__file__).parent
    for path in sources.rglob("*.py"):
        assert (installed / path.relative_to(sources)).exists(), path
