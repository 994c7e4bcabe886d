"""Columns of text, of which a template makes attributes: the same as files, and as dictionaries."""

import gzip
import pickle

import numpy as np
import pytest
from conftest import same_optimum
from sklearn.model_selection import GridSearchCV
from test_files import needs_command, run

import maxmargin
from maxmargin import ChainSVM, SequenceFile

#: Nothing here depends on the clock.
METHOD = {"lam": 0.05, "order": "gap", "direction": "corrective"}
TEMPLATE = "# words\nU0:%x[0,0]\nU1:%x[-1,0]/%x[0,1]\nB\n"


@pytest.fixture
def sentences(rng):
    words = {"the": ("DT", "B-NP"), "cat": ("NN", "I-NP"), "dog": ("NN", "I-NP")}
    words |= {"sees": ("VBZ", "B-VP"), "ünd": ("CC", "O")}
    X, y = [], []
    for _ in range(25):
        chosen = [str(word) for word in rng.choice(list(words), size=rng.integers(1, 7))]
        X.append([(word, words[word][0]) for word in chosen])
        y.append([words[word][1] for word in chosen])
    return X, y


@pytest.fixture
def file(sentences, tmp_path):
    """The same in a file."""
    path = tmp_path / "train.txt"
    lines = []
    for tokens, labels in zip(*sentences, strict=True):
        lines += [" ".join((*token, label)) for token, label in zip(tokens, labels, strict=True)]
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_files_of_columns_are_read(sentences, file, tmp_path):
    assert maxmargin.read_columns(file) == sentences
    packed = tmp_path / "train.txt.gz"
    packed.write_bytes(gzip.compress(file.read_bytes().replace(b"\n\n", b"\n \n\n\n")))
    assert maxmargin.read_columns(packed) == sentences
    X, y = maxmargin.read_columns(file, labelled=False)
    assert X[0][0] == (*sentences[0][0][0], sentences[1][0][0]) and y[0] == []
    for text, message in (
        ("a b\nc\n", "bad.txt:2:2: expected 2 columns between blanks, as in .*, found 1"),
        ("a\n", "bad.txt:1:1: expected two columns or more, .* found 1 column"),
        ("\n \n", "no sequences"),
        ("", "no sequences"),
    ):
        (tmp_path / "bad.txt").write_text(text)
        with pytest.raises(ValueError, match=message):
            maxmargin.read_columns(tmp_path / "bad.txt")
    (tmp_path / "bad.txt").write_bytes(b"a \xff\n")
    with pytest.raises(ValueError, match="expected UTF-8"):
        maxmargin.read_columns(tmp_path / "bad.txt")


CONLLU = """# text = Du vin
1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_
1\tDe\tde\tADP\tP\t_\t3\tcase\t_\t_
2\tle\tle\tDET\tD\t_\t3\tdet\t_\t_
3\tvin\tvin\tNOUN\tN\t_\t0\troot\t_\t_
"""


@pytest.mark.parametrize(
    ("text", "X", "y"),
    [
        ("word\ttag\nthe\tDT\ncat\tNN\n", [[("the",), ("cat",)]], [["DT", "NN"]]),
        (
            "-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\r\nwins VBZ B-VP O\r\n",
            [[("EU", "NNP", "B-NP"), ("wins", "VBZ", "B-VP")]],
            [["B-ORG", "O"]],
        ),
        (CONLLU, [[("De",), ("le",), ("vin",)]], [["ADP", "DET", "NOUN"]]),
    ],
)
def test_every_kind_of_columns_is_read(text, X, y, tmp_path):
    path = tmp_path / "train.txt"
    path.write_bytes(text.encode())
    assert maxmargin.read_columns(path) == (X, y)
    named, labels = maxmargin.read_sequences(path)
    assert labels == y
    assert all(f"w[0]={own[0]}" in token for token, own in zip(named[0], X[0], strict=True))
    template = "words" if len(X[0][0]) == 1 else "words+pos"
    assert maxmargin.read_sequences(path, template=template) == (named, labels)
    # Files, columns and attributes are the same to a model, and a fitted one keeps the template.
    model = ChainSVM(**METHOD).fit(SequenceFile(path))
    theirs = ChainSVM(template=template, **METHOD).fit(X, y)
    assert model.attribute_names_ == theirs.attribute_names_
    assert (model.coef_ == theirs.coef_).all()
    loaded = pickle.loads(pickle.dumps(model))
    for one in (model, theirs, loaded):
        assert predictions(one, SequenceFile(path)) == y and one.score(SequenceFile(path)) == 1.0
    model.save(tmp_path / "kept")
    kept = maxmargin.load(tmp_path / "kept")
    assert kept.template == template and predictions(kept, X) == y
    raw = tmp_path / "raw.txt"
    raw.write_text("\n".join(" ".join(token) for token in X[0]) + "\n")
    assert predictions(kept, SequenceFile(raw)) == y


def test_labels_may_be_in_another_column(tmp_path):
    path = tmp_path / "train.conllu"
    path.write_text(CONLLU)
    assert maxmargin.read_sequences(path, label_column="xpos")[1] == [["P", "D", "N"]]
    assert maxmargin.read_sequences(path, label_column=8)[1] == [["case", "det", "root"]]
    for options, message in (
        ({"label_column": "upso"}, "did you mean UPOS"),
        ({"template": "wrods"}, "did you mean `words`"),
        ({"template": "words", "format": "crfsuite"}, "formats with columns"),
    ):
        with pytest.raises(ValueError, match=message):
            maxmargin.read_sequences(path, **options)


def test_validation_files_are_read_as_the_training_data(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("the DT\ncat NN\n\na DT\ndog NN\n")
    model = ChainSVM(**METHOD).fit(SequenceFile(path), validation=SequenceFile(path))
    assert model.score(SequenceFile(path)) == 1.0
    # Fitted anew on attributes, it forgets the columns.
    model.fit([[{"a": 1.0}, {"b": 1.0}]], [["DT", "NN"]])
    with pytest.raises(ValueError, match="trained on attributes of their own"):
        model.predict(SequenceFile(path))


def test_columns_say_nothing_to_models_of_attributes(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("the DT\ncat NN\n")
    model = ChainSVM(**METHOD).fit([[{"a": 1.0}, {"b": 1.0}]], [["DT", "NN"]])
    with pytest.raises(ValueError, match="trained on attributes of their own"):
        model.predict(SequenceFile(path))


def predictions(model, X):
    return [labels.tolist() for labels in model.predict(X)]


@pytest.mark.parametrize("template", ["chunking", TEMPLATE])
def test_columns_are_what_they_are_in_files(sentences, file, template):
    X, y = sentences
    model = ChainSVM(template=template, **METHOD).fit(X, y)
    theirs = ChainSVM(template=template, **METHOD).fit(SequenceFile(file, "conll"))
    assert model.attribute_names_ == theirs.attribute_names_
    assert (model.coef_ == theirs.coef_).all() and (model.classes_ == theirs.classes_).all()
    for one in (model, theirs, pickle.loads(pickle.dumps(model))):
        assert one.verify(X, y) == [] and one.verify(SequenceFile(file, "conll")) == []
        assert predictions(one, X) == predictions(model, SequenceFile(file, "conll")) == y
        assert one.score(X, y) == one.score(SequenceFile(file)) == 1.0


def test_columns_are_what_they_are_as_dictionaries(sentences, file):
    X, y = sentences
    named, labels = maxmargin.read_sequences(file, "conll")
    assert labels == y
    model = ChainSVM(template="chunking", **METHOD).fit(X, y)
    theirs = ChainSVM(**METHOD).fit(named, labels)
    c, d = model.certificate_, theirs.certificate_
    assert max(c.dual, d.dual) <= min(c.primal, d.primal) + 1e-9
    assert sorted(model.attribute_names_) == sorted(theirs.attribute_names_)
    # A model does not mind how attributes were made.
    assert predictions(model, named) == predictions(theirs, named)


@needs_command
@pytest.mark.parametrize("template", ["chunking", TEMPLATE])
def test_models_go_to_the_command_line_and_back(sentences, file, tmp_path, template):
    X, y = sentences
    model = ChainSVM(template=template, **METHOD).fit(X, y)
    model.save(tmp_path / "ours")
    assert "dual point is feasible" in run("verify", tmp_path / "ours", file)
    (tmp_path / "template").write_text(template)
    name = "chunking" if template == "chunking" else tmp_path / "template"
    options = ["--lambda", "0.05", "--order", "gap", "--direction", "corrective"]
    run("train", file, "--template", name, *options, "-o", tmp_path / "theirs")
    theirs = maxmargin.load(tmp_path / "theirs")
    assert (theirs.coef_ == model.coef_).all()
    # One that was loaded knows its template, for files without labels too.
    bare = tmp_path / "bare.txt"
    text = "\n".join("\n".join(" ".join(token) for token in tokens) + "\n" for tokens in X)
    bare.write_text(text + "\n", encoding="utf-8")
    assert predictions(theirs, SequenceFile(bare, "conll")) == y
    if template != "chunking":
        assert predictions(theirs, X) == y


def test_a_template_without_b_has_no_transitions(sentences):
    X, y = sentences
    model = ChainSVM(template="U0:%x[0,0]", **METHOD).fit(X, y)
    assert model.weights_["transition"].size == 0
    single = [[word for word, _ in tokens] for tokens in X]
    words = ChainSVM(template="U0:%x[0,0]", **METHOD).fit(single, y)
    assert (words.coef_ == model.coef_).all()


def test_weights_are_repetitions_and_labels_of_any_type(sentences):
    X, y = sentences
    numbers = {"B-NP": 1, "I-NP": 2, "B-VP": 3, "O": 4}
    y = [[numbers[label] for label in own] for own in y]
    weights = np.ones(len(X))
    weights[:5] = 2.0
    tight = {**METHOD, "template": "chunking", "tol": 1e-3}
    model = ChainSVM(**tight).fit(X, y, sample_weight=weights)
    assert model.verify(X, y, sample_weight=weights) == []
    assert model.verify(X, y) != []
    assert same_optimum(model, ChainSVM(**tight).fit(X[:5] + X, y[:5] + y))
    assert predictions(model, X[:3]) == y[:3] and type(model.predict(X)[0][0]) is np.int64


def test_searches_validation_and_empty_sequences(sentences):
    X, y = sentences
    search = GridSearchCV(ChainSVM(template="chunking"), {"lam": [0.1, 0.01]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    model = ChainSVM(template="chunking").fit(X[:20], y[:20], validation=(X[20:], y[20:]))
    assert model.validation_error_ is not None
    found = model.predict([[], X[0]], fixed=[[], [None] * len(X[0])])
    assert [len(own) for own in found] == [0, len(X[0])]
    assert model.predict([]) == []


@pytest.mark.parametrize(
    ("template", "X", "y", "error", "message"),
    [
        ("chunking", [[("a b", "X"), ("c", "Y")]], [["A", "B"]], ValueError, "no blanks"),
        ("chunking", [[("", "X"), ("c", "Y")]], [["A", "B"]], ValueError, "no blanks"),
        (
            "chunking",
            [[("a", "X"), ("c",)]],
            [["A", "B"]],
            ValueError,
            "has 2 columns, others have 3",
        ),
        ("chunking", [[("a", 1), ("c", 2)]], [["A", "B"]], TypeError, "texts are needed"),
        ("chunking", [[("a", "X")]], [["A", "B"]], ValueError, "1 tokens and 2 labels"),
        ("chunking", [[("a", "X")], []], [["A"], []], ValueError, "at least one token"),
        ("chunking", [["a", "b"]], [["A", "B"]], ValueError, "needs two columns"),
        ("chunking", [[("a", "X"), ("b", "Y")]], [["A x", "B"]], ValueError, "no blanks"),
        ("U0:%x[0]", [[("a", "X"), ("b", "Y")]], [["A", "B"]], ValueError, "the template:1:4"),
        ("U0:%x[0,7]", [[("a", "X"), ("b", "Y")]], [["A", "B"]], ValueError, "looks at column 7"),
        ("words\n", [[("a", "X"), ("b", "Y")]], [["A", "B"]], ValueError, "the template:1:1"),
        ("word", [[("a", "X"), ("b", "Y")]], [["A", "B"]], ValueError, "did you mean `words`"),
        ("U0:%X[0,0]", [[("a", "X"), ("b", "Y")]], [["A", "B"]], ValueError, "the template:1:4"),
        ("words+pos", [["a", "b"]], [["A", "B"]], ValueError, "needs 2 columns"),
        (3, [[("a", "X"), ("b", "Y")]], [["A", "B"]], ValueError, "template is 3"),
    ],
)
def test_what_is_wrong_is_said(template, X, y, error, message):
    with pytest.raises(error, match=message):
        ChainSVM(template=template).fit(X, y)
