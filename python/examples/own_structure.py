"""
A structure of your own
=======================

Whatever can be scored and decoded can be learned. Here paths through a terrain: the model is to find
out what the kinds of ground cost, from the paths that people took.
"""

import heapq

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import StructuredSVM

SIZE, GROUNDS = 12, 4
rng = np.random.default_rng(0)


class Paths:
    """Paths from the upper left to the lower right corner. A terrain has a kind of ground in each
    cell; a path is a matrix of zeros and ones; the features count the cells of each kind."""

    n_features = GROUNDS

    def decode(self, terrain, path, w, loss_augmented):
        # A score to be largest is a cost to be smallest, and costs must not be negative.
        cost = np.maximum(-w, 0.0)[terrain]
        if loss_augmented:
            # A cell that people did not take is worth its loss: it pays to walk there.
            cost = np.maximum(cost - (path == 0) / self.longest(path), 0.0)
        return shortest(cost)

    def features(self, terrain, path):
        return np.bincount(terrain[path == 1], minlength=GROUNDS).astype(float)

    def loss(self, path, other):
        return np.sum((path == 0) & (other == 1)) / self.longest(path)

    def longest(self, path):
        return path.size

    # Costs are cut at 0, so that the answer is not always the best one.
    quality = "heuristic"


def shortest(cost):
    """Dijkstra's algorithm on the four neighbours of each cell."""
    best = np.full(cost.shape, np.inf)
    best[0, 0], before, queue = cost[0, 0], {}, [(cost[0, 0], 0, 0)]
    while queue:
        so_far, i, j = heapq.heappop(queue)
        if so_far > best[i, j]:
            continue
        for a, b in ((i + 1, j), (i, j + 1), (i - 1, j), (i, j - 1)):
            if 0 <= a < len(cost) and 0 <= b < len(cost) and so_far + cost[a, b] < best[a, b]:
                best[a, b], before[a, b] = so_far + cost[a, b], (i, j)
                heapq.heappush(queue, (best[a, b], a, b))
    path, cell = np.zeros(cost.shape, dtype=int), (len(cost) - 1, len(cost) - 1)
    while cell is not None:
        path[cell] = 1
        cell = before.get(cell)
    return path


# %%
# People find grass cheap and water dear.
true_costs = np.array([0.1, 0.3, 0.6, 1.0])
X = [rng.integers(GROUNDS, size=(SIZE, SIZE)) for _ in range(40)]
y = [shortest(true_costs[terrain]) for terrain in X]

# %%
# The upper bound 0 keeps all costs ≥ 0.
model = StructuredSVM(Paths(), lam=1e-3, tol=0.02, bounds=(None, 0.0)).fit(X[:30], y[:30])
print("costs", np.round(-model.coef_ / -model.coef_[-1], 2), "truly", true_costs)
print(f"loss on new terrain: {1 - model.score(X[30:], y[30:]):.4f}")

figure, axes = plt.subplots(1, 3, figsize=(12, 4.6), layout="constrained")
for ax, picture, title in zip(
    axes, (X[30], y[30], model.predict(X[30:31])[0]), ("terrain", "taken", "found"), strict=True
):
    ax.imshow(picture)
    ax.set_title(title)
figure.savefig("own_structure.png")
