"""The stand-in for sklearn-crfsuite beside the original: F1 on CoNLL-2000, processor time and size of the model.

    pip install sklearn-crfsuite
    python benchmarks/python/crf.py conll2000_train.txt.gz conll2000_test.txt.gz

The attributes are those of sklearn-crfsuite's tutorial, and so are the arguments of the first two lines.
"""

import sys
import time

import sklearn_crfsuite
from maxmargin import read_columns
from maxmargin.compat import sklearn_crfsuite as stand_in
from maxmargin.io import chunk_f1

TUTORIAL = {
    "algorithm": "lbfgs",
    "c1": 0.1,
    "c2": 0.1,
    "max_iterations": 100,
    "all_possible_transitions": True,
}


def near(token, prefix):
    word, tag = token[0], token[1]
    return {
        f"{prefix}word.lower()": word.lower(),
        f"{prefix}word.istitle()": word.istitle(),
        f"{prefix}word.isupper()": word.isupper(),
        f"{prefix}postag": tag,
        f"{prefix}postag[:2]": tag[:2],
    }


def attributes(sentence):
    found = []
    for at, token in enumerate(sentence):
        word = token[0]
        own = {
            "bias": 1.0,
            "word[-3:]": word[-3:],
            "word[-2:]": word[-2:],
            **near(token, ""),
        }
        own["word.isdigit()"] = word.isdigit()
        own |= near(sentence[at - 1], "-1:") if at else {"BOS": True}
        own |= (
            near(sentence[at + 1], "+1:") if at + 1 < len(sentence) else {"EOS": True}
        )
        found.append(own)
    return found


def measure(package, arguments, train, test):
    (X, y), (X_test, y_test) = train, test
    begun = time.process_time()
    crf = package.CRF(**arguments).fit(X, y)
    seconds = time.process_time() - begun
    found = [list(labels) for labels in crf.predict(X_test)]
    labels = sorted({label for own in y for label in own} - {"O"})
    flat = stand_in.metrics.flat_f1_score(
        y_test, found, average="weighted", labels=labels, zero_division=0
    )
    return 100 * chunk_f1(y_test, found)[2], 100 * flat, seconds, crf.size_


def main():
    data = []
    for file in sys.argv[1:3]:
        X, y = read_columns(file)
        data.append(([attributes(sentence) for sentence in X], y))
    print(
        "| arguments | package | chunk F1 | F1 of labels | processor seconds | bytes |"
    )
    print("|---|---|---|---|---|---|")
    for name, arguments in [("tutorial", TUTORIAL), ("defaults", {})]:
        for package in (stand_in, sklearn_crfsuite):
            chunk, flat, seconds, size = measure(package, arguments, *data)
            row = f"{chunk:.2f} | {flat:.2f} | {seconds:.2f} | {size}"
            who = "maxmargin" if package is stand_in else "sklearn-crfsuite"
            print(f"| {name} | {who} | {row} |", flush=True)


if __name__ == "__main__":
    main()
