//! The verbs: what is needed first of each, and examples.

use crate::args::ModelName;

/// How the help of a verb is arranged.
pub(super) struct Verb {
    pub(super) name: &'static str,
    /// The options that most people need, in this order.
    pub(super) first: &'static [&'static str],
    /// Other options and their headings.
    pub(super) headings: &'static [(&'static [&'static str], &'static str)],
    pub(super) examples: &'static [&'static str],
    /// Whether `-h` leaves out what is neither needed first nor output.
    pub(super) has_summary: bool,
}

/// What to begin with.
pub(super) const FIRST: &[&str] = &[
    "maxmargin demo",
    "maxmargin train train.txt --test test.txt -o my.model --report report.html",
    "maxmargin predict my.model new.txt -o labels.txt",
];

/// All verbs, the most needed first.
pub(super) const VERBS: [Verb; 14] = [
    Verb {
        name: "demo",
        examples: &["maxmargin demo", "maxmargin demo --out /tmp/handwriting"],
        ..SMALL
    },
    Verb {
        name: "train",
        first: &["test", "lambda", "model", "format"],
        headings: &[(&["checkpoint", "checkpoint_every", "resume"], "Checkpoints")],
        examples: &[
            "maxmargin train train.txt --test test.txt -o my.model",
            "maxmargin train train.txt --lambda auto --report report.html -o my.model",
        ],
        has_summary: true,
    },
    Verb {
        name: "predict",
        examples: &[
            "maxmargin predict my.model new.txt -o labels.txt",
            "maxmargin predict my.model new.txt --confidence",
        ],
        ..SMALL
    },
    Verb {
        name: "evaluate",
        examples: &[
            "maxmargin evaluate my.model test.txt",
            "maxmargin evaluate my.model test.txt --json",
        ],
        ..SMALL
    },
    Verb { name: "verify", examples: &["maxmargin verify my.model train.txt"], ..SMALL },
    Verb { name: "dump", examples: &["maxmargin dump my.model --top 5"], ..SMALL },
    Verb {
        name: "path",
        first: &["epsilon", "validation", "lambda_min", "model", "format"],
        headings: &[(&["kappa", "heuristic", "grid", "lambda_max", "seed", "threads"], "Path")],
        examples: &[
            "maxmargin path train.txt --validation dev.txt -o best.model",
            "maxmargin path train.txt --path-file all.path --report path.html",
        ],
        has_summary: true,
    },
    Verb {
        name: "pick",
        examples: &[
            "maxmargin pick all.path",
            "maxmargin pick all.path --validation dev.txt -o best.model",
        ],
        ..SMALL
    },
    Verb {
        name: "compare",
        first: &["methods", "test", "budget", "seeds", "lambdas", "model", "format"],
        headings: &[(&["tolerance", "gap_every", "threads", "jobs"], "Training")],
        examples: &[
            "maxmargin compare train.txt --test test.txt --budget 10s",
            "maxmargin compare ocr-small --methods bcfw,bcfw+gap,ssg --seeds 1",
        ],
        has_summary: true,
    },
    Verb { name: "report", examples: &["maxmargin report a.jsonl b.jsonl -o runs.html"], ..SMALL },
    Verb {
        name: "convert",
        examples: &[
            "maxmargin convert train.txt train.data",
            "maxmargin train train.data -o my.model",
        ],
        ..SMALL
    },
    Verb { name: "data", examples: &["maxmargin data"], ..SMALL },
    Verb {
        name: "completions",
        examples: &[
            "maxmargin completions bash > ~/.local/share/bash-completion/completions/maxmargin",
            "maxmargin completions fish > ~/.config/fish/completions/maxmargin.fish",
        ],
        ..SMALL
    },
    Verb { name: "man", examples: &["maxmargin man --out ~/.local/share/man/man1"], ..SMALL },
];

/// A verb with few options, which stay as they are.
const SMALL: Verb = Verb { name: "", first: &[], headings: &[], examples: &[], has_summary: false };

/// How a model of a kind is trained.
pub(super) fn example_of(name: ModelName) -> &'static str {
    match name {
        ModelName::Chain => "maxmargin train train.txt --template chunking -o my.model",
        ModelName::Binary => "maxmargin train rows.svm --model binary --positive 1 -o my.model",
        ModelName::Multiclass => "maxmargin train rows.svm --model multiclass --kernel rbf",
        ModelName::Multilabel => "maxmargin train rows.svm --model multilabel --pairs tree",
        ModelName::FactorGraph => "maxmargin train graphs.jsonl --training soft -o my.model",
        ModelName::Potts => "maxmargin train superpixels.txt --report r.html --images photos",
        ModelName::Tree => "maxmargin train poses.tsv --format pose --joint-kinds 4",
        ModelName::Matching => "maxmargin train pairs.tsv --format alignment --links 2",
        ModelName::Segment => "maxmargin train train.txt --model segment -o my.model",
    }
}
