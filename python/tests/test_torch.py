"""Losses and top layers for PyTorch. They run from python/test-torch, and are skipped where PyTorch is missing."""

import itertools
import pathlib
import runpy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: see python/test-torch")

from maxmargin.torch import (  # noqa: E402
    Assignment,
    Chain,
    Potts,
    StructuredHingeLoss,
    Tree,
    features_of,
    fit_top_layer,
)

LOSSES = ["hamming", "normalised", 2.5]


def random(*shape, grad=True, seed=0):
    generator = torch.Generator().manual_seed(sum(shape) + seed)
    numbers = torch.randn(*shape, generator=generator, dtype=torch.float64)
    return numbers.requires_grad_(grad)


def highest(structure, scores, truth, outputs, parts):
    """The hinge loss of one item, by trying all outputs."""
    values = []
    for output in outputs:
        output = torch.tensor(output)
        value = structure.score(scores, output, **parts) + structure.loss(truth, output, **parts)
        values.append(value)
    return torch.stack(values).max() - structure.score(scores, truth, **parts)


def agree(structure, scores, truth, outputs, parts, tensors):
    """Whether loss and gradients are those of the best of all outputs, and those of differences."""
    hinge = StructuredHingeLoss(structure, reduction="sum")
    found = hinge(scores, truth, **parts)
    expected = highest(structure, scores, truth, outputs, parts)
    assert found.item() == pytest.approx(expected.item(), abs=1e-12)
    mine = torch.autograd.grad(found, tensors, allow_unused=True)
    theirs = torch.autograd.grad(expected, tensors, allow_unused=True)
    for a, b in zip(mine, theirs, strict=True):
        assert (a is None and b is None) or torch.equal(a, b)


@pytest.mark.parametrize("loss", [*LOSSES, [[0, 1, 3], [2, 0, 1], [0.5, 0.25, 0]]], ids=str)
def test_torch_chains(loss):
    structure = Chain(loss=loss)
    scores, truth = random(4, 3), torch.tensor([0, 2, 1, 1])
    for shape in ((3, 3), (3, 3, 3)):
        transitions, start, end = random(*shape), random(3), random(3, seed=1)
        parts = {"transitions": transitions, "start": start, "end": end}
        outputs = list(itertools.product(range(3), repeat=4))
        agree(structure, scores, truth, outputs, parts, [scores, *parts.values()])
    agree(structure, scores, truth, outputs, {}, [scores])


def test_torch_chains_in_batches_are_their_items():
    scores, truth = (
        random(5, 6, 4),
        torch.randint(4, (5, 6), generator=torch.Generator().manual_seed(3)),
    )
    lengths = torch.tensor([6, 0, 3, 1, 5])
    start, end = random(5, 4), random(4)
    truth[torch.arange(6) >= lengths[:, None]] = -100
    hinge = StructuredHingeLoss(Chain(loss="normalised"), reduction="none")
    for transitions in (random(4, 4), random(5, 4, 4), random(5, 5, 4, 4)):
        parts = {"transitions": transitions, "start": start, "end": end}
        found = hinge(scores, truth, lengths=lengths, **parts)
        mask = torch.arange(6) < lengths[:, None]
        assert torch.equal(found, hinge(scores, truth, mask=mask, **parts))
        for i, n in enumerate(lengths.tolist()):
            own = transitions if transitions.dim() == 2 else transitions[i]
            own = own[: max(n - 1, 0)] if own.dim() == 3 else own
            parts = {"transitions": own, "start": start[i], "end": end}
            single = hinge(scores[i, :n], truth[i, :n], **parts)
            assert found[i].item() == pytest.approx(single.item(), abs=1e-12)
        (grad,) = torch.autograd.grad(found.sum(), scores)
        assert not grad[~mask].any() and grad[mask].any()
    assert torch.equal(
        StructuredHingeLoss(Chain(loss="normalised"))(scores, truth, lengths=lengths),
        hinge(scores, truth, lengths=lengths).mean(),
    )
    labels = hinge.decode(scores, lengths=lengths)
    assert torch.equal(labels[0], scores[0].argmax(-1)) and (labels[1] == -1).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("nulls", [None, "free", "scored"])
def test_torch_assignments(loss, nulls):
    for rows, columns in ((3, 3), (2, 3), (3, 2)):
        scores = random(rows, columns)
        parts = {"nulls": nulls}
        tensors = [scores]
        if nulls == "scored":
            parts["nulls"] = random(rows), random(columns, seed=5)
            tensors += parts["nulls"]
        outputs = []
        for y in itertools.product(range(-1, columns), repeat=rows):
            used = [c for c in y if c >= 0]
            if len(set(used)) == len(used) and (nulls or len(used) == min(rows, columns)):
                outputs.append(y)
        for truth in outputs[:: max(1, len(outputs) // 4)]:
            agree(Assignment(loss=loss), scores, torch.tensor(truth), outputs, parts, tensors)


def test_torch_assignments_in_batches_are_their_items():
    scores = random(3, 4, 5)
    lengths = torch.tensor([[4, 5], [2, 3], [3, 2]])
    truth = torch.tensor([[1, 0, 2, 4], [2, 0, -1, -1], [1, -1, 0, -1]])
    mask = torch.ones(3, 4, 5, dtype=torch.bool)
    mask[0, 0, 0] = mask[1, 0, 1] = False
    hinge = StructuredHingeLoss(Assignment(), reduction="none")
    for nulls in (None, "free", (random(3, 4), random(5))):
        found = hinge(scores, truth, lengths=lengths, mask=mask, nulls=nulls)
        for i, (rows, columns) in enumerate(lengths.tolist()):
            own = nulls
            if isinstance(nulls, tuple):
                own = nulls[0][i, :rows], nulls[1][:columns]
            single = hinge(
                scores[i, :rows, :columns],
                truth[i, :rows],
                mask=mask[i, :rows, :columns],
                nulls=own,
            )
            assert found[i].item() == pytest.approx(single.item(), abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_torch_trees(loss):
    parents, scores = torch.tensor([2, 0, -1, 2, -1]), random(5, 2)
    truth = torch.tensor([0, 1, 1, 0, 1])
    for transitions in (random(2, 2), random(5, 2, 2)):
        parts = {"parents": parents, "transitions": transitions}
        outputs = list(itertools.product(range(2), repeat=5))
        agree(Tree(loss=loss), scores, truth, outputs, parts, [scores, transitions])


def test_torch_trees_in_batches_are_their_items():
    scores, truth = random(3, 4, 2), torch.tensor([[0, 1, 1, 0], [1, 1, -1, -1], [0, 0, 1, -1]])
    parents = torch.tensor([[-1, 0, 0, 1], [1, -1, -1, -1], [2, 0, -1, -1]])
    lengths = torch.tensor([4, 2, 3])
    hinge = StructuredHingeLoss(Tree(), reduction="none")
    for transitions in (random(2, 2), random(4, 2, 2), random(3, 4, 2, 2)):
        found = hinge(scores, truth, parents=parents, transitions=transitions, lengths=lengths)
        for i, n in enumerate(lengths.tolist()):
            own = transitions[i] if transitions.dim() == 4 else transitions
            own = own[:n] if own.dim() == 3 else own
            parts = {"parents": parents[i, :n], "transitions": own}
            single = hinge(scores[i, :n], truth[i, :n], **parts)
            assert found[i].item() == pytest.approx(single.item(), abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_torch_graphs(loss):
    edges = torch.tensor([[0, 1], [1, 2], [2, 0], [-1, -1], [2, 3]])
    scores, truth = random(4, 2), torch.tensor([0, 1, 1, 0])
    costs = random(5, grad=False).abs().requires_grad_()
    parts = {"edges": edges, "costs": costs}
    outputs = list(itertools.product(range(2), repeat=4))
    agree(Potts(loss=loss), scores, truth, outputs, parts, [scores, costs])


def test_torch_graphs_in_batches_are_their_items():
    scores, truth = random(2, 4, 2), torch.tensor([[0, 1, 1, 0], [1, 0, 1, -1]])
    edges = torch.tensor([[0, 1], [1, 2], [2, 3]])
    costs = random(2, 3, grad=False).abs().requires_grad_()
    lengths = torch.tensor([4, 3])
    hinge = StructuredHingeLoss(Potts(), reduction="none")
    found = hinge(scores, truth, edges=edges, costs=costs, lengths=lengths)
    for i, n in enumerate(lengths.tolist()):
        parts = {"edges": edges[: n - 1], "costs": costs[i, : n - 1]}
        single = hinge(scores[i, :n], truth[i, :n], **parts)
        assert found[i].item() == pytest.approx(single.item(), abs=1e-12)
    found.sum().backward()
    assert costs.grad[1, 2] == 0


def test_torch_a_heuristic_never_makes_the_loss_negative():
    edges = torch.tensor(list(itertools.combinations(range(6), 2)))
    hinge = StructuredHingeLoss(Potts(loss=0.0, inference="icm"))
    for seed in range(20):
        scores = random(6, 3, seed=seed)
        parts = {"edges": edges, "costs": random(15, seed=seed, grad=False)}
        outputs = list(itertools.product(range(3), repeat=6))
        values = [hinge.structure.score(scores, torch.tensor(y), **parts).item() for y in outputs]
        best = torch.tensor(outputs[int(np.argmax(values))])
        loss = hinge(scores, best, **parts)
        assert loss.item() >= 0


class Subset:
    """Any set of items; the loss is the number of wrong ones. A decoder of a user's own."""

    def decode(self, scores, truth):
        bonus = 0.0 if truth is None else np.where(truth, -1.0, 1.0)
        return scores + bonus > 0

    def score(self, scores, output):
        return (scores * output.to(scores.dtype)).sum(-1)

    def loss(self, truth, output):
        return (truth != output).sum(-1)


def test_torch_own_decoders():
    scores, truth = random(2, 5), torch.tensor([[True, False, True, False, False]] * 2)
    found = StructuredHingeLoss(Subset(), reduction="sum")(scores, truth)
    signs = torch.where(truth, -1.0, 1.0)
    expected = (1 + signs * scores).clamp(min=0).sum()
    assert found.item() == pytest.approx(expected.item())
    (mine,) = torch.autograd.grad(found, scores)
    (theirs,) = torch.autograd.grad(expected, scores)
    assert torch.equal(mine, theirs)


def test_torch_gradcheck():
    """At random scores the loss is differentiable, and gradients are those of differences."""
    lengths = torch.tensor([4, 2, 3])
    scores, truth = random(3, 4, 3), torch.tensor([[0, 1, 2, 0], [1, 1, 0, 0], [2, 0, 1, 0]])
    check = torch.autograd.gradcheck
    chain = StructuredHingeLoss(Chain())
    tensors = (scores, random(3, 3), random(3), random(3, seed=2))
    assert check(
        lambda s, t, a, b: chain(s, truth, transitions=t, start=a, end=b, lengths=lengths), tensors
    )
    tree = StructuredHingeLoss(Tree(), reduction="none")
    parents = torch.tensor([-1, 0, 0, 1])
    assert check(
        lambda s, t: tree(s, truth, parents=parents, transitions=t, lengths=lengths),
        (scores, random(3, 3)),
    )
    graph = StructuredHingeLoss(Potts(), reduction="sum")
    edges = torch.tensor([[0, 1], [1, 2], [2, 3]])
    labels = truth.clamp(max=1)
    costs = random(3, grad=False).abs().requires_grad_()
    assert check(
        lambda s, c: graph(s, labels, edges=edges, costs=c, lengths=lengths),
        (random(3, 4, 2), costs),
    )
    match = StructuredHingeLoss(Assignment())
    columns = torch.tensor([[0, 1, 2, -1]] * 3)
    assert check(
        lambda s, r, c: match(s, columns, nulls=(r, c)), (scores, random(4), random(3, seed=4))
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_torch_other_precisions(dtype):
    scores = random(2, 4, 3, grad=False).to(dtype).requires_grad_()
    truth = torch.tensor([[0, 1, 2, 0], [1, 1, 0, 2]])
    hinge = StructuredHingeLoss(Chain())
    found = hinge(scores, truth)
    exact = hinge(scores.double(), truth)
    assert found.dtype == torch.float32
    assert found.item() == pytest.approx(exact.item(), rel=1e-6)
    found.backward()
    assert scores.grad.dtype == dtype


def test_torch_results_are_on_the_device_of_the_scores():
    """The only other device that needs no hardware has no values; so labels go where scores are."""
    devices = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
    for device in devices:
        scores = random(2, 4, 3, grad=False).to(device).requires_grad_()
        hinge = StructuredHingeLoss(Chain())
        found = hinge(scores, torch.zeros(2, 4, dtype=torch.int64))
        found.backward()
        assert found.device == scores.device == hinge.decode(scores).device


def test_torch_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="reduction is 'max'"):
        StructuredHingeLoss(Chain(), reduction="max")
    with pytest.raises(TypeError, match="no method decode; give Chain"):
        StructuredHingeLoss(Chain)
    with pytest.raises(ValueError, match="known are 'hamming'"):
        Chain(loss="f1")
    hinge = StructuredHingeLoss(Chain())
    scores = random(1, 2, 2)
    with pytest.raises(ValueError, match="true label at 1 is 2"):
        hinge(scores, torch.tensor([[0, 2]]))
    with pytest.raises(ValueError, match="truth of item 0 is not finite"):
        never = torch.tensor([[0.0, -torch.inf], [0.0, 0.0]], dtype=torch.float64)
        hinge(scores, torch.tensor([[0, 1]]), transitions=never)
    with pytest.raises(ValueError, match="is NaN"):
        hinge(scores * torch.nan, torch.tensor([[0, 1]]))


def test_torch_forbidden_transitions_get_finite_gradients():
    never = torch.tensor([[0.0, -torch.inf], [0.0, 0.0]], dtype=torch.float64).requires_grad_()
    scores = random(1, 3, 2)
    StructuredHingeLoss(Chain())(scores, torch.tensor([[1, 1, 0]]), transitions=never).backward()
    assert torch.isfinite(scores.grad).all() and torch.isfinite(never.grad).all()


def words(seed=0, count=40):
    """Sequences whose labels follow each other, and inputs that tell them from a distance."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        labels = [int(rng.integers(3))]
        for _ in range(int(rng.integers(2, 6))):
            labels.append((labels[-1] + int(rng.integers(1, 3))) % 3)
        X.append(torch.tensor(rng.normal(size=(len(labels), 4)) + np.eye(3, 4)[labels]).float())
        y.append(torch.tensor(labels))
    return X, y


def test_torch_top_layers_have_a_proof():
    torch.manual_seed(0)
    X, y = words()
    body = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Dropout(0.5))
    head = torch.nn.Linear(8, 3).double()
    transitions = torch.nn.Parameter(torch.zeros(3, 3, dtype=torch.float64))
    model = fit_top_layer(body, head, X, y, transitions=transitions, lam=0.01, tol=1e-3)
    assert body.training, "the network is as it was"
    assert model.status_ == "converged" and model.certificate_.quality == "exact"
    features = features_of(body, X)
    assert model.verify(features, [labels.tolist() for labels in y]) == []
    # The loss of the layer is that of the certificate.
    hinge = StructuredHingeLoss(Chain(), reduction="none")
    inputs = [torch.as_tensor(rows) for rows in features]
    losses = [
        hinge(head(x), labels, transitions=transitions) for x, labels in zip(inputs, y, strict=True)
    ]
    size = sum((t**2).sum() for t in (head.weight, head.bias, transitions))
    objective = 0.005 * size + torch.stack(losses).mean()
    assert objective.item() == pytest.approx(model.certificate_.primal, rel=1e-9)
    found = [hinge.decode(head(x), transitions=transitions).tolist() for x in inputs]
    assert found == [labels.tolist() for labels in model.predict(features)]


def test_torch_top_layers_refuse_what_does_not_fit():
    X, y = words(count=5)
    body, head = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)
    with pytest.raises(ValueError, match="X has 5 inputs and y has 4"):
        fit_top_layer(body, head, X, y[:4])
    with pytest.raises(ValueError, match="input 0 has 4 features; the layer takes 8"):
        fit_top_layer(torch.nn.Identity(), head, X, y)
    with pytest.raises(ValueError, match="the label 3 does not occur"):
        fit_top_layer(body, torch.nn.Linear(8, 4), X, y)
    with pytest.raises(ValueError, match="labels go from 0 to 1"):
        fit_top_layer(body, torch.nn.Linear(8, 2), X, y)
    with pytest.raises(ValueError, match=r"scores transition have the shape \(2, 2\)"):
        fit_top_layer(body, head, X, y, transitions=torch.zeros(2, 2))


def test_torch_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = pathlib.Path(__file__).resolve().parents[1] / "examples" / "torch" / "ocr_network.py"
    runpy.run_path(str(example), run_name="__main__")
    assert list(tmp_path.glob("*.png")), "it draws a picture"
