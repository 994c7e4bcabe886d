"""Workers that load their own examples: the model is that of one machine, for every estimator."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import same_optimum
from test_distributed import factor_graph, parts_of, words

from maxmargin import (
    BinarySVM,
    ChainSVM,
    FactorGraphSVM,
    GraphSVM,
    GridSVM,
    MatchingSVM,
    MulticlassSVM,
    MultilabelSVM,
    PottsSVM,
    SegmentSVM,
    TreeSVM,
    load,
    read_graphs,
    read_rows,
)
from maxmargin.__main__ import main
from maxmargin.distributed import SerialBackend
from maxmargin.io import read_superpixels


def part(values, start, stop):
    return values[start:stop] if hasattr(values, "shape") else list(values[start:stop])


def loaders(X, y, ends, **extra):
    """Functions that load the examples up to each end."""
    starts = [0, *ends[:-1]]

    def own(a, b):
        more = {name: part(value, a, b) for name, value in extra.items()}
        return lambda: (part(X, a, b), None if y is None else part(y, a, b), more)

    return [own(a, b) for a, b in zip(starts, ends, strict=True)]


def check(estimator, X, y, ends, tmp_path=None, **extra):
    """Trains on one machine and on shards of these examples, and compares."""
    given = estimator.get_params()
    alone = type(estimator)(**given).set_params(tol=1e-3).fit(X, y, **extra)
    backend = SerialBackend(num_workers=3)
    model = type(estimator)(**given).set_params(tol=1e-3, backend=backend)
    model.fit(loaders(X, y, ends, **extra), *([] if y is None else [None]))
    assert model.certificate_.gap <= 1e-3 + 1e-12
    assert same_optimum(model, alone)
    assert model.verify(X, y, **extra) == []
    assert len(model.coef_) == len(alone.coef_) and np.shape(model.coef_) == np.shape(alone.coef_)
    for name in ("attribute_names_", "n_features_in_", "longest_", "templates_"):
        assert getattr(model, name, None) == getattr(alone, name, None), name
    if hasattr(alone, "classes_"):
        assert list(model.classes_) == list(alone.classes_)
    assert len(model.predict(X)) == (X.shape[0] if sp.issparse(X) else len(X))
    if tmp_path is not None:
        model.save(tmp_path / "model.safetensors")
        assert load(tmp_path / "model.safetensors").verify(X, y, **extra) == []
    return model


def rows(count=60, width=4):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(count, width))
    labels = np.argmax(X @ rng.normal(size=(width, 3)), axis=1)
    # The last shard has one label only, and the label 7 is there alone.
    labels[40:] = 7
    return X, labels


def test_rows_are_loaded_in_all_their_forms(tmp_path):
    X, labels = rows()
    ends = [10, 25, 40, 60]
    plain = {"lam": 0.05, "standardise": False}
    names = [{f"x{at}": value for at, value in enumerate(row) if value > -0.5} for row in X]
    sets = [[t for t in range(3) if row[t] > 0] for row in X]
    matrix = np.array([[int(value > 0) for value in row[:3]] for row in X])
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c", "d"])
    check(MulticlassSVM(**plain), X, labels, ends)
    check(MulticlassSVM(**plain), sp.csr_matrix(X), labels, ends)
    check(MulticlassSVM(**plain), frame, labels, ends)
    check(MulticlassSVM(**plain), names, [f"class {own}" for own in labels], ends, tmp_path)
    check(MulticlassSVM(**plain, class_weight={7: 2.0}), X, labels, ends)
    check(BinarySVM(**plain), X, labels == 7, ends)
    check(MultilabelSVM(**plain), X, sets, ends)
    check(MultilabelSVM(**plain), X, matrix, ends)
    check(MultilabelSVM(**plain), names, sets, ends)
    weights = np.linspace(0.5, 2.0, len(X))
    check(MulticlassSVM(**plain), X, labels, ends, sample_weight=weights)


def test_the_bias_follows_the_rows_of_all_workers():
    X, labels = rows()
    X = X * [1.0, 3.0, 0.1, 20.0] + [5.0, 0.0, 0.0, 0.0]
    X[:, 2] = 7.0  # a constant counts in full
    ends = [10, 25, 40, 60]
    weights = np.linspace(0.0, 2.0, len(X))
    names = [{f"x{at}": value for at, value in enumerate(row) if value > -5} for row in X]
    texts = [f"class {own}" for own in labels]
    plain = {"lam": 0.05, "tol": "10%", "standardise": False}

    def value(model):
        return json.loads(model._model.meta())["spec"]["shape"]["bias"]

    def agree(estimator, X, y, **extra):
        """The same value for one machine, and for any number of workers."""
        whole = type(estimator)(**estimator.get_params()).fit(X, y, **extra)
        for shards in (1, 2, 3):
            functions = loaders(X, y, ends, **extra)
            backend = SerialBackend(num_workers=shards)
            model = type(estimator)(**estimator.get_params()).set_params(backend=backend)
            model.fit(functions, None)
            expected = value(whole)
            if shards == 1 or expected is None:
                assert value(model) == expected
            else:
                assert value(model) == pytest.approx(expected, rel=1e-12)
            if shards == 1:
                assert np.array_equal(model.coef_, whole.coef_)
        return value(whole)

    found = agree(MulticlassSVM(**plain), X, labels)
    assert found > 15.0
    assert agree(MulticlassSVM(**plain), sp.csr_matrix(X), labels) == found
    assert agree(MulticlassSVM(**plain), names, texts) != found
    assert agree(MulticlassSVM(**plain), X, labels, sample_weight=weights) != found
    assert agree(MulticlassSVM(**plain, class_weight={7: 5.0}), X, labels) != found
    assert agree(BinarySVM(**plain), X, labels == 7) == found
    assert agree(MulticlassSVM(**plain, intercept_scaling=2.0), X, labels) == 2.0
    assert agree(MulticlassSVM(**plain, bounds=(-1.0, 1.0)), X, labels) == 1.0
    assert agree(MulticlassSVM(**plain, fit_intercept=False), X, labels) is None


def test_sequences_and_segments_are_loaded():
    X, y = words()
    ends = [3, 10, 20, 40]
    check(ChainSVM(lam=0.05), X, y, ends)
    rng = np.random.default_rng(2)
    dense = [rng.normal(size=(len(own), 2)) for own in y]
    check(ChainSVM(lam=0.05), dense, y, ends)
    columns = [[(next(iter(token)), "x") for token in own] for own in X]
    check(ChainSVM(lam=0.5, template="words"), columns, y, ends)
    numbers = [["ABC".index(label) for label in own] for own in y]
    check(ChainSVM(lam=0.05), X, numbers, ends)
    cuts = [
        [(0, 2, "x"), (2, len(own), "y")] if len(own) > 3 else [(0, len(own), "z")] for own in y
    ]
    check(SegmentSVM(lam=0.1), dense, cuts, ends)
    check(SegmentSVM(lam=0.1), X, cuts, ends)


def test_graphs_trees_and_matchings_are_loaded():
    rng = np.random.default_rng(5)
    line = np.array([[0, 1], [1, 2], [2, 3]])
    nodes = [rng.normal(size=(4, 2)) for _ in range(12)]
    # Edges of type 1 are in a few graphs only.
    typed = [np.column_stack([line, np.full(3, at % 5 == 4)]) for at in range(12)]
    labels = [["ab"[int(row.sum() > 0)] for row in own] for own in nodes]
    plain = [(own, line, rng.normal(size=(3, 2)) ** 2) for own in nodes]
    ends = [4, 7, 12]
    check(GraphSVM(lam=0.1), list(zip(nodes, typed, strict=True)), labels, ends)
    check(PottsSVM(lam=0.1), plain, labels, ends)
    areas = [np.linspace(1.0, 2.0, 4) for _ in nodes]
    check(GraphSVM(lam=0.1), list(zip(nodes, typed, strict=True)), labels, ends, node_weight=areas)
    pairs = [factor_graph(rng, at) for at in range(10)]
    drawn, states = [list(own) for own in zip(*pairs, strict=True)]
    check(FactorGraphSVM(lam=0.1), drawn, states, [3, 6, 10])
    for graph, own in zip(drawn, states, strict=True):
        graph["variables"] = [{"states": 2, "truth": state} for state in own]
    check(FactorGraphSVM(lam=0.1), drawn, None, [3, 6, 10])
    tables = [rng.normal(size=(3, 3, 2)) for _ in range(8)]
    links = [np.array([[0, 0], [1, 2]]) for _ in tables]
    check(MatchingSVM(lam=0.1), tables, links, [2, 5, 8])
    features = [rng.normal(size=(3, 1)) for _ in range(8)]
    ups = [["up" if own > 0 else "down" for own in x[:, 0]] for x in features]
    check(TreeSVM(lam=0.1, parents=[None, 0, 0]), features, ups, [2, 5, 8])
    maps = [rng.normal(size=(2, 1, 6)) for _ in range(8)]
    places = [[(at % 4, 0), (at % 4 + 2, 0)] for at in range(8)]
    given = {"lam": 0.1, "parents": [None, 0], "scale": 2.0}
    check(TreeSVM(**given, anchors=[None, [[2.0, 0.0]]]), maps, places, [2, 5, 8])
    with pytest.raises(ValueError, match="anchors='mean' needs all examples"):
        TreeSVM(**given, backend=SerialBackend()).fit(loaders(maps, places, [4, 8]), None)


def test_images_are_loaded():
    rng = np.random.default_rng(6)
    images = [rng.normal(size=(3, 3, 1)) for _ in range(8)]
    pixels = [(image[:, :, 0] > 0).astype(int) for image in images]
    for pairwise in ("potts", "symmetric", "directional"):
        check(GridSVM(lam=0.1, pairwise=pairwise), images, pixels, [2, 5, 8])


def test_one_worker_has_the_bits_of_one_machine():
    X, labels = rows()
    alone = MulticlassSVM(lam=0.05).fit(X, labels)
    model = MulticlassSVM(lam=0.05, backend=SerialBackend(num_workers=1))
    model.fit(loaders(X, labels, [20, 60]), None)
    assert (model.coef_ == alone.coef_).all() and model.certificate_ == alone.certificate_


def test_other_data_are_still_found_out():
    X, labels = rows()
    model = MulticlassSVM(lam=0.05, backend=SerialBackend(num_workers=2))
    model.fit(loaders(X, labels, [20, 60]), None)
    assert model.verify(X, labels) == []
    assert model.verify(X[:-1], labels[:-1])[0].startswith("the data are not those")
    assert model.verify(1.5 * X, labels) != []
    assert model.verify(X[::-1], labels[::-1]) != []


def test_files_of_all_readers_are_read_by_workers(tmp_path):
    backend = SerialBackend(num_workers=2)
    X, labels = rows()
    for at, own in enumerate([range(0, 20), range(20, 60)]):
        lines = [
            f"{labels[i]} " + " ".join(f"{j + 1}:{X[i][j]}" for j in range(at + 2)) for i in own
        ]
        (tmp_path / f"rows-{at}.svm").write_text("\n".join(lines) + "\n")
        sets = [f"{labels[i]},{9 - labels[i]} 1:{X[i][0]} {at + 2}:{X[i][1]}" for i in own]
        (tmp_path / f"sets-{at}.svm").write_text("\n".join(sets) + "\n")
    whole = tmp_path / "whole.svm"
    for name, estimator in [("rows", MulticlassSVM(lam=0.05)), ("sets", MultilabelSVM(lam=0.05))]:
        files = [(tmp_path / f"{name}-{at}.svm").read_text() for at in range(2)]
        whole.write_text("".join(files))
        given, found, names = read_rows(whole, "libsvm" if name == "rows" else "multilabel")
        tables = [
            dict(zip([names[j] for j in row.indices], row.data, strict=True)) for row in given
        ]
        truth = [own[0] for own in found] if name == "rows" else found
        estimator.set_params(backend=backend).fit(str(tmp_path / f"{name}-*.svm"), None)
        assert estimator.verify(tables, truth) == []
    graph = (
        '{"variables": [{"states": 2, "truth": %d}], "factors": [{"template": "t%d", '
        '"variables": [0], "attributes": {"x": %f}}]}\n'
    )
    for at in range(2):
        drawn = [graph % (i % 2, at, 2.0 * (i % 2) - 1.0) for i in range(4)]
        (tmp_path / f"graphs-{at}.jsonl").write_text("".join(drawn))
    files = sorted(tmp_path.glob("graphs-*"))
    model = FactorGraphSVM(lam=0.1, backend=backend).fit(files)
    assert model.verify([own for file in files for own in read_graphs(file)[0]]) == []
    for at in range(2):
        text = "".join(
            f"G cow{i} train 2 4 2 1\nN 4 {4 * (i % 2)} .{5 + i} 1\nN 4 1 .25 0\nE 0 1 2 .1\n"
            for i in range(3)
        )
        (tmp_path / f"cows-{at}.txt").write_text(text)
    files = sorted(tmp_path.glob("cows-*"))
    model = PottsSVM(lam=0.1, backend=backend).fit(str(tmp_path / "cows-*"), None)
    read = [read_superpixels(file) for file in files]
    cows, truth = ([own for one in read for own in one[at]] for at in (0, 1))
    assert model.verify(cows, truth) == []
    words_of, tags = words()
    parts_of(words_of, [["O" if t == "C" else f"B-{t}" for t in own] for own in tags], tmp_path, 2)
    segments = SegmentSVM(lam=0.1, backend=backend).fit(str(tmp_path / "part-*.txt"), None)
    assert segments.status_ == "converged" and list(segments.classes_) == ["A", "B", "O"]
    with pytest.raises(ValueError, match="files for MatchingSVM have no reader"):
        MatchingSVM(backend=backend).fit(str(tmp_path / "part-*.txt"), None)


def test_the_command_trains_models_of_all_formats(tmp_path, capsys):
    X, labels = rows()
    for at, own in enumerate([range(0, 20), range(20, 60)]):
        lines = [f"{labels[i]} 1:{X[i][0]} 2:{X[i][1]}" for i in own]
        (tmp_path / f"rows-{at}.svm").write_text("\n".join(lines) + "\n")
    given = ["train", str(tmp_path / "rows-*"), "--cluster", "serial", "-q", "--format", "libsvm"]
    assert main([*given, "-o", str(tmp_path / "m.safetensors")]) == 0
    assert capsys.readouterr().out.startswith("converged: primal ")
    assert type(load(tmp_path / "m.safetensors")) is MulticlassSVM
    assert main([*given, "--template", "words"]) == 1
    assert "columns of words" in capsys.readouterr().err


def test_averages_of_rounds_have_exact_certificates():
    rng = np.random.default_rng(0)
    tags = [rng.integers(0, 3, size=rng.integers(2, 6)) for _ in range(120)]
    X = [rng.normal(size=(len(own), 5)) + np.eye(5)[own] for own in tags]
    found = {}
    for average in ("none", "uniform", "weighted"):
        backend = SerialBackend(num_workers=12, local_passes=1, check_every=2)
        model = ChainSVM(lam=0.01, tol=1e-9, max_passes=16, options={"average": average})
        with pytest.warns(Warning, match="max-passes"):
            model.set_params(backend=backend).fit(X, tags)
        assert model.verify(X, tags) == []
        found[average] = model.certificate_
    # The rounds are the same; the average is taken where its objective is smaller.
    assert found["weighted"].dual == found["none"].dual
    assert found["weighted"].gap < found["none"].gap and found["uniform"].gap <= found["none"].gap


def test_what_needs_all_examples_is_refused():
    X, labels = rows()
    sets = [[int(own)] for own in labels]
    backend = SerialBackend(num_workers=2)
    for estimator, truth, text in [
        (MulticlassSVM(class_weight="balanced"), labels, "class_weight='balanced' needs all"),
        (MultilabelSVM(pairs="tree"), sets, "pairs='tree' needs all"),
    ]:
        with pytest.raises(ValueError, match=text):
            estimator.set_params(backend=backend).fit(loaders(X, truth, [20, 60]), None)
    functions = loaders(X, labels, [20, 60])
    with pytest.raises(ValueError, match="come with them"):
        MulticlassSVM(backend=backend).fit(functions, None, sample_weight=[1.0])
    with pytest.raises(ValueError, match="tuple of 4 items"):
        MulticlassSVM(backend=backend).fit([lambda: (1, 2, 3, 4)] * 2, None)


def test_weights_of_classes_are_those_of_all_shards():
    X, labels = rows()
    for estimator in (MulticlassSVM(class_weight="balanced"), BinarySVM(class_weight="balanced")):
        truth = labels if isinstance(estimator, MulticlassSVM) else labels == 7
        estimator.set_params(lam=0.05, tol=1e-3, standardise=False)
        alone = type(estimator)(**estimator.get_params()).fit(X, truth)
        model = estimator.set_params(backend=SerialBackend(num_workers=3)).fit(X, truth)
        assert abs(model.certificate_.dual - alone.certificate_.dual) <= 2e-3
        assert model.verify(X, truth) == []
