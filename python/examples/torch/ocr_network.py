"""
A network that reads words, with a proof for its last layer
===========================================================

A small network looks at letters, a chain of them makes words. All is trained together by the structured
hinge loss; then the network is frozen, and its last layer is trained to the optimum, which a certificate
proves.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import maxmargin
from maxmargin.torch import Chain, StructuredHingeLoss, fit_top_layer

# %%
# The data ship inside: 626 words to learn from; pixels are attributes such as ``p3_1``.
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def pictures(name, count):
    """Words as tensors of pictures of 16 × 8 pixels, and as tensors of letters."""
    words, labels = maxmargin.read_sequences(name)
    found = []
    for word in words[:count]:
        pixels = np.zeros((len(word), 16, 8), dtype=np.float32)
        for letter, attributes in zip(pixels, word, strict=True):
            for attribute in attributes:
                row, column = map(int, attribute[1:].split("_"))
                letter[row, column] = 1
        found.append(torch.as_tensor(pixels))
    return found, [torch.tensor([LETTERS.index(a) for a in label]) for label in labels[:count]]


X, y = pictures("ocr-small", 626)
X_test, y_test = pictures("ocr-small:test", 1000)

# %%
# The body of the network makes 64 numbers of each letter; its head scores the 26 labels.
torch.manual_seed(0)
body = torch.nn.Sequential(
    torch.nn.Unflatten(1, (1, 16)),  # one channel
    torch.nn.Conv2d(1, 12, 3, padding=1),
    torch.nn.ReLU(),
    torch.nn.MaxPool2d(2),
    torch.nn.Flatten(),
    torch.nn.Linear(12 * 8 * 4, 64),
    torch.nn.ReLU(),
)
head = torch.nn.Linear(64, len(LETTERS))
transitions = torch.nn.Parameter(torch.zeros(len(LETTERS), len(LETTERS)))
hinge = StructuredHingeLoss(Chain())


def scores_of(words):
    """The scores of several words as one padded tensor, and their lengths."""
    lengths = torch.tensor([len(word) for word in words])
    rows = head(body(torch.cat(words)))
    return torch.nn.utils.rnn.pad_sequence(rows.split(lengths.tolist()), batch_first=True), lengths


def accuracy():
    """The share of letters of the test words that are read correctly."""
    with torch.no_grad():
        scores, lengths = scores_of(X_test)
        found = hinge.decode(scores, transitions=transitions, lengths=lengths)
    truth = torch.nn.utils.rnn.pad_sequence(y_test, batch_first=True, padding_value=-1)
    return ((found == truth) & (truth >= 0)).sum().item() / lengths.sum().item()


# %%
# A few passes with Adam, on batches of 16 words.
parameters = [*body.parameters(), *head.parameters(), transitions]
optimiser = torch.optim.Adam(parameters, lr=3e-3)
losses = []
for epoch in range(8):
    for batch in torch.randperm(len(X)).split(16):
        scores, lengths = scores_of([X[i] for i in batch])
        truth = torch.nn.utils.rnn.pad_sequence([y[i] for i in batch], batch_first=True)
        loss = hinge(scores, truth, transitions=transitions, lengths=lengths)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    print(f"pass {epoch + 1}: {accuracy():.3f} of the letters are right")

# %%
# The network is frozen now. Its last layer is a convex problem, which Frank-Wolfe solves up to a gap.
model = fit_top_layer(body, head, X, y, transitions=transitions, lam=0.01, n_jobs=-1)
print(model.certificate_)
print(f"{accuracy():.3f} of the letters are right with the top layer trained to the optimum")

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot(losses)
axes[0].set(xlabel="batch", ylabel="hinge loss", title="the network")
model.plot_convergence(ax=axes[1])
figure.savefig("ocr_network.png")
