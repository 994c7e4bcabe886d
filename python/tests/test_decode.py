"""Decoders on arrays, against trying out all outputs."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from maxmargin.decode import assignment, factor_graph, max_flow, potts, top_k, tree, viterbi
from maxmargin.decode._arrays import numbers

NEVER = -np.inf


def rounded(rng, *shape):
    """Numbers with few digits, so that sums in any order are the same, and ties occur."""
    return rng.integers(-8, 9, size=shape) / 4


def with_never(rng, array, share=0.15):
    return np.where(rng.random(array.shape) < share, NEVER, array)


def loss_table(loss, labels, length):
    if isinstance(loss, str):
        return (1 - np.eye(labels)) / (length if loss == "normalised" else 1)
    return np.asarray(loss) if np.ndim(loss) else loss * (1 - np.eye(labels))


def ranked(outputs, value):
    """All outputs that are allowed, with their values, best first."""
    found = [(value(y), y) for y in outputs]
    return sorted((f for f in found if f[0] > NEVER), key=lambda f: -f[0])


def labellings(length, labels):
    return itertools.product(range(labels), repeat=length)


def loss_of(y, truth, loss, labels):
    if truth is None:
        return 0.0
    table = loss_table(loss, labels, len(y))
    return sum(table[t, p] for t, p in zip(truth, y, strict=False))


def chain_value(y, scores, transitions, start, end, truth, loss):
    total = sum(scores[t, k] for t, k in enumerate(y))
    steps = np.broadcast_to(transitions, (max(len(y) - 1, 0), *transitions.shape[-2:]))
    total += sum(steps[t][a, b] for t, (a, b) in enumerate(itertools.pairwise(y)))
    if len(y):
        total += start[y[0]] + end[y[-1]]
    return total + loss_of(y, truth, loss, scores.shape[1])


LOSSES = ["hamming", "normalised", 2.5, [[0, 1, 3], [2, 0, 1], [0.5, 0.25, 0]]]


@pytest.mark.parametrize("loss", [None, *LOSSES], ids=str)
@pytest.mark.parametrize("per_step", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_chains_are_the_best_of_all(rng, loss, per_step, dtype):
    for _ in range(20):
        length, labels = int(rng.integers(1, 5)), 3
        scores = with_never(rng, rounded(rng, length, labels)).astype(dtype)
        shape = (length - 1, labels, labels) if per_step else (labels, labels)
        transitions = with_never(rng, rounded(rng, *shape)).astype(dtype)
        start, end = rounded(rng, labels), with_never(rng, rounded(rng, labels))
        truth = rng.integers(labels, size=length)
        given = {} if loss is None else {"truth": truth, "loss": loss}

        def value(y, scores=scores, parts=(transitions, start, end), given=given):
            return chain_value(y, scores, *parts, given.get("truth"), given.get("loss"))

        best = ranked(labellings(length, labels), value)
        if not best:
            with pytest.raises(ValueError, match="no labelling is allowed"):
                viterbi(scores, transitions, start=start, end=end, **given)
            continue
        found = viterbi(scores, transitions, start=start, end=end, **given)
        assert found.score == pytest.approx(best[0][0], abs=1e-12)
        assert value(found.labels) == pytest.approx(best[0][0], abs=1e-12)
        many = top_k(viterbi, 7, scores, transitions, start=start, end=end, **given)
        count = min(7, len(best))
        assert many.score[:count] == pytest.approx([v for v, _ in best[:count]], abs=1e-12)
        assert (many.score[count:] == NEVER).all() and (many.labels[count:] == -1).all()
        assert len({tuple(y) for y in many.labels[:count]}) == count
        for y, score in zip(many.labels[:count], many.score, strict=False):
            assert value(y) == pytest.approx(score, abs=1e-12)


def test_a_batch_of_chains_is_its_items_one_by_one(rng):
    items, length, labels = 300, 6, 9
    scores = rng.normal(size=(items, length, labels))
    lengths = rng.integers(0, length + 1, size=items)
    truth = rng.integers(labels, size=(items, length))
    for transitions in (
        rng.normal(size=(labels, labels)),
        rng.normal(size=(items, labels, labels)),
        rng.normal(size=(items, length - 1, labels, labels)),
    ):
        end = rng.normal(size=(items, labels))
        found = viterbi(scores, transitions, end=end, lengths=lengths, truth=truth)
        mask = np.arange(length) < lengths[:, None]
        same = viterbi(scores, transitions, end=end, mask=mask, truth=truth, n_jobs=1)
        assert (found.labels == same.labels).all() and (found.score == same.score).all()
        for i, n in enumerate(lengths):
            own = transitions if transitions.ndim == 2 else transitions[i]
            own = own[: max(n - 1, 0)] if own.ndim == 3 else own
            single = viterbi(scores[i, :n], own, end=end[i], truth=truth[i, :n])
            assert (found.labels[i, :n] == single.labels).all()
            assert (found.labels[i, n:] == -1).all()
            assert found.score[i] == single.score
        ranks = top_k(viterbi, 2, scores, transitions, end=end, lengths=np.maximum(lengths, 1))
        assert ranks.labels.shape == (items, 2, length) and ranks.score.shape == (items, 2)


def assignments(rows, columns, nulls):
    for y in itertools.product(range(-1, columns), repeat=rows):
        used = [c for c in y if c >= 0]
        if len(set(used)) < len(used):
            continue
        if nulls is None and len(used) < min(rows, columns):
            continue
        yield y


def assignment_value(y, scores, nulls, truth, cost):
    columns = scores.shape[1]
    total = sum(scores[r, c] for r, c in enumerate(y) if c >= 0)
    if isinstance(nulls, tuple):
        total += sum(nulls[0][r] for r, c in enumerate(y) if c < 0)
        total += sum(nulls[1][c] for c in range(columns) if c not in y)
    if truth is not None:
        total += cost * sum(a != b for a, b in zip(y, truth, strict=True))
    return total


@pytest.mark.parametrize("nulls", [None, "free", "scored"])
@pytest.mark.parametrize("loss", [None, "hamming", "normalised", 0.75])
def test_assignments_are_the_best_of_all(rng, nulls, loss):
    for _ in range(30):
        rows, columns = rng.integers(1, 5, size=2)
        full = (rows + 1, columns + 2)
        scores, mask = rounded(rng, *full), rng.random(full) < 0.9
        own = (rounded(rng, full[0]), rounded(rng, full[1])) if nulls == "scored" else nulls
        allowed = np.where(mask, scores, NEVER)[:rows, :columns]
        trimmed = (own[0][:rows], own[1][:columns]) if nulls == "scored" else nulls
        order = [int(c) for c in rng.permutation(columns)][:rows]
        truth = np.full(full[0], -1)
        truth[: len(order)] = order
        given = {} if loss is None else {"truth": truth, "loss": loss}
        cost = {"hamming": 1.0, "normalised": 1 / rows}.get(loss, loss)

        def value(y, allowed=allowed, trimmed=trimmed, truth=truth[:rows], cost=cost):
            return assignment_value(y, allowed, trimmed, None if cost is None else truth, cost)

        given |= {"nulls": own, "mask": mask, "lengths": [rows, columns]}
        best = ranked(assignments(rows, columns, nulls), value)
        if not best:
            with pytest.raises(ValueError, match="too many links are forbidden"):
                assignment(scores, **given)
            continue
        found = assignment(scores, **given)
        assert (found.labels[rows:] == -1).all()
        assert found.score == pytest.approx(best[0][0], abs=1e-12)
        assert value(tuple(found.labels[:rows])) == pytest.approx(best[0][0], abs=1e-12)
        many = top_k(assignment, 5, scores, **given)
        count = min(5, len(best))
        assert many.score[:count] == pytest.approx([v for v, _ in best[:count]], abs=1e-12)
        assert len({tuple(y) for y in many.labels[:count]}) == count


@pytest.mark.parametrize("shape", [(40, 40), (20, 35), (35, 20)])
def test_assignments_agree_with_scipy(rng, shape):
    scores = rng.normal(size=(50, *shape))
    for array in (scores, scores.astype(np.float32)):
        found = assignment(array)
        for item, labels, score in zip(array, *found, strict=True):
            rows, columns = linear_sum_assignment(item, maximize=True)
            assert score == pytest.approx(item[rows, columns].astype(float).sum(), rel=1e-12)
            expected = np.full(shape[0], -1)
            expected[rows] = columns
            assert (labels == expected).all()


def random_graph(rng, nodes, edges):
    pairs = list(itertools.combinations(range(nodes), 2))
    return np.array([pairs[e] for e in rng.permutation(len(pairs))[:edges]]).reshape(-1, 2)


def potts_value(y, scores, edges, costs, truth, loss):
    total = sum(scores[v, k] for v, k in enumerate(y))
    total -= sum(c for (a, b), c in zip(edges, costs, strict=True) if a >= 0 and y[a] != y[b])
    return total + loss_of(y, truth, loss, scores.shape[1])


@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("inference", ["auto", "lp", "roof-duality", "max-product", "icm"])
@pytest.mark.parametrize("attract", [True, False])
def test_labelled_graphs_keep_to_their_bound(rng, labels, inference, attract):
    if inference == "roof-duality" and labels > 2:
        pytest.skip("needs two labels")
    for loss in (None, "hamming", "normalised"):
        nodes = 6
        edges = random_graph(rng, nodes, 9)
        edges[4] = -1
        scores, costs = rounded(rng, nodes, labels), rounded(rng, len(edges))
        costs = np.abs(costs) if attract else costs
        truth = rng.integers(labels, size=nodes)
        given = {} if loss is None else {"truth": truth, "loss": loss}

        def value(y, parts=(scores, edges, costs), given=given):
            return potts_value(y, *parts, given.get("truth"), given.get("loss"))

        best = ranked(labellings(nodes, labels), value)[0][0]
        found = potts(scores, edges, costs, inference=inference, **given)
        assert value(found.labels) == pytest.approx(found.score, abs=1e-9)
        assert found.score <= best + 1e-9 and best <= found.bound + 1e-9
        if inference == "auto" and attract and labels <= 2:
            assert found.score == found.bound == pytest.approx(best, abs=1e-9)


def test_a_batch_of_graphs_is_its_items_one_by_one(rng):
    items, nodes, labels = 40, 8, 2
    scores = rng.normal(size=(items, nodes, labels))
    shared = random_graph(rng, nodes, 12)
    own = np.stack([random_graph(rng, nodes, 12) for _ in range(items)])
    lengths = rng.integers(1, nodes + 1, size=items)
    costs = rng.random((items, 12))
    truth = rng.integers(labels, size=(items, nodes))
    for edges in (shared, own):
        for given in ({}, {"lengths": lengths}):
            found = potts(scores, edges, costs, truth=truth, **given)
            same = potts(scores, edges, costs, truth=truth, n_jobs=1, **given)
            assert (found.labels == same.labels).all() and (found.bound == same.bound).all()
            for i in range(items):
                n = given.get("lengths", np.full(items, nodes))[i]
                pairs = edges if edges.ndim == 2 else edges[i]
                kept = (pairs < n).all(axis=1)
                single = potts(scores[i, :n], pairs[kept], costs[i][kept], truth=truth[i, :n])
                assert (found.labels[i, :n] == single.labels).all()
                assert (found.labels[i, n:] == -1).all() and found.score[i] == single.score


def test_minimum_cuts_are_the_smallest_of_all(rng):
    for _ in range(30):
        nodes = 6
        edges = random_graph(rng, nodes, 8)
        source, sink = np.abs(rounded(rng, nodes)), np.abs(rounded(rng, nodes))
        there, back = np.abs(rounded(rng, 8)), np.abs(rounded(rng, 8))

        def cost(side, source=source, sink=sink, edges=edges, there=there, back=back):
            side = np.asarray(side, dtype=bool)
            total = sink[side].sum() + source[~side].sum()
            a, b = side[edges[:, 0]], side[edges[:, 1]]
            return total + there[a & ~b].sum() + back[b & ~a].sum()

        all_cuts = [cost(side) for side in labellings(nodes, 2)]
        found = max_flow(source, sink, edges, there, back)
        assert found.source_side.dtype == bool
        assert found.value == pytest.approx(min(all_cuts)) == cost(found.source_side)
        fewest = min(sum(s) for s in labellings(nodes, 2) if cost(s) == min(all_cuts))
        assert found.source_side.sum() == fewest
        both = max_flow([source] * 2, [sink] * 2, edges, there, back)
        assert (both.source_side == found.source_side).all() and (both.value == found.value).all()


def graph_value(y, scores, factors, tables, truth, loss):
    total = sum(scores[v][k] for v, k in enumerate(y))
    for scope, table in zip(factors, tables, strict=True):
        if scope[0] >= 0:
            total += table[tuple(y[v] for v in scope)]
    return total + loss_of(y, truth, loss, max(len(row) for row in scores))


@pytest.mark.parametrize("loss", [None, *LOSSES], ids=str)
def test_trees_are_the_best_of_all(rng, loss):
    for _ in range(15):
        nodes, labels = int(rng.integers(1, 6)), 3
        names = rng.permutation(nodes)
        parents = np.full(nodes, -1)
        for at in range(1, nodes):
            parents[names[at]] = names[rng.integers(at)] if rng.random() < 0.9 else -1
        scores = with_never(rng, rounded(rng, nodes, labels), 0.1)
        truth = rng.integers(labels, size=nodes)
        given = {} if loss is None else {"truth": truth, "loss": loss}
        for shape in ((labels, labels), (nodes, labels, labels)):
            transitions = with_never(rng, rounded(rng, *shape), 0.1)
            tables = np.broadcast_to(transitions, (nodes, labels, labels))
            edges = [(p, v) for v, p in enumerate(parents)]

            def value(y, parts=(scores, edges, tables), given=given):
                return graph_value(y, *parts, given.get("truth"), given.get("loss"))

            best = ranked(labellings(nodes, labels), value)
            if not best:
                with pytest.raises(ValueError, match="no labelling is allowed"):
                    tree(scores, parents, transitions, **given)
                continue
            found = tree(scores, parents, transitions, **given)
            assert found.score == pytest.approx(best[0][0], abs=1e-12)
            assert value(found.labels) == pytest.approx(best[0][0], abs=1e-12)
            many = top_k(tree, 6, scores, parents, transitions, **given)
            count = min(6, len(best))
            assert many.score[:count] == pytest.approx([v for v, _ in best[:count]], abs=1e-12)
            assert len({tuple(y) for y in many.labels[:count]}) == count


def test_a_chain_is_a_tree_and_a_factor_graph(rng):
    scores, transitions = rng.normal(size=(20, 7, 4)), rng.normal(size=(4, 4))
    lengths = rng.integers(1, 8, size=20)
    parents = np.arange(-1, 6)
    edges = np.stack([np.arange(6), np.arange(1, 7)], axis=1)
    expected = viterbi(scores, transitions, lengths=lengths)
    as_tree = tree(scores, parents, transitions, lengths=lengths)
    as_graph = factor_graph(scores, edges, transitions, lengths=lengths)
    assert (as_tree.labels == expected.labels).all() and (as_graph.labels == expected.labels).all()
    assert as_tree.score == pytest.approx(expected.score)
    assert (as_graph.bound == as_graph.score).all()
    own = np.stack([np.where(np.arange(7) < n, parents, -1) for n in lengths])
    assert (tree(scores, own, transitions, lengths=lengths).labels == expected.labels).all()


FACTORS = [(0, 1), (1, 2, 3), (3, 0)]


@pytest.mark.parametrize("inference", ["auto", "enumerate", "lp", "max-product"])
def test_factor_graphs_keep_to_their_bound(rng, inference):
    for _ in range(10):
        states = [2, 3, 2, 4]
        scores = [rounded(rng, k) for k in states]
        factors = FACTORS
        tables = [rounded(rng, *(states[v] for v in scope)) for scope in factors]
        outputs = list(itertools.product(*map(range, states)))
        best = ranked(outputs, lambda y, s=scores, t=tables: graph_value(y, s, FACTORS, t, None, 0))
        found = factor_graph(scores, factors, tables, inference=inference)
        assert found.score == pytest.approx(
            graph_value(found.labels, scores, factors, tables, None, 0)
        )
        assert found.score <= best[0][0] + 1e-9 and best[0][0] <= found.bound + 1e-9
        if inference in ("auto", "enumerate"):
            assert found.score == found.bound == pytest.approx(best[0][0])
            tables[0][0, 0] = NEVER
            never = ranked(
                outputs, lambda y, s=scores, t=tables: graph_value(y, s, FACTORS, t, None, 0)
            )
            many = top_k(factor_graph, 5, scores, factors, tables, inference=inference)
            assert many.score == pytest.approx([v for v, _ in never[:5]])
        else:
            tables[0][0, 0] = NEVER
            with pytest.raises(ValueError, match="takes finite scores only"):
                factor_graph(scores, factors, tables, inference=inference)


def test_padded_states_and_tables_of_items_of_their_own(rng):
    states = np.array([2, 3, 1])
    edges = np.array([[0, 1], [1, 2], [0, 2]])
    scores, tables = rng.normal(size=(4, 3, 3)), rng.normal(size=(4, 3, 3, 3))
    truth = np.array([[1, 2, 0]] * 4)
    found = factor_graph(scores, edges, tables, states=states, truth=truth)
    as_list = factor_graph(
        scores,
        edges.tolist(),
        [tables[:, e, : states[a], : states[b]] for e, (a, b) in enumerate(edges)],
        states=states,
        truth=truth,
    )
    assert (found.labels == as_list.labels).all() and (found.score == as_list.score).all()
    for i in range(4):
        parts = [tables[i, e, : states[a], : states[b]] for e, (a, b) in enumerate(edges)]
        rows = [scores[i, v, :k] for v, k in enumerate(states)]

        def value(y, rows=rows, parts=parts):
            wrong = sum(a != b for a, b in zip(y, truth[0], strict=True))
            return graph_value(y, rows, edges, parts, None, 0) + wrong

        best = ranked(itertools.product(*map(range, states)), value)
        assert found.score[i] == pytest.approx(best[0][0])


def test_contiguous_arrays_are_read_where_they_are(rng):
    for dtype in (np.float32, np.float64):
        scores = rng.normal(size=(3, 4, 5)).astype(dtype)
        assert numbers("scores", scores) is scores
        scores.setflags(write=False)
        expected = viterbi(scores)
        twisted = np.asfortranarray(scores)
        assert (viterbi(twisted).labels == expected.labels).all()
        assert (viterbi(scores[:, ::-1]).labels == expected.labels[:, ::-1]).all()
    assert (viterbi(scores.astype(">f8")).labels == expected.labels).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused_by_name(bad):
    scores = np.zeros((2, 3, 2))
    scores[1, 2, 0] = bad
    edges, table = [[0, 1]], np.zeros((2, 2))
    with pytest.raises(
        ValueError, match=f"(?i)item 1: the score of label 0 at position 2 is {bad}.*-inf"
    ):
        viterbi(scores)
    with pytest.raises(ValueError, match="^the score of label 0 at position 2"):
        viterbi(scores[1])
    with pytest.raises(ValueError, match=f"(?i)item 1: the score of row 2 with column 0 is {bad}"):
        assignment(scores)
    with pytest.raises(ValueError, match=f"(?i)item 1: the score of label 0 at node 2 is {bad}"):
        potts(scores, edges, 1.0)
    with pytest.raises(ValueError, match=f"(?i)the score of state 0 of variable 2 is {bad}"):
        factor_graph(scores, edges, table)
    fine = np.zeros((3, 2))
    table[1, 0] = bad
    with pytest.raises(ValueError, match=f"(?i)transition score from label 1 to label 0 is {bad}"):
        viterbi(fine, table)
    with pytest.raises(ValueError, match=f"(?i)entry 2 of the table of factor 0 is {bad}"):
        factor_graph(fine, edges, table)
    with pytest.raises(ValueError, match=f"(?i)the score of label 1 at the last position is {bad}"):
        viterbi(fine, end=[0, bad])
    with pytest.raises(ValueError, match=f"(?i)the cost of edge 0 is {bad}"):
        potts(fine, edges, bad)
    with pytest.raises(ValueError, match=f"(?i)capacity from the source of node 1 is {bad}"):
        max_flow([0, bad], [0, 0], edges, 1)
    with pytest.raises(ValueError, match="nulls of rows must be finite"):
        assignment(fine, nulls=([0, bad, 0], [0, 0]))
    with pytest.raises(ValueError, match="loss"):
        viterbi(fine, truth=[0, 0, 0], loss=bad)


def test_infinite_scores_of_graphs_are_refused():
    scores = np.zeros((3, 2))
    scores[0, 0] = NEVER
    with pytest.raises(ValueError, match="label 0 at node 0 is -inf; it must be a finite number$"):
        potts(scores, [[0, 1]], 1.0)
    with pytest.raises(ValueError, match="capacity of edge 0 is -1; it must be at least 0"):
        max_flow([1, 1], [0, 0], [[0, 1]], -1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: viterbi([1.0]), r"scores has the shape \(1,\); expected \(T, K\) or \(B, T, K\)"),
        (lambda: viterbi([["a"]]), "scores has the type <U1; real numbers are needed"),
        (lambda: viterbi([[1j]]), "scores has the type complex128"),
        (lambda: viterbi([[1], [1, 2]]), "scores is not an array"),
        (lambda: viterbi(np.zeros((3, 0))), "there are no labels"),
        (lambda: viterbi(np.zeros((3, 2)), np.zeros((3, 3))), r"transitions .* expected \(2, 2\)"),
        (lambda: viterbi(np.zeros((3, 2)), truth=[0, 0]), r"truth has the shape \(2,\)"),
        (
            lambda: viterbi(np.zeros((3, 2)), truth=[0, 2, 0]),
            "true label at 1 is 2; .* from 0 to 1",
        ),
        (lambda: viterbi(np.zeros((3, 2)), truth=[0.0, 1, 0]), "truth has the type float64"),
        (lambda: viterbi(np.zeros((3, 2)), loss=2), "loss has no meaning without truth"),
        (lambda: viterbi(np.zeros((3, 2)), truth=[0] * 3, loss="f1"), "known are 'hamming'"),
        (lambda: viterbi(np.zeros((3, 2)), truth=[0] * 3, loss=np.ones((2, 2))), "must cost 0"),
        (lambda: viterbi(np.zeros((1, 3, 2)), lengths=[4]), "length of item 0 is 4; .* 3 places"),
        (lambda: viterbi(np.zeros((1, 3, 2)), mask=[[True, False, True]]), "has gaps"),
        (lambda: viterbi(np.zeros((1, 3, 2)), mask=[[1, 1, 0]]), "mask has the type int64"),
        (lambda: viterbi(np.zeros((1, 3, 2)), mask=[[True] * 3], lengths=[3]), "not both"),
        (lambda: viterbi(np.zeros((1, 3, 2)), n_jobs=0), "n_jobs == 0"),
        (lambda: assignment(np.zeros((2, 2)), nulls="some"), "nulls is 'some'"),
        (lambda: assignment(np.zeros((2, 2)), truth=[0, 0]), "column 0 belongs to two rows"),
        (lambda: assignment(np.zeros((2, 2)), truth=[0, 5]), "true column of row 1 is 5"),
        (lambda: assignment(np.zeros((2, 2)), lengths=[3, 1]), r"lengths of item 0 are \(3, 1\)"),
        (
            lambda: assignment(np.zeros((2, 2)), truth=[0, 1], loss=np.eye(2)),
            "add it to the scores",
        ),
        (lambda: potts(np.zeros((2, 2)), [[0, 2]], 1.0), r"edge 0 is \(0, 2\), .* 2 nodes"),
        (lambda: potts(np.zeros((2, 2)), [[1, 1]], 1.0), "from node 1 to itself"),
        (lambda: potts(np.zeros((2, 3)), [[0, 1]], 1.0, inference="max-flow"), "needs two labels"),
        (lambda: potts(np.zeros((2, 2)), [[0, 1]], 1.0, inference="magic"), "magic"),
        (lambda: potts(np.zeros((2, 2)), [[0, 1]], [1.0, 2.0]), r"costs has the shape \(2,\)"),
        (lambda: tree(np.zeros((2, 2)), [1, 0], np.eye(2)), "it has a cycle"),
        (lambda: tree(np.zeros((2, 2)), [2, -1], np.eye(2)), "a parent is 2; nodes go from 0 to 1"),
        (lambda: tree(np.zeros((2, 2)), [-1, 0], np.eye(3)), "transitions has the shape"),
        (lambda: factor_graph([[0, 0]] * 2, [(0, 1)], [np.zeros((2, 3))]), "table 0 has the shape"),
        (lambda: factor_graph([[0, 0]] * 2, [(0, 2)], [np.zeros((2, 2))]), "over variable 2"),
        (lambda: top_k(potts, 2), "top_k ranks the outputs of viterbi"),
        (lambda: top_k(viterbi, 0, [[1.0]]), "k is 0"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_empty_batches_and_empty_items():
    assert viterbi(np.zeros((0, 3, 2))).labels.shape == (0, 3)
    labels, score = viterbi(np.zeros((0, 2)))
    assert labels.shape == (0,) and score == 0.0
    assert assignment(np.zeros((0, 3))).labels.shape == (0,)
    assert assignment(np.zeros((3, 0))).labels.tolist() == [-1, -1, -1]
    assert potts(np.zeros((2, 2)), [], 1.0).labels.tolist() == [0, 0]
    assert factor_graph(np.zeros((0, 2)), np.zeros((0, 2), int), np.eye(2)).score == 0.0


def test_several_threads_of_python_may_decode_the_same_arrays(rng):
    scores = rng.normal(size=(64, 200, 60))
    transitions = rng.normal(size=(60, 60))
    expected = viterbi(scores, transitions, n_jobs=1)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: viterbi(scores, transitions, n_jobs=1), range(8)))
    for labels, score in found:
        assert (labels == expected.labels).all() and (score == expected.score).all()
