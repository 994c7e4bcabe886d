//! Where experiments are made: the data at hand, and races on them.

use anyhow::{Context as _, Result};
use clap::Parser;
use maxmargin::Settings;
use maxmargin_command::lab::{ALL, CompareArgs, Comparison, Method, Screen, compare_what_applies};
use maxmargin_report::slug;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

/// A data set of the papers, or what stands in for it.
#[derive(Clone, Copy)]
pub(super) struct DataSet {
    pub(super) name: &'static str,
    /// As arguments of `compare`; `{data}` is the folder of data sets.
    words: &'static str,
    /// The options for its test data.
    pub(super) test: &'static str,
    /// The file that is needed, unless the data ship with the program.
    file: Option<&'static str>,
    /// What it is instead of, if it is not what the papers used.
    instead: Option<&'static str>,
}

pub(super) const OCR_SMALL: DataSet = DataSet {
    name: "OCR small",
    words: "ocr-small --loss normalised-hamming --transition-scale 1",
    test: "--test ocr-small:test",
    file: None,
    instead: None,
};
pub(super) const OCR_LARGE: DataSet = DataSet {
    name: "OCR large",
    words: "ocr-large --loss normalised-hamming --transition-scale 1",
    test: "--test ocr-large:test",
    file: None,
    instead: None,
};
pub(super) const CONLL: DataSet = DataSet {
    name: "CoNLL-2000",
    words: "{data}/conll2000_train.txt.gz --template chunking --min-count 3 \
            --loss normalised-hamming --transition-scale 1",
    test: "--test {data}/conll2000_test.txt.gz",
    file: Some("conll2000_train.txt.gz"),
    instead: Some(
        "CoNLL-2000 with 74,658 attributes: here are the 75,289 that occur three times or more",
    ),
};
pub(super) const HORSES: DataSet = DataSet {
    name: "Weizmann horses",
    words: "{data}/weizmann_horses_superpixels.txt.gz:train",
    test: "--test {data}/weizmann_horses_superpixels.txt.gz:test",
    file: Some("weizmann_horses_superpixels.txt.gz"),
    instead: Some(
        "HorseSeg (147 to 25,438 images with other superpixels and features; ours are divided by the number of \
         nodes, so that λ here is the paper's divided by 147²)",
    ),
};
pub(super) const POSES: DataSet = DataSet {
    name: "LSP joints",
    words: "{data}/lsp_joints.tsv.gz:0..100",
    test: "--test {data}/lsp_joints.tsv.gz:1500..1600",
    file: Some("lsp_joints.tsv.gz"),
    instead: Some(
        "LSP small: the same first 100 people, but with simulated score maps for want of the images, \
         λ of its own, and a loss that is full at half a torso instead of a whole one",
    ),
};
pub(super) const LINKS: DataSet = DataSet {
    name: "English–Czech alignments",
    words: "{data}/align_encs_czenali.tsv.gz:train",
    test: "--test {data}/align_encs_czenali.tsv.gz:valid",
    file: Some("align_encs_czenali.tsv.gz"),
    instead: Some("the 5,000 sentence pairs of Taskar et al. with 82 features"),
};
pub(super) const YEAST: DataSet = DataSet {
    name: "Yeast",
    words: "{data}/yeast_train.svm.gz --format multilabel --pairs complete --bias 0",
    test: "--test {data}/yeast_test.svm.gz",
    file: Some("yeast_train.svm.gz"),
    instead: None,
};
pub(super) const YEAST_CONSTANT: DataSet = DataSet {
    name: "Yeast with constants",
    words: "{data}/yeast_train.svm.gz --format multilabel --pairs complete --bias 1",
    test: "--test {data}/yeast_test.svm.gz",
    file: Some("yeast_train.svm.gz"),
    instead: None,
};
pub(super) const REUTERS: DataSet = DataSet {
    name: "Reuters-21578",
    words: "{data}/reuters21578_train.svm.gz --format multilabel --frequent-labels 30 \
            --pairs complete --bias 0",
    test: "--test {data}/reuters21578_test.svm.gz",
    file: Some("reuters21578_train.svm.gz"),
    instead: Some("RCV1"),
};

/// Where, how thoroughly, and on what experiments are made.
pub(super) struct Lab<'a> {
    pub(super) quick: bool,
    /// Whether only runs of before count, and none is made.
    pub(super) finished_only: bool,
    place: Place<'a>,
    /// The data sets that are asked for; all if there are none.
    only: &'a [String],
    pub(super) screen: &'a Screen,
    notes: RefCell<Vec<String>>,
    /// How many runs are not finished, where none is made.
    missing: Cell<usize>,
}

/// Folders of an experiment.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// Where its results go.
    pub(super) folder: &'a Path,
    /// Those of experiments whose runs may be used as well.
    pub(super) others: &'a [PathBuf],
    /// Where data sets are.
    pub(super) data: Option<&'a Path>,
}

/// A race as one would write it after `maxmargin compare`.
#[derive(Parser)]
struct Words {
    #[command(flatten)]
    args: CompareArgs,
}

impl<'a> Lab<'a> {
    pub(super) fn new(
        quick: bool,
        finished_only: bool,
        place: Place<'a>,
        only: &'a [String],
        screen: &'a Screen,
    ) -> Self {
        let lab = Self {
            quick,
            finished_only,
            place,
            only,
            screen,
            notes: RefCell::default(),
            missing: Cell::default(),
        };
        if quick {
            lab.note("A quick look: few seeds, small budgets. Its figures are no more than hints.");
        }
        lab
    }

    /// Where results go.
    pub(super) fn folder(&self) -> &Path {
        self.place.folder
    }

    /// The first where there is time, the second where there is not.
    pub(super) fn or_quick<T>(&self, thorough: T, quick: T) -> T {
        if self.quick { quick } else { thorough }
    }

    /// Takes note of something that has to be known about the results, once.
    pub(super) fn note(&self, text: impl Into<String>) {
        let (text, mut notes) = (text.into(), self.notes.borrow_mut());
        if !notes.contains(&text) {
            self.screen.say(&text);
            notes.push(text);
        }
    }

    /// Counts a run that is not finished, where no run is made.
    pub(super) fn miss(&self) {
        self.missing.set(self.missing.get() + 1);
    }

    pub(super) fn into_notes(self) -> Vec<String> {
        match self.missing.get() {
            0 => {}
            missing => self.note(format!(
                "This is what was finished so far: {missing} runs are missing, or do not apply."
            )),
        }
        self.notes.into_inner()
    }

    /// Whether a data set is at hand.
    pub(super) fn data_has(&self, set: &DataSet) -> bool {
        let found = |file| self.place.data.is_some_and(|folder: &Path| folder.join(file).is_file());
        set.file.is_none_or(found)
    }

    /// The arguments for a data set, if it is at hand, with the options of `compare` besides.
    pub(super) fn args(&self, set: &DataSet, options: &str) -> Result<Option<CompareArgs>> {
        let is_asked_for = |name: &String| slug(name) == slug(set.name);
        if !self.only.is_empty() && !self.only.iter().any(is_asked_for) {
            self.note(format!("{} was left out by --only.", set.name));
            return Ok(None);
        }
        let folder = match (set.file, self.place.data) {
            (None, _) => String::new(),
            (Some(file), None) => {
                self.note(format!("{} was skipped: {file} needs --data FOLDER.", set.name));
                return Ok(None);
            }
            (Some(file), Some(folder)) if !folder.join(file).is_file() => {
                let folder = folder.display();
                self.note(format!("{} was skipped: there is no {file} in {folder}.", set.name));
                return Ok(None);
            }
            (Some(_), Some(folder)) => folder.display().to_string(),
        };
        if let Some(instead) = set.instead {
            self.note(format!("{} instead of {instead}.", set.name));
        }
        let words = format!("compare {} {options}", set.words);
        let words = words.split_whitespace().map(|word| word.replace("{data}", &folder));
        let mut args =
            Words::try_parse_from(words).context("an experiment is written wrongly")?.args;
        args.out = self.place.folder.join(slug(set.name));
        args.methods.retain(|name| match Method::parse(name, &Settings::default()) {
            Ok(_) => true,
            Err(_) if name == ALL => true,
            Err(_) => {
                self.note(format!("{name} was left out: this program does not know it."));
                false
            }
        });
        Ok(Some(args))
    }

    /// Runs methods on a data set, if it is at hand.
    pub(super) fn race(&self, set: &DataSet, options: &str) -> Result<Option<Comparison>> {
        self.race_in(set, options, "")
    }

    /// As [`race`](Self::race), with its traces in a folder of their own.
    pub(super) fn race_in(
        &self,
        set: &DataSet,
        options: &str,
        part: &str,
    ) -> Result<Option<Comparison>> {
        let Some(mut args) = self.args(set, options)? else { return Ok(None) };
        args.out.push(part);
        args.finished_only = self.finished_only;
        let own = |folder: &PathBuf| folder.join(slug(set.name)).join(part).join("traces");
        args.elsewhere = self.place.others.iter().map(own).collect();
        let Some(mut comparison) = compare_what_applies(&args, self.screen)? else {
            self.note(format!("{}: no run is finished.", set.name));
            return Ok(None);
        };
        self.missing.set(self.missing.get() + comparison.results.missing);
        for (method, why) in &comparison.results.skipped {
            self.note(format!("{method} was left out on {}: {why}.", set.name));
        }
        comparison.summary.conditions.data = set.name.to_owned();
        Ok(Some(comparison))
    }
}

/// The arguments for chains that ship with the program, with the papers' loss and features.
pub(super) fn plain_args(data: &str) -> Result<CompareArgs> {
    let papers = ["--loss", "normalised-hamming", "--transition-scale", "1"];
    Ok(Words::try_parse_from(["compare", data].into_iter().chain(papers))
        .context("an experiment is written wrongly")?
        .args)
}
