"""What Python costs over the command line: the same training on the same file.

    python benchmarks/python/overhead.py MAXMARGIN TRAIN [--passes N] [--repeat N] [--on CORE]

MAXMARGIN is the program, built with `cargo build --release`. All read the file, train the same passes
with the same settings and write the model, each in a process of its own. Seconds are processor time of
that process from its start to its end; medians are less what a process takes that only imports the
package.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

SETTINGS = "lam=1e-4, tol=0, max_passes={passes}, solver='bcfw', n_jobs=1"
IMPORT = "import warnings; import maxmargin; warnings.simplefilter('ignore'); "
FILE = "X, y = maxmargin.SequenceFile({train!r}, 'conll'), None; "
DICTIONARIES = "X, y = maxmargin.read_sequences({train!r}, 'conll'); "
#: Words and parts of speech as Python has them, of which the library makes attributes.
COLUMNS = "X, y = maxmargin.read_columns({train!r}); "
FIT = "maxmargin.ChainSVM(" + SETTINGS + ").fit(X, y).save({model!r})"
FIT_COLUMNS = FIT.replace("ChainSVM(", "ChainSVM(template='chunking', ")
#: The parts of the way by dictionaries, without training.
PREPARE = "maxmargin.ChainSVM(" + SETTINGS + ")._prepare(X, y)"


def seconds(command):
    """Processor time of a command."""

    def children():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    begin = children()
    subprocess.run(command, check=True)
    return children() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("train")
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--on", type=int, help="the core to run on")
    args = parser.parse_args()
    if args.on is not None:
        os.sched_setaffinity(0, {args.on})
    with tempfile.NamedTemporaryFile() as file:
        options = (
            f"--lambda 1e-4 --tolerance 0 --max-passes {args.passes} --solver bcfw --threads 1"
        )
        options += f" --format conll -q -o {file.name}"
        given = {"train": args.train, "passes": args.passes, "model": file.name}

        def python(*parts):
            return [sys.executable, "-c", "".join((IMPORT, *parts)).format(**given)]

        ways = {
            "import": python(),
            "command line": [args.program, "train", args.train, *options.split()],
            "file": python(FILE, FIT),
            "columns": python(COLUMNS, FIT_COLUMNS),
            "columns, reading": python(COLUMNS),
            "dictionaries": python(DICTIONARIES, FIT),
            "dictionaries, reading": python(DICTIONARIES),
            "and into index form": python(DICTIONARIES, PREPARE),
        }
        taken = {name: [] for name in ways}
        for _ in range(args.repeat):
            for name, command in ways.items():
                taken[name].append(seconds(command))
            print("; ".join(f"{name} {own[-1]:.2f} s" for name, own in taken.items()), flush=True)
    middle = {name: statistics.median(own) for name, own in taken.items()}
    base = middle["command line"]
    # What the interpreter and its imports take is no part of what is compared.
    middle = {
        name: own - middle["import"] * (name not in ("import", "command line"))
        for name, own in middle.items()
    }
    print("medians:")
    for name, own in middle.items():
        print(f"  {name:22} {own:.2f} s  {100 * (own / base - 1):+.0f} %")


if __name__ == "__main__":
    main()
