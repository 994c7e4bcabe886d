//! Checkpoints of a training, and going on from one.

use super::lambda;
use crate::args::{Lambda, TrainArgs};
use crate::screen::Screen;
use anyhow::{Result, anyhow, bail};
use maxmargin::{Checkpoint, CheckpointError, CheckpointEvery, Settings};
use maxmargin_io::{
    CheckpointFileError, Fingerprint, HeldOut, LambdaSource, Spec, Training, load_checkpoint,
    save_checkpoint,
};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How often a checkpoint is written unless told otherwise.
const EVERY: CheckpointEvery = CheckpointEvery::Seconds(60.0);

/// What a run is a run of, and what it has said so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) examples: usize,
    pub(super) fingerprint: Fingerprint,
    pub(super) held_out: Option<HeldOut>,
    /// Of data named to validate on.
    pub(super) validation: Option<Fingerprint>,
    pub(super) spec: Spec,
    pub(super) lambda_source: Option<LambdaSource>,
    /// The trace up to here, as JSON lines.
    trace: String,
}

impl Note {
    /// Of a run on `data`, from which nothing has been taken out yet.
    pub(super) fn new(data: &Training) -> Self {
        Self {
            examples: data.examples.len(),
            fingerprint: data.origin.fingerprint,
            held_out: None,
            validation: None,
            spec: data.spec.clone(),
            lambda_source: None,
            trace: String::new(),
        }
    }
}

/// A run to go on with.
pub(super) struct Resumed {
    path: PathBuf,
    checkpoint: Checkpoint<'static>,
    note: Note,
}

impl Resumed {
    /// Reads the checkpoint, if there is to be one, and makes sure that its settings are those of
    /// now. If λ was to be chosen, it has been.
    pub(super) fn read(args: &TrainArgs, settings: &mut Settings) -> Result<Option<Self>> {
        let Some(path) = &args.resume else { return Ok(None) };
        let name = path.display();
        let (checkpoint, note) = load_checkpoint::<Note>(path).map_err(|error| match &error {
            CheckpointFileError::Read { reason, .. }
                if reason.kind() == io::ErrorKind::NotFound =>
            {
                anyhow!(
                    "{name}: there is no such checkpoint\n\
                     hint: a run that is cut short before its first checkpoint leaves none; \
                     begin it again with --checkpoint {name}"
                )
            }
            CheckpointFileError::Content { reason: CheckpointError::Foreign, .. } => {
                anyhow!("{error}\nhint: a checkpoint is a file that --checkpoint has written")
            }
            _ => error.into(),
        })?;
        let rule = lambda::rule(&args.settings, settings);
        if !matches!(rule, Lambda::Value(_)) {
            let then = note.lambda_source.as_ref().map_or("given", LambdaSource::name);
            if then != rule.name() {
                let then = match then {
                    "given" => "a --lambda of its own".to_owned(),
                    rule => format!("--lambda {rule}"),
                };
                bail!("{name}: the run was begun with {then}, not with --lambda {}", rule.name());
            }
            // It has been found.
            settings.lambda = checkpoint.settings().lambda;
        }
        checkpoint
            .check_settings(settings)
            .map_err(|error| super::train::as_option(error).context(name.to_string()))?;
        Ok(Some(Self { path: path.clone(), checkpoint, note }))
    }

    /// Where the λ of the run comes from.
    pub(super) fn lambda_source(&self) -> &LambdaSource {
        self.note.lambda_source.as_ref().unwrap_or(&LambdaSource::Given)
    }

    /// Refuses a run of something else.
    pub(super) fn check(&self, now: &Note, patience: bool, nouns: &str) -> Result<()> {
        let (name, then) = (self.path.display(), &self.note);
        if then.fingerprint != now.fingerprint || then.examples != now.examples {
            bail!(
                "{name}: the run was begun on other data: {} {nouns} with the fingerprint {}, \
                 not {} with {}",
                then.examples,
                then.fingerprint,
                now.examples,
                now.fingerprint
            );
        }
        let other = difference(&then.spec, &now.spec).unwrap_or("");
        for (option, same) in [
            (other, other.is_empty()),
            ("--validation", !patience || then.validation == now.validation),
        ] {
            if !same {
                bail!(
                    "{name}: the run was begun with another {option}\n\
                     hint: only limits may change: --tolerance, --max-passes, --max-oracle-calls, \
                     --max-seconds, --patience, and --threads"
                );
            }
        }
        Ok(())
    }

    /// The checkpoint, and the trace of the run up to it.
    pub(super) fn into_parts(self) -> (Option<Checkpoint<'static>>, String) {
        (Some(self.checkpoint), self.note.trace)
    }
}

/// The option by which two models differ.
fn difference(then: &Spec, now: &Spec) -> Option<&'static str> {
    match (then, now) {
        _ if then == now => None,
        _ if then.kind() == now.kind() && then.rescaling() != now.rescaling() => {
            Some("--rescaling")
        }
        (Spec::Chain(then), Spec::Chain(now)) => {
            let differ = [
                (then.shape.groups != now.shape.groups, "--without"),
                (then.loss.normalised != now.loss.normalised, "--loss"),
                (then.loss.label_weights != now.loss.label_weights, "--label-weight"),
                (then.shape.transition_scale != now.shape.transition_scale, "--transition-scale"),
            ];
            differ.into_iter().find(|(differ, _)| *differ).map_or(Some("--model"), |o| Some(o.1))
        }
        (Spec::Segment(then), Spec::Segment(now)) => {
            let differ = [
                (then.shape.longest != now.shape.longest, "--longest"),
                (then.shape.firsts != now.shape.firsts, "--without"),
                (then.normalised != now.normalised, "--loss"),
                (then.label_weights != now.label_weights, "--label-weight"),
            ];
            differ.into_iter().find(|(differ, _)| *differ).map_or(Some("--model"), |o| Some(o.1))
        }
        _ if then.kind() == now.kind() => Some("option for the model"),
        _ => Some("--model"),
    }
}

/// Writes checkpoints of a run.
pub(super) struct Saver {
    pub(super) path: PathBuf,
    pub(super) every: CheckpointEvery,
    note: Note,
    /// The trace so far, to which an observer adds.
    pub(super) lines: SharedLines,
    screen: Screen,
    failure: Option<io::Error>,
}

impl Saver {
    /// Checkpoints go to the file that is named, or to the one that is resumed. Another that is there
    /// already is not written over, for a run may depend on it.
    pub(super) fn check_target(args: &TrainArgs) -> Result<()> {
        let (to, from) = (args.checkpoint.as_deref(), args.resume.as_deref());
        if args.checkpoint_every.is_some() && to.or(from).is_none() {
            bail!("--checkpoint-every has no meaning without --checkpoint or --resume");
        }
        let place = |path: &Path| std::fs::canonicalize(path).ok();
        if let Some(to) = to
            && std::fs::metadata(to).is_ok_and(|found| found.is_file())
            && from.and_then(place) != place(to)
        {
            let name = to.display();
            bail!(
                "{name}: the file is there already, and a checkpoint is not written over\n\
                 hint: go on with its run by --resume {name}, or name another file"
            );
        }
        Ok(())
    }

    pub(super) fn new(
        path: &Path,
        args: &TrainArgs,
        note: Note,
        earlier: &str,
        screen: &Screen,
    ) -> Self {
        Self {
            path: path.to_owned(),
            every: args.checkpoint_every.unwrap_or(EVERY),
            note,
            lines: SharedLines::new(earlier),
            screen: screen.clone(),
            failure: None,
        }
    }

    /// Writes a checkpoint. A failure does not end the training, which is worth more, but is told at
    /// once, and again at the end unless a later one could be written.
    pub(super) fn save(&mut self, checkpoint: &Checkpoint<'_>) -> io::Result<()> {
        self.note.trace = self.lines.text();
        self.failure = save_checkpoint(&self.path, checkpoint, &self.note).err();
        if let Some(error) = &self.failure {
            self.screen.warn(format!("warning: {error}; training goes on"));
        }
        Ok(())
    }

    /// The failure of the last checkpoint, if it was one.
    pub(super) fn finish(self) -> io::Result<()> {
        self.failure.map_or(Ok(()), Err)
    }
}

/// Lines that are written in one place and read in another.
#[derive(Clone, Default)]
pub(super) struct SharedLines(Rc<RefCell<Vec<u8>>>);

impl SharedLines {
    fn new(text: &str) -> Self {
        Self(Rc::new(RefCell::new(text.as_bytes().to_vec())))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

impl io::Write for SharedLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
