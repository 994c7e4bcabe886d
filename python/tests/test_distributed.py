"""Training in shards that take turns: the loop, losses of workers, checkpoints. Engines are tested by
``python/test-cluster``."""

import gzip
import itertools
import pickle

import numpy as np
import pytest

from maxmargin import (
    BinarySVM,
    ChainSVM,
    FactorGraphSVM,
    GraphSVM,
    GridSVM,
    MulticlassSVM,
    MultilabelSVM,
    SegmentSVM,
    StructuredSVM,
    load,
)
from maxmargin import _maxmargin as native
from maxmargin.__main__ import main
from maxmargin.distributed import ClusterError, SerialBackend, WorkerLost, write_rounds
from maxmargin.distributed._digests import merge_names
from maxmargin.distributed._fit import dealt, gathered_dual
from maxmargin.io import SequenceFile


def words(count=40, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        length = int(rng.integers(2, 6))
        tags = rng.integers(0, 3, size=length)
        noise = rng.integers(0, 4, size=length)
        X.append([{f"w={t}{n}": 1.0, "bias": 0.5} for t, n in zip(tags, noise, strict=True)])
        y.append(["ABC"[t] for t in tags])
    return X, y


class Ranks:
    """Which of a few rows is the best."""

    def decode(self, x, y, w, loss_augmented):
        score = x @ w
        if loss_augmented:
            score = score + (np.arange(len(x)) != y)
        return int(np.argmax(score))

    def features(self, x, y):
        return x[y]

    def loss(self, y, y_hat):
        return float(y != y_hat)


def rows(count=30, seed=1):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(4, 3)) for _ in range(count)]
    return X, [int(np.argmax(x @ [1.0, -1.0, 0.5])) for x in X]


class Losing(SerialBackend):
    """Loses a worker at a call that a plan names: method, how often it was called, shard."""

    def __init__(self, plan, after=False, **given):
        super().__init__(**given)
        self.plan, self.after, self.counts, self.lost = dict(plan), after, {}, 0

    def answer(self, ticket):
        shard, method, _ = ticket
        key = (method, shard)
        self.counts[key] = self.counts.get(key, 0) + 1
        dies = self.plan.pop((method, self.counts[key], shard), False)
        if dies and not self.after:
            self.lose(shard)
        found = super().answer(ticket)
        if dies:
            self.lost += 1
            self.lose(shard)
            raise WorkerLost("killed after the call")
        return found

    def lose(self, shard):
        self.lost += not self.after
        super().lose(shard)


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_shards_have_the_optimum_of_one_machine(workers, tmp_path):
    X, y = words()
    alone = ChainSVM(lam=0.05, tol=1e-3).fit(X, y)
    model = ChainSVM(lam=0.05, tol=1e-3, backend=SerialBackend(num_workers=workers)).fit(X, y)
    assert model.status_ == "converged" and model.certificate_.gap <= 1e-3
    assert abs(model.certificate_.dual - alone.certificate_.dual) <= 2e-3
    assert model.attribute_names_ == alone.attribute_names_
    assert model.verify(X, y) == []
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.verify(X, y) == []
    assert [list(a) for a in again.predict(X)] == [list(a) for a in model.predict(X)]
    duals = [about["dual"] for about in model.rounds_]
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(duals))
    assert len(model.history_) == len(model.rounds_)
    write_rounds(model, tmp_path / "rounds.html")
    assert "<svg" in (tmp_path / "rounds.html").read_text()


def test_one_worker_has_the_bits_of_one_machine():
    X, y = words()
    alone = ChainSVM(tol=1e-3, solver="bcfw").fit(X, y)
    model = ChainSVM(tol=1e-3, solver="bcfw", backend=SerialBackend(num_workers=1)).fit(X, y)
    assert (model.coef_ == alone.coef_).all()
    assert model.certificate_ == alone.certificate_
    X, y = rows()
    alone = StructuredSVM(Ranks(), lam=0.1).fit(X, y)
    model = StructuredSVM(Ranks(), lam=0.1, backend=SerialBackend(num_workers=1)).fit(X, y)
    assert (model.coef_ == alone.coef_).all()


def test_the_same_seed_gives_the_same_bits():
    X, y = words()
    first, again = (
        ChainSVM(lam=0.05, backend=SerialBackend(num_workers=3)).fit(X, y) for _ in range(2)
    )
    assert (first.coef_ == again.coef_).all()


def test_lambda_fits_the_scale_of_all_shards():
    X, y = words()
    alone = ChainSVM(tol=0.1).fit(X, y)
    model = ChainSVM(tol=0.1, backend=SerialBackend(num_workers=3)).fit(X, y)
    assert model.certificate_.lam == pytest.approx(alone.certificate_.lam, rel=0.1)
    model = ChainSVM(lam="1/n", tol=0.1, backend=SerialBackend(num_workers=3)).fit(X, y)
    assert model.certificate_.lam == 1 / len(X)
    model = ChainSVM(C=0.5, tol=0.1, backend=SerialBackend(num_workers=3)).fit(X, y)
    assert model.certificate_.lam == 2 / len(X)


def test_example_weights_count_as_on_one_machine():
    X, y = words()
    weights = np.linspace(0.5, 2.0, len(X))
    alone = ChainSVM(lam=0.05, tol=1e-4).fit(X, y, sample_weight=weights)
    backend = SerialBackend(num_workers=3)
    model = ChainSVM(lam=0.05, tol=1e-4, backend=backend).fit(X, y, sample_weight=weights)
    assert abs(model.certificate_.dual - alone.certificate_.dual) <= 2e-4
    assert model.verify(X, y, sample_weight=weights) == []


def test_other_kinds_train_in_shards():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    labels = np.argmax(X @ rng.normal(size=(4, 3)), axis=1)
    sets = [[t for t in range(3) if row[t] > 0] for row in X]
    for estimator, truth in [
        (MulticlassSVM(lam=0.05), labels),
        (BinarySVM(lam=0.05), labels > 0),
        (MultilabelSVM(lam=0.05), sets),
    ]:
        alone = type(estimator)(lam=0.05, tol=1e-3).fit(X, truth)
        estimator.set_params(tol=1e-3, backend=SerialBackend(num_workers=3)).fit(X, truth)
        found = estimator.certificate_
        assert found.gap <= 1e-3
        assert abs(found.dual - alone.certificate_.dual) <= 2e-3
        assert estimator.verify(X, truth) == []
        assert estimator.score(X, truth) > 0.5


def factor_graph(rng, at):
    """A pair of variables, whose templates occur in an order of their own."""
    values = rng.normal(size=2)
    factors = [
        {
            "template": "colour",
            "variables": [v],
            "attributes": {f"x{at % 3}": values[v], "one": 1.0},
        }
        for v in range(2)
    ]
    if at % 4 == 1:
        factors.append({"template": "pair", "variables": [0, 1], "attributes": {"bias": 1.0}})
    return {"variables": [{"states": 2}] * 2, "factors": factors}, [int(v > 0) for v in values]


def test_graphs_of_all_kinds_train_in_shards(tmp_path):
    rng = np.random.default_rng(5)
    line = np.array([[0, 1], [1, 2], [2, 3]])
    nodes = [rng.normal(size=(4, 2)) for _ in range(12)]
    # Edges of type 1 are in a few graphs only.
    typed = [np.column_stack([line, np.full(3, at % 5 == 4)]) for at in range(12)]
    graphs = list(zip(nodes, typed, strict=True))
    labels = [["ab"[int(row.sum() > 0)] for row in own] for own in nodes]
    images = [rng.normal(size=(3, 3, 1)) for _ in range(8)]
    pixels = [(image[:, :, 0] > 0).astype(int) for image in images]
    tokens = [rng.normal(size=(5, 2)) for _ in range(9)]
    cuts = [[(0, 2, "x"), (2, 5, "y")] if t[0, 0] > 0 else [(0, 5, "z")] for t in tokens]
    pairs = [factor_graph(rng, at) for at in range(10)]
    drawn, states = [list(own) for own in zip(*pairs, strict=True)]
    for estimator, X, y in [
        (GraphSVM(lam=0.1), graphs, labels),
        (GridSVM(lam=0.1, pairwise="potts"), images, pixels),
        (SegmentSVM(lam=0.1), tokens, cuts),
        (FactorGraphSVM(lam=0.1), drawn, states),
        (GraphSVM(lam=0.1, class_weight="balanced"), graphs, labels),
        (SegmentSVM(lam=0.1, class_weight="balanced"), tokens, cuts),
        (FactorGraphSVM(lam=0.1, class_weight={0: 1.0, 1: 3.0}), drawn, states),
        (FactorGraphSVM(lam=0.1, class_weight="balanced"), drawn, states),
    ]:
        alone = type(estimator)(**estimator.get_params()).set_params(tol=1e-3).fit(X, y)
        estimator.set_params(tol=1e-3, backend=SerialBackend(num_workers=3)).fit(X, y)
        found = estimator.certificate_
        assert found.gap <= 1e-3
        assert abs(found.dual - alone.certificate_.dual) <= 2e-3
        assert estimator.verify(X, y) == []
        assert len(estimator.coef_) == len(alone.coef_)
        estimator.save(tmp_path / "model.safetensors")
        # What labels count is no part of a file.
        if not isinstance(estimator, GridSVM) and estimator.class_weight is None:
            assert load(tmp_path / "model.safetensors").verify(X, y) == []


def test_passes_of_a_round_are_chosen_or_fixed():
    X, y = words()
    given = {"lam": 0.01, "tol": 1e-4}
    chosen, again = (
        ChainSVM(**given, backend=SerialBackend(num_workers=3)).fit(X, y) for _ in range(2)
    )
    passes = [about["passes"] for about in chosen.rounds_]
    assert len(set(passes)) > 1 and chosen.n_iter_ == sum(passes)
    assert passes == [about["passes"] for about in again.rounds_]
    fixed = ChainSVM(**given, backend=SerialBackend(num_workers=3, local_passes=2)).fit(X, y)
    assert {about["passes"] for about in fixed.rounds_} == {2}


def test_gaps_before_rounds_are_those_of_checks():
    X, y = words()
    backend = SerialBackend(num_workers=4, check_every=1)
    model = ChainSVM(lam=0.02, tol=1e-3, backend=backend).fit(X, y)
    assert len(model.rounds_) > 1
    for before, after in itertools.pairwise(model.rounds_):
        assert after["gap_before"] == pytest.approx(before["gap"], abs=1e-9)


def test_bounds_hold_in_shards():
    X, y = words()
    given = {"lam": 0.05, "tol": 0.01, "bounds": (-0.1, 0.2)}
    alone = ChainSVM(**given).fit(X, y)
    model = ChainSVM(**given, backend=SerialBackend(num_workers=3)).fit(X, y)
    assert model.coef_.min() >= -0.1 and model.coef_.max() <= 0.2
    assert abs(model.certificate_.dual - alone.certificate_.dual) <= 0.02
    assert model.verify(X, y) == []


def test_shards_tell_what_searches_may_have_missed():
    X, y = words()
    cuts = [[(0, 1, own[0]), (1, len(own), own[1])] for own in y]
    for estimator, truth in [
        (ChainSVM(lam=0.05, rescaling="slack"), y),
        (SegmentSVM(lam=0.05, rescaling="slack"), cuts),
    ]:
        alone = type(estimator)(**estimator.get_params()).fit(X, truth).certificate_
        model = estimator.set_params(backend=SerialBackend(num_workers=3)).fit(X, truth)
        c = model.certificate_
        assert c.quality == "heuristic" and c.missed is not None
        assert c.proven_gap == c.gap + c.missed
        # No objective of the one is below a bound of the other, and verify computes the same again.
        assert c.dual <= alone.primal + alone.missed and alone.dual <= c.primal + c.missed
        assert model.verify(X, truth) == []


def test_structures_train_in_shards_from_examples_and_from_loaders():
    X, y = rows()
    alone = StructuredSVM(Ranks(), lam=0.1, tol=1e-3).fit(X, y)
    backend = SerialBackend(num_workers=3)
    model = StructuredSVM(Ranks(), lam=0.1, tol=1e-3, backend=backend).fit(X, y)
    assert abs(model.certificate_.dual - alone.certificate_.dual) <= 2e-3
    assert model.verify(X, y) == []
    assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)
    parts = [lambda at=at: (X[at : at + 6], y[at : at + 6]) for at in range(0, 30, 6)]
    loaded = StructuredSVM(Ranks(), lam=0.1, tol=1e-3, backend=backend).fit(parts)
    assert abs(loaded.certificate_.dual - alone.certificate_.dual) <= 2e-3
    assert loaded.verify(X, y) == []


def parts_of(X, y, folder, count):
    files = []
    for part in range(count):
        own = range(part * len(X) // count, (part + 1) * len(X) // count)
        lines = []
        for i in own:
            for token, label in zip(X[i], y[i], strict=True):
                fields = [f"{name}:{value}" for name, value in token.items()]
                lines.append("\t".join([label, *fields]))
            lines.append("")
        file = folder / f"part-{part}.txt"
        file.write_text("\n".join(lines) + "\n")
        files.append(file)
    return files


def test_workers_read_files_and_the_layout_does_not_depend_on_them(tmp_path):
    X, y = words()
    files = parts_of(X, y, tmp_path, 4)
    whole = tmp_path / "whole.txt"
    whole.write_text("".join(file.read_text() for file in files))
    alone = ChainSVM(lam=0.05, tol=1e-3).fit(SequenceFile(whole))
    for workers in (1, 2, 3, 4):
        model = ChainSVM(lam=0.05, tol=1e-3, backend=SerialBackend(num_workers=workers))
        model.fit(str(tmp_path / "part-*.txt"))
        assert model.attribute_names_ == alone.attribute_names_
        assert list(model.classes_) == list(alone.classes_)
        assert model.verify(SequenceFile(whole)) == []
        if workers == 1:
            assert (model.coef_ == alone.coef_).all()
    with pytest.raises(FileNotFoundError, match="there are no files"):
        model.fit(str(tmp_path / "nothing-*"))


def test_files_may_be_gzipped_under_any_name_and_have_a_named_format(tmp_path):
    X, y = words()
    files = parts_of(X, y, tmp_path, 3)
    plain = ChainSVM(lam=0.05, backend=SerialBackend(num_workers=2)).fit(files)
    packed = [file.rename(file.with_suffix(".old")) for file in files]
    for file in packed[1:]:
        file.write_bytes(gzip.compress(file.read_bytes()))
    named = [SequenceFile(file, "crfsuite") for file in packed]
    model = ChainSVM(lam=0.05, backend=SerialBackend(num_workers=2)).fit(named)
    assert (model.coef_ == plain.coef_).all()
    named[0] = SequenceFile(packed[0], "svm-hmm")
    with pytest.raises(ValueError, match="different formats"):
        model.fit(named)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    "method", ["about", "start", "propose", "commit", "check", "state", "dual"]
)
@pytest.mark.parametrize("keeps", [False, True])
def test_a_worker_that_is_lost_in_any_phase_leaves_no_trace(method, after, keeps, tmp_path):
    X, y = words()
    alone = ChainSVM(lam=0.05, tol=1e-3).fit(X, y)
    at = 2 if method in ("propose", "commit", "state") else 1
    folder = str(tmp_path / "shards") if keeps else None
    backend = Losing({(method, at, 1): True}, after, num_workers=3, checkpoint=folder)
    model = ChainSVM(lam=0.05, tol=1e-3, backend=backend).fit(X, y)
    assert backend.lost == 1
    assert model.status_ == "converged" and model.certificate_.gap <= 1e-3
    assert abs(model.certificate_.dual - alone.certificate_.dual) <= 2e-3
    assert model.verify(X, y) == []


def test_all_workers_may_be_lost_at_once():
    X, y = words()
    plan = {("commit", 2, shard): True for shard in range(3)}
    backend = Losing(plan, num_workers=3)
    model = ChainSVM(lam=0.05, tol=1e-3, backend=backend).fit(X, y)
    assert backend.lost == 3 and model.verify(X, y) == []
    assert any(about["lost"] == [0, 1, 2] for about in model.rounds_)


def test_workers_that_are_lost_again_and_again_end_the_training():
    X, y = words()
    plan = {("propose", at, 0): True for at in range(1, 20)}
    backend = Losing(plan, num_workers=2, max_losses=3)
    with pytest.raises(ClusterError, match="more than max_losses=3"):
        ChainSVM(lam=0.05, backend=backend).fit(X, y)


def test_a_training_goes_on_from_the_checkpoints_of_its_shards(tmp_path):
    X, y = words()
    backend = SerialBackend(num_workers=3, checkpoint=str(tmp_path), local_passes=1)
    with pytest.warns(Warning, match="max-passes"):
        first = ChainSVM(lam=0.05, tol=1e-12, max_passes=4, backend=backend).fit(X, y)
    assert len(list(tmp_path.glob("*.mmshard"))) == 3 and not list(tmp_path.glob("*.new"))
    again = ChainSVM(lam=0.05, tol=1e-3, backend=backend).fit(X, y)
    assert again.rounds_[0]["round"] == 5
    assert again.rounds_[0]["dual"] >= first.certificate_.dual - 1e-12
    # Damaged ones, and those of other examples, are not used.
    for file, content in zip(sorted(tmp_path.iterdir()), [b"", b"mmshrd", None], strict=True):
        file.write_bytes(file.read_bytes()[:-7] if content is None else content)
    model = ChainSVM(lam=0.05, tol=1e-3, backend=backend).fit(X, y)
    assert model.rounds_[0]["round"] == 1 and model.verify(X, y) == []
    others, truth = words(seed=9)
    other = ChainSVM(lam=0.05, tol=1e-3, backend=backend).fit(others, truth)
    assert other.rounds_[0]["round"] == 1 and other.verify(others, truth) == []


def test_exceptions_of_a_structure_come_back():
    class Broken(Ranks):
        def decode(self, x, y, w, loss_augmented):
            raise RuntimeError("no")

    X, y = rows()
    backend = SerialBackend(num_workers=2)
    with pytest.raises(RuntimeError, match="decode failed"):
        StructuredSVM(Broken(), lam=0.1, backend=backend).fit(X, y)


def test_what_makes_no_sense_is_refused():
    X, y = words()
    for given in [{"num_workers": 0}, {"local_passes": 1.5}, {"check_every": -1}]:
        with pytest.raises(ValueError, match="whole number"):
            SerialBackend(**given)
    backend = SerialBackend(num_workers=2)
    for given in [{"lam": "auto"}, {"patience": 3}, {"kernel": "rbf"}, {"warm_start": True}]:
        with pytest.raises(ValueError, match="does not go with a backend"):
            ChainSVM(backend=backend, **given).fit(X, y)
    with pytest.raises(ValueError, match="give a RayBackend"):
        ChainSVM(backend="ray").fit(X, y)
    with pytest.raises(ValueError, match="shards"):
        ChainSVM(lam=0.1, solver="fw", backend=backend).fit(X, y)
    with pytest.raises(ValueError, match=r"test_distributed\.py"):
        MulticlassSVM(backend=backend).fit([__file__])
    with pytest.raises(ValueError, match="different formats"):
        merge_names([(["a"], [], "crfsuite", None), (["a"], [], "svm-hmm", None)])


def test_a_callback_ends_the_training():
    X, y = words()
    backend = SerialBackend(num_workers=2, local_passes=5)
    model = ChainSVM(lam=1e-4, tol=1e-9, backend=backend)
    model.callback = lambda row: row["passes"] < 15
    model.fit(X, y)
    assert model.status_ == "stopped" and len(model.rounds_) == 3
    assert model.verify(X, y) == []


def test_the_command_trains_on_files(tmp_path, capsys):
    X, y = words()
    parts_of(X, y, tmp_path, 3)
    given = ["train", str(tmp_path / "part-*"), "--cluster", "serial", "--workers", "3", "-q"]
    files = ["-o", str(tmp_path / "m.safetensors"), "--report", str(tmp_path / "rounds.html")]
    assert main([*given, *files, "--lambda", "0.05"]) == 0
    assert capsys.readouterr().out.startswith("converged: primal ")
    assert load(tmp_path / "m.safetensors").certificate_.lam == 0.05
    assert (tmp_path / "rounds.html").exists()
    assert main([*given, "--lambda", "0.05", "--format", "crfsuite"]) == 0
    capsys.readouterr()
    for wrong in (["--cluster", "spark"], ["--workers", "0"], ["--tolerance", "x"]):
        assert main([*given, *wrong]) == 1
        assert capsys.readouterr().err.startswith("error: ")
    with pytest.raises(SystemExit):
        main([*given, "--unknown"])


@pytest.mark.parametrize(("n", "shards"), [(1, 1), (7, 3), (10, 4), (16, 16)])
def test_a_dual_point_that_was_dealt_out_comes_back_in_the_order_of_the_examples(rng, n, shards):
    lengths, losses = rng.integers(0, 5, n), rng.random(n)
    parts = [
        np.arange(length, dtype=np.uint64) + np.uint64(10 * i) for i, length in enumerate(lengths)
    ]
    masses = [rng.random(length) for length in lengths]

    def dual(own):
        own = list(own)
        ends = np.cumsum(lengths[own]).astype(np.uint64)
        own_parts, own_masses = (np.concatenate([of[i] for i in own]) for of in (parts, masses))
        return native.Dual(0.5, ends, own_parts, own_masses, losses[own])

    found = gathered_dual([dual(own) for own in dealt(n, shards)])
    assert found.lambda_ == 0.5
    for got, expected in zip(found.arrays(), dual(range(n)).arrays(), strict=True):
        np.testing.assert_array_equal(got, expected)
