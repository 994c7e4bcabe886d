"""Training on a cluster from the command line::

    python -m maxmargin train 'train/part-*.txt.gz' --cluster ray -o model.safetensors

What it writes is an ordinary model: the command ``maxmargin`` predicts and verifies with it, without a cluster.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from typing import Any

#: The estimators of files that are no sequences.
FORMATS = {
    "libsvm": "MulticlassSVM",
    "multilabel": "MultilabelSVM",
    "factor-graph": "FactorGraphSVM",
    "superpixels": "PottsSVM",
}


def parser() -> argparse.ArgumentParser:
    """The options."""
    root = argparse.ArgumentParser(prog="python -m maxmargin", allow_abbrev=False)
    verbs = root.add_subparsers(dest="verb", required=True)
    train = verbs.add_parser("train", help="train a model on a cluster", allow_abbrev=False)
    train.add_argument("data", nargs="+", help="files, or a pattern in quotes; workers read them")
    train.add_argument(
        "--cluster",
        required=True,
        metavar="ENGINE[://ADDRESS]",
        help="ray, ray://host:10001, dask, dask://host:8786, or serial for shards that take turns here",
    )
    train.add_argument("--workers", type=int, default=2, help="the number of shards (default: 2)")
    train.add_argument("--checkpoint", help="a folder that all workers can reach")
    train.add_argument(
        "--local-passes", type=passes, default="auto", help="passes in a round (default: auto)"
    )
    train.add_argument("--lambda", dest="lam", default="scale", help="a number, scale or 1/n")
    train.add_argument("--tolerance", default="1%", help="a gap, or a share of the objective in %%")
    train.add_argument("--max-passes", type=int, default=1000)
    train.add_argument("--max-seconds", type=float)
    train.add_argument("--seed", type=int)
    train.add_argument(
        "--format",
        help=f"the format of the files, which are sequences unless it is one of {', '.join(FORMATS)}",
    )
    train.add_argument("--template", help="words, words+pos or chunking, for columns of words")
    train.add_argument(
        "--transition-scale",
        default="auto",
        help="a number, or auto: the value of transitions and biases",
    )
    train.add_argument("-o", "--output", help="the model file")
    train.add_argument("--report", help="a page about the rounds")
    train.add_argument("-q", "--quiet", action="store_true")
    return root


def backend_of(options: argparse.Namespace) -> Any:
    """The engine that ``--cluster`` names."""
    from .distributed import DaskBackend, RayBackend, SerialBackend

    shared = {"checkpoint": options.checkpoint, "local_passes": options.local_passes}
    engine, separator, address = options.cluster.partition("://")
    if engine == "ray":
        where = options.cluster if separator else None
        return RayBackend(options.workers, address=where, **shared)
    if engine == "dask":
        where = f"tcp://{address}" if separator else None
        return DaskBackend(options.workers, address=where, **shared)
    if engine == "serial" and not separator:
        return SerialBackend(options.workers, **shared)
    raise ValueError(f"--cluster {options.cluster} is not known; there are ray, dask and serial")


def passes(text: str) -> int | str:
    """A number of passes, or auto."""
    return text if text == "auto" else int(text)


def number_or_name(text: str) -> float | str:
    """A number where the text is one."""
    try:
        return float(text)
    except ValueError:
        return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    options = parser().parse_args(arguments)
    try:
        return train(options)
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def train(options: argparse.Namespace) -> int:
    """Trains, and tells what has come of it."""
    import maxmargin

    from . import ChainSVM
    from .distributed import write_rounds
    from .distributed._fit import files_of
    from .io import SequenceFile

    if not options.quiet:
        logging.basicConfig(format="%(message)s", level=logging.INFO)
    files = [file for pattern in options.data for file in files_of(pattern) or []]
    given: dict[str, Any] = {
        "lam": number_or_name(options.lam),
        "tol": number_or_name(options.tolerance),
        "max_passes": options.max_passes,
        "max_seconds": options.max_seconds,
        "random_state": options.seed,
        "backend": backend_of(options),
    }
    data: Any = files
    if options.format in FORMATS:
        if options.template is not None:
            raise ValueError("--template goes with columns of words")
        if options.transition_scale != "auto":
            raise ValueError("--transition-scale goes with sequences")
        model = getattr(maxmargin, FORMATS[options.format])(**given)
    else:
        given["template"] = options.template
        given["transition_scale"] = number_or_name(options.transition_scale)
        model = ChainSVM(**given)
        data = [SequenceFile(file, options.format) for file in files]
    model.fit(data)
    c = model.certificate_
    print(f"{model.status_}: primal {c.primal:.6f}, dual {c.dual:.6f}, gap {c.gap:.4g}")
    if options.output:
        model.save(options.output)
        print(f"model written to {options.output}")
    if options.report:
        write_rounds(model, options.report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
