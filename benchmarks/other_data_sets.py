"""Makes the data sets of `other_data.py`: pairs of lists, to train on and to test on.

A sequence is a list of (label, {attribute: value}); a row is (label, {attribute: value}); a set is (labels, {attribute: value}).
Nothing here took part in a choice of any default.
"""

import csv
import random
import re
from pathlib import Path

import numpy as np

from lambda_scale import blocks, pos_attributes


def ones(names):
    return dict.fromkeys(names, 1.0)


def tagged(sentences):
    """Sequences with a tagger's attributes, of lists of (word, label)."""
    return [[(label, ones(pos_attributes([w for w, _ in s], t))) for t, (_, label) in enumerate(s)] for s in sentences]


def columns(path, label, most=None, encoding="utf-8", separator=None):
    sentences = []
    for block in blocks(path.read_text(encoding).splitlines()):
        rows = [line.split(separator) for line in block if not line.startswith("-DOCSTART-")]
        sentences += [[(r[0], r[label]) for r in rows]] if rows else []
    return sentences[:most]


def conllu(path, most=None):
    sentences = []
    for block in blocks(path.read_text().splitlines()):
        rows = [line.split("\t") for line in block if line[0] != "#"]
        sentences.append([(r[1].replace(" ", ""), r[3]) for r in rows if r[0].isdigit()])
    return sentences[:most]


def split(items, seed, share=0.5):
    items = list(items)
    random.Random(seed).shuffle(items)
    cut = round(len(items) * share)
    return items[:cut], items[cut:]


def both(make, *pairs, **options):
    return tuple(tagged(make(*pair, **options)) for pair in pairs)


def dutch(folder):
    lines = [line.split() for line in (folder / "eindh-train.txt").read_text("latin-1").splitlines()]
    sentences, now = [], []
    for word, label in (line for line in lines if len(line) == 2):
        now.append((word, label))
        if word in ".?!":
            sentences.append(now)
            now = []
    train, test = split(sentences, 1, 0.4)
    return tagged(train[:1500]), tagged(test[:1500])


def chinese(folder):
    """Cutting Chinese text into words: a label for each character."""
    sentences = []
    for line in (folder / "people.txt").read_text().splitlines():
        words = [token.rsplit("/", 1)[0] for token in line.split()]
        tokens = [(c, "S" if len(w) == 1 else "BME"[(i > 0) + (i > 0 and i + 1 == len(w))]) for w in words for i, c in enumerate(w)]
        if tokens:
            sentences.append(tokens)
    made = []
    for s in sentences[:3000]:
        text = ["<"] * 2 + [c for c, _ in s] + [">"] * 2
        made.append([(y, ones([f"{d}{text[t + 2 + d]}" for d in range(-2, 3)]
                              + [f"{d}b{text[t + 2 + d]}{text[t + 3 + d]}" for d in range(-2, 2)]))
                     for t, (_, y) in enumerate(s)])
    return made[:1500], made[1500:]


def letters_to_sounds(folder):
    """Words whose letters and phonemes are as many: a phoneme for each letter."""
    words = []
    for line in (folder / "cmudict.dict").read_text().splitlines():
        word, *sounds = line.split("#")[0].split()
        if word.isalpha() and len(word) == len(sounds) and len(word) > 3:
            words.append([(c, re.sub(r"\d", "", p)) for c, p in zip(word, sounds)])
    made = []
    for word in random.Random(3).sample(words, 4000):
        text = ["_"] * 3 + [c for c, _ in word] + ["_"] * 3
        made.append([(p, ones([f"{d}{text[t + 3 + d]}" for d in range(-3, 4)]
                              + [f"{d}b{text[t + 3 + d]}{text[t + 4 + d]}" for d in range(-2, 2)]))
                     for t, (_, p) in enumerate(word)])
    return made[:2000], made[2000:]


def watch(folder):
    """Exercises from a watch's accelerometer and gyroscope: windows of recordings that follow each other."""
    found = np.load(folder / "watch_dataset.npy", allow_pickle=True).item()
    rng = np.random.default_rng(5)
    by_subject = {}
    for x, y, subject in zip(found["X"], found["y"], found["subject"]):
        windows = [x[i:i + 50] for i in range(0, len(x) - 50, 50)][:rng.integers(5, 30)]
        by_subject.setdefault(int(subject), []).append([(w, y) for w in windows])
    sequences = {}
    for subject, recordings in by_subject.items():
        order = rng.permutation(len(recordings))
        sequences[subject] = [[t for j in order[i:i + 4] for t in recordings[j]] for i in range(0, len(order), 4)]

    def attributes(w):
        steps = np.abs(np.diff(w, axis=0)).mean(0)
        values = np.concatenate([w.mean(0), w.std(0), steps])
        return {f"a{i}": float(f"{v:.5g}") for i, v in enumerate(values)}

    subjects = sorted(sequences)
    cut = len(subjects) // 2
    make = lambda own: [[(str(y), attributes(w)) for w, y in s] for k in own for s in sequences[k]]
    return make(subjects[:cut]), make(subjects[cut:])


def hmm(seed, train, test, labels=5, length=(5, 25), stay=0.7, noise=0.3, symbols=20, emit=None, prior=None):
    """Sequences of a hidden Markov model; `emit(rng, label)` makes attributes."""
    rng = np.random.default_rng(seed)
    prior = np.full(labels, 1 / labels) if prior is None else np.array(prior)
    jump = 0.5 * rng.dirichlet(np.full(labels, 0.3), labels) + 0.5 * prior
    jump = stay * np.eye(labels) + (1 - stay) * jump
    table = rng.dirichlet(np.full(symbols, 0.1), labels)

    def symbol(rng, y):
        k = rng.integers(symbols) if rng.random() < noise else rng.choice(symbols, p=table[y])
        return {f"s{k}": 1.0}

    emit = emit or symbol
    sequences = []
    for _ in range(train + test):
        y, s = rng.choice(labels, p=prior), []
        for _ in range(rng.integers(*length)):
            s.append((f"L{y}", emit(rng, y)))
            y = rng.choice(labels, p=jump[y])
        sequences.append(s)
    return sequences[:train], sequences[train:]


def gaussian(labels, size, spread, scales=None, shift=0.0, seed=11):
    own = np.random.default_rng(seed)
    centres = own.normal(size=(labels, size)) * spread
    scales = np.ones(size) if scales is None else np.array(scales)

    def emit(rng, y):
        v = (centres[y] + rng.normal(size=size) + shift) * scales
        return {f"x{i}": float(f"{a:.6g}") for i, a in enumerate(v)}

    return emit


def with_gaps(sequences, seed):
    """A third of the tokens has no attributes."""
    rng = random.Random(seed)
    return tuple([[(y, {} if rng.random() < 1 / 3 else a) for y, a in s] for s in part] for part in sequences)


def unicode(sequences):
    words = ["naïve", "Straße", "日本", "🙂", "a:b", "c\\d", "e f", "ﬁ", "Ω", "й", "ñ", "\u200bz", "''", '"', "#", "@", "=", "-", "%", "&"]
    rename = lambda a: words[int(a[1:])]
    return tuple([[("é" + y, {rename(a): v for a, v in d.items()}) for y, d in s] for s in part] for part in sequences)


def sequences(folder):
    """Names and makers of sequences."""
    f = Path(folder)
    wild = [10.0 ** k for k in (-3, -2, -1, 0, 1, 2, 3, 0, 0, 0)]
    return {
        "EWT parts of speech": lambda: both(conllu, (f / "ewt-train.conllu",), (f / "ewt-test.conllu",)),
        "Turkish parts of speech": lambda: both(conllu, (f / "tr-train.conllu", 2000), (f / "tr-test.conllu",)),
        "Dutch parts of speech": lambda: dutch(f),
        "WNUT names": lambda: both(columns, (f / "wnut-train.conll", 1, 2000), (f / "wnut-test.conll", 1), separator="\t"),
        "CoNLL-2003 names, 3000": lambda: both(columns, (f / "c03-train.txt", 3, 3000), (f / "c03-test.txt", 3)),
        "base NP, 77 sentences": lambda: both(columns, (f / "np-train.txt", 2), (f / "np-test.txt", 2)),
        "Japanese names": lambda: both(columns, (f / "jne-a.txt", -1), (f / "jne-b.txt", -1), encoding="euc_jp"),
        "Chinese words": lambda: chinese(f),
        "letters to sounds": lambda: letters_to_sounds(f),
        "watch, windows": lambda: watch(f),
        "HMM": lambda: hmm(1, 500, 500),
        "HMM, 5 sequences": lambda: hmm(2, 5, 2000),
        "HMM, 40 sequences": lambda: hmm(22, 40, 2000),
        "HMM, 200 labels": lambda: hmm(3, 800, 500, labels=200, symbols=600, length=(8, 20), stay=0.2),
        "HMM, 98 % of one label": lambda: hmm(4, 800, 1000, labels=4, stay=0.5, prior=[0.98, 0.01, 0.005, 0.005]),
        "HMM, sequences of one": lambda: hmm(5, 2000, 2000, length=(1, 2)),
        "HMM, tokens without attributes": lambda: with_gaps(hmm(6, 500, 500), 6),
        "HMM, every sequence ten times": lambda: (lambda p: (p[0] * 10, p[1]))(hmm(7, 60, 1000)),
        "HMM, Unicode": lambda: unicode(hmm(8, 300, 500)),
        "HMM, one long sequence": lambda: hmm(9, 1, 5, length=(4000, 4001)),
        "HMM, very noisy": lambda: hmm(10, 500, 500, noise=0.8, stay=0.85),
        "Gauss": lambda: hmm(12, 300, 300, emit=gaussian(5, 10, 0.5)),
        "Gauss, scales 1e-3 to 1e3": lambda: hmm(13, 300, 300, emit=gaussian(5, 10, 0.5, wild)),
        "Gauss, far from 0": lambda: hmm(14, 300, 300, emit=gaussian(5, 10, 0.5, shift=20.0)),
        "Gauss, all times 1000": lambda: hmm(15, 300, 300, emit=gaussian(5, 10, 0.5, [1000.0] * 10)),
        "Gauss, all by 1000": lambda: hmm(15, 300, 300, emit=gaussian(5, 10, 0.5, [0.001] * 10)),
    }


KEEL = ["australian", "banana", "german", "heart", "ionosphere", "led7digit", "letter", "magic", "movement_libras", "mushroom",
        "optdigits", "penbased", "phoneme", "pima", "satimage", "segment", "sonar", "spambase", "splice", "texture",
        "tic-tac-toe", "twonorm", "vehicle", "vowel"]


def keel(folder, name, seed, most=4000):
    """Rows with numbers as they are; a column of names becomes indicators."""
    rows = [r for r in csv.reader((folder / f"{name}.dat").open(), skipinitialspace=True) if r and r[0][0] != "@"]
    rows = [[v.strip() for v in r] for r in rows if "?" not in r and "<null>" not in r]

    def number(text):
        try:
            return float(text)
        except ValueError:
            return None

    numeric = [all(number(r[j]) is not None for r in rows) for j in range(len(rows[0]) - 1)]
    made = [(r[-1], {(f"c{j}" if numeric[j] else f"c{j}={v}"): (number(v) if numeric[j] else 1.0) for j, v in enumerate(r[:-1])})
            for r in rows]
    random.Random(seed).shuffle(made)
    made = made[:2 * most]
    return made[:len(made) // 2], made[len(made) // 2:]


def symbolic(path):
    return [(r[-1], ones(f"{j}{v}" for j, v in enumerate(r[:-1]))) for r in csv.reader(path.open(encoding="latin-1"))]


def reviews(folder):
    """Reviews in Chinese: characters and pairs of them, each counted once."""
    made = []
    for label in ("pos", "neg"):
        for line in (folder / f"{label}.txt").read_text().splitlines()[:4000]:
            made.append((label, ones({*line, *map("".join, zip(line, line[1:]))})))
    return split(made, 4)


def rows(folder):
    f = Path(folder)
    found = {name: (lambda name=name: keel(f / "keel", name, 1)) for name in KEEL}
    found["diminutives"] = lambda: (symbolic(f / "dimin.train"), symbolic(f / "dimin.test"))
    found["reviews"] = lambda: reviews(f)
    return found


def arff(path, labels):
    """Rows of a file in ARFF, dense or sparse: labels that are 1, and the other columns."""
    names, kinds, made = [], [], []
    lines = iter(path.read_text(errors="replace").splitlines())
    for line in lines:
        if m := re.match(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s+(.*)", line, re.I):
            names.append(m[1].strip("'\"").replace("\\", ""))
            kinds.append([v.strip().strip("'\"") for v in m[2].strip().strip("{}").split(",")] if "{" in m[2] else None)
        if line.lower().startswith("@data"):
            break
    for line in lines:
        line = line.strip()
        if not line or line[0] == "%":
            continue
        if line[0] == "{":
            pairs = [p.strip().split(None, 1) for p in line.strip("{}").split(",") if p.strip()]
            values = {int(j): v.strip("'\"") for j, v in pairs}
        else:
            values = {j: v.strip().strip("'\"") for j, v in enumerate(line.split(","))}
        on, attributes = [], {}
        for j, v in values.items():
            if names[j] in labels:
                on += [names[j]] if v == "1" else []
            elif kinds[j] in (None, ["0", "1"]):
                attributes[f"c{j}"] = float(v)
            else:
                attributes[f"c{j}={v}"] = 1.0
        made.append((on, {a: v for a, v in attributes.items() if v}))
    return made


SETS = ["scene", "emotions", "medical", "enron", "bibtex", "birds", "flags", "cal500", "genbase"]


def sets(folder):
    def make(name):
        f = Path(folder)
        labels = set(re.findall(r'label name="([^"]*)"', (f / f"ml-{name}.xml").read_text()))
        if not (f / f"ml-{name}-train.arff").exists():
            return split(arff(f / f"ml-{name}.arff", labels), 1)
        return tuple(arff(f / f"ml-{name}-{part}.arff", labels) for part in ("train", "test"))

    return {name: (lambda name=name: make(name)) for name in SETS}
