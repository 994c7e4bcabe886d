#!/usr/bin/env python3
"""What held-out errors of chains do when all attributes are multiplied by a number, at the defaults.

    python benchmarks/lambda_scale.py prepare FOLDER DATA    # once: the cuts of real training data
    python benchmarks/averages.py prepare FOLDER             # once: synthetic chains
    python benchmarks/attribute_scale.py FOLDER PROGRAM SCALE,... TASK ...

A TASK is the name of a cut in the format of CRFsuite. `chunka-N` is `chunk-N` with the attributes of CRFsuite's
example. The rule for lambda follows the scale; features of transitions and biases stay 1. No test data take part.
"""

import json
import subprocess
import sys
from pathlib import Path

from defaults import chunk_attributes, write_sequences
from lambda_scale import blocks


def expand(folder, task):
    """Writes the attributes of columns of words, parts of speech and chunks."""
    for part in ("train", "held"):
        found = []
        for sentence in blocks((folder / f"{task.replace('chunka', 'chunk')}.{part}").read_text().splitlines()):
            columns = [line.split() for line in sentence]
            words, tags = [c[0] for c in columns], [c[1] for c in columns]
            found.append([(c[2], chunk_attributes(words, tags, t)) for t, c in enumerate(columns)])
        write_sequences(folder / f"{task}.{part}", found)


def main():
    folder, program, scales, *tasks = sys.argv[1:]
    folder = Path(folder)
    for task in tasks:
        if task.startswith("chunka") and not (folder / f"{task}.train").exists():
            expand(folder, task)
        cells = []
        for scale in map(float, scales.split(",")):
            files = []
            for part in ("train", "held"):
                text = (folder / f"{task}.{part}").read_text().splitlines()
                fields = (line.split("\t") for line in text)
                files.append(folder / f"scaled.{part}")
                lines = ("\t".join([label, *(f"{a}:{scale:g}" for a in own)]) for label, *own in fields)
                files[-1].write_text("\n".join(lines) + "\n\n")
            command = [program, "train", str(files[0]), "--test", str(files[1]), "-q", "--json", "--format", "crfsuite"]
            found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            cells.append(f"{100 * found['test']['hamming']:.2f}")
        print(f"| {task} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
