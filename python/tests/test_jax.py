"""Losses for JAX. They run from python/test-jax, and are skipped where JAX is missing."""

import itertools

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed: see python/test-jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402

from maxmargin.jax import (  # noqa: E402
    Assignment,
    Chain,
    Potts,
    Tree,
    decode,
    structured_hinge_loss,
)

LOSSES = ["hamming", "normalised", 2.5]


def random(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(sum(shape) + seed).normal(size=shape))


def agree(structure, scores, truth, outputs, parts):
    """Whether loss and gradients are those of the best of all outputs, also when compiled."""

    def highest(scores, parts):
        values = [
            structure.score(scores, jnp.array(own), **parts)
            + structure.loss(truth, jnp.array(own), **parts)
            for own in outputs
        ]
        return jnp.stack(values).max() - structure.score(scores, truth, **parts)

    fixed = {name: own for name, own in parts.items() if own.dtype.kind != "f"}
    moving = {name: own for name, own in parts.items() if name not in fixed}

    def mine(scores, moving):
        return structured_hinge_loss(structure, scores, truth, "sum", **moving, **fixed)

    def theirs(scores, moving):
        return highest(scores, {**moving, **fixed})

    expected, slope = jax.value_and_grad(theirs, argnums=(0, 1))(scores, moving)
    for loss in (mine, jax.jit(mine)):
        found, own = jax.value_and_grad(loss, argnums=(0, 1))(scores, moving)
        assert float(found) == pytest.approx(float(expected), abs=1e-12)
        for a, b in zip(jax.tree.leaves(own), jax.tree.leaves(slope), strict=True):
            assert np.allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("loss", [*LOSSES, [[0, 1, 3], [2, 0, 1], [0.5, 0.25, 0]]], ids=str)
def test_jax_chains(loss):
    scores, truth = random(4, 3), jnp.array([0, 2, 1, 1])
    outputs = list(itertools.product(range(3), repeat=4))
    for shape in ((3, 3), (3, 3, 3)):
        parts = {"transitions": random(*shape), "start": random(3), "end": random(3, seed=1)}
        agree(Chain(loss), scores, truth, outputs, parts)
    agree(Chain(loss), scores, truth, outputs, {})


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_jax_trees_and_graphs(loss):
    scores, truth = random(4, 2), jnp.array([0, 1, 1, 0])
    outputs = list(itertools.product(range(2), repeat=4))
    tree = {"parents": jnp.array([-1, 0, 0, 1]), "transitions": random(2, 2)}
    agree(Tree(loss), scores, truth, outputs, tree)
    edges = jnp.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    agree(
        Potts(loss), scores, truth, outputs, {"edges": edges, "costs": jnp.abs(random(4, seed=2))}
    )


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_jax_assignments(loss):
    scores, truth = random(3, 3), jnp.array([1, 0, 2])
    agree(Assignment(loss), scores, truth, list(itertools.permutations(range(3))), {})


def test_jax_batches_are_their_items():
    scores, truth = random(5, 6, 4), np.random.default_rng(3).integers(4, size=(5, 6))
    lengths, transitions = jnp.array([6, 1, 3, 1, 5]), random(4, 4)
    found = structured_hinge_loss(
        Chain(), scores, truth, "none", lengths=lengths, transitions=transitions
    )
    mask = jnp.arange(6) < lengths[:, None]
    masked = structured_hinge_loss(
        Chain(), scores, truth, "none", mask=mask, transitions=transitions
    )
    assert np.array_equal(found, masked)
    for i, n in enumerate(lengths.tolist()):
        own = structured_hinge_loss(Chain(), scores[i, :n], truth[i, :n], transitions=transitions)
        assert float(own) == pytest.approx(float(found[i]), abs=1e-12)
    labels = decode(Chain(), scores, lengths=lengths, transitions=transitions)
    assert labels.shape == (5, 6) and labels[1].tolist()[1:] == [-1] * 5


def test_jax_trains_by_gradients():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(20, 5, 3)))
    truth = jnp.argmax(x @ jnp.asarray(rng.normal(size=(3, 4))), -1)

    @jax.jit
    def loss(w):
        return structured_hinge_loss(Chain(), x @ w, truth)

    w = jnp.zeros((3, 4))
    before = float(loss(w))
    for _ in range(60):
        w = w - 0.2 * jax.grad(loss)(w)
    assert float(loss(w)) < 0.5 * before


def test_jax_refuses_what_is_no_structure():
    with pytest.raises(TypeError, match="no method decode"):
        structured_hinge_loss(Chain, jnp.zeros((2, 2)), jnp.zeros(2, int))
    with pytest.raises(ValueError, match="reduction is 'max'"):
        structured_hinge_loss(Chain(), jnp.zeros((2, 2)), jnp.zeros(2, int), "max")
    half = structured_hinge_loss(Chain(), jnp.zeros((2, 2), jnp.float16), jnp.zeros(2, int))
    assert half.dtype == jnp.float32 or half.dtype == jnp.float64
