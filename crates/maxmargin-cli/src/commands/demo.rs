//! `maxmargin demo`

use super::lambda;
use super::train::{Company, Task, Test, conclude, on_ctrl_c, write_file};
use crate::args::DemoArgs;
use crate::chain::{self, Predictor, Vocabulary};
use crate::report::{self, Trace};
use crate::screen::Screen;
use anyhow::{Context as _, Result};
use maxmargin::model::chain::{ChainShape, Hamming, Sequence};
use maxmargin::{Average, GroupBounds, Settings};
use maxmargin_io::ocr::{Bitmap, COLUMNS, draw_word};
use maxmargin_io::{LabelRule, Model, Source, atomic_write, read_training};
use std::ops::RangeInclusive;
use std::process::ExitCode;

const DATA: &str = "ocr-small";
const TEST: &str = "ocr-small:test";

/// Words drawn on the screen.
const SHOWN: usize = 4;

/// Longer words would not fit on a terminal of 80 columns.
const SHOWN_LENGTHS: RangeInclusive<usize> = 4..=8;

/// What a newcomer should use: λ chosen on data held out, and an average of the iterates. It makes as
/// few errors as the λ that is best on the test data; early stopping makes more, for lack of the tenth
/// that it holds out.
fn settings() -> Settings {
    Settings { average: Average::Weighted, ..Settings::default() }
}

pub(super) fn run(args: &DemoArgs) -> Result<ExitCode> {
    let screen = Screen::new(args.talk.quiet);
    let folder = &args.out;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: the folder cannot be made", folder.display()))?;

    let mut data = read_training(Source::resolve(DATA)?.open(None)?)?;
    screen.say(format!(
        "Learning to read: {} handwritten words of {} letters in all ({DATA}).",
        data.sequences.len(),
        data.sequences.tokens()
    ));
    let task = Task {
        shape: ChainShape::new(data.labels.len(), data.attributes.len()),
        loss: Hamming::default(),
        bounds: GroupBounds::default(),
        start: None,
    };
    screen.say("Choosing lambda, the strength of regularization: that with the fewest errors on");
    screen.say("a tenth of the words held out. Then the training, on all of them.");
    on_ctrl_c(&screen)?;
    let lambda = Some(lambda::choose(&task, &data, None, &settings(), &Screen::new(true))?);
    let settings = Settings { lambda, ..settings() };
    let mut trace = Trace::default();
    let model = atomic_write(folder.join("trace.jsonl"), |to| {
        let company = Company { lines: Some(to), ..Company::default() };
        task.train(&mut data, &settings, &screen, &mut trace, company)
    })?;
    let test = Vocabulary::of(&model).read(TEST, None, LabelRule::Count)?;
    let test = Test { errors: chain::errors(&model, &test), data: test };

    model.save(folder.join("model.safetensors"))?;
    let page = report::page(&model, &trace, Some(&test), DATA).to_html();
    write_file(&folder.join("report.html"), page.as_bytes())?;

    conclude(&model, Some(&test), args.talk)?;
    if !args.talk.json && !args.talk.quiet {
        super::print(&drawings(&model, &test))?;
    }
    screen.say(format!(
        "In {}: model.safetensors, trace.jsonl, and report.html to look at.",
        folder.display()
    ));
    let model = folder.join("model.safetensors");
    screen.say(format!("hint: check the proof with `maxmargin verify {} {DATA}`", model.display()));
    screen
        .say("hint: for data of your own, `maxmargin train DATA --lambda auto --average weighted`");
    Ok(ExitCode::SUCCESS)
}

/// A few test words with their true and predicted spelling, right and wrong ones, no word twice.
fn drawings(model: &Model, test: &Test) -> String {
    let mut predictor = Predictor::new(model);
    let mut text = String::new();
    let mut shown: Vec<&[u32]> = Vec::new();
    let (mut right, mut wrong) = (0, 0);
    for sequence in test.data.sequences.iter() {
        if !SHOWN_LENGTHS.contains(&sequence.len()) || shown.contains(&sequence.labels()) {
            continue;
        }
        let predicted = predictor.predict(sequence);
        let count = if predicted == sequence.labels() { &mut right } else { &mut wrong };
        if *count < SHOWN / 2 {
            *count += 1;
            shown.push(sequence.labels());
            text.push_str(&drawing(model, sequence, predicted));
        }
    }
    text
}

fn drawing(model: &Model, sequence: Sequence<'_>, predicted: &[u32]) -> String {
    let letters: Vec<Bitmap> = sequence.tokens().map(|token| Bitmap::from_token(&token)).collect();
    let under = |mark: &str| format!("{mark:^COLUMNS$} ");
    let spell = |labels: &[u32]| -> String {
        labels.iter().map(|&label| under(chain::label_name(model, label))).collect()
    };
    let truth = sequence.labels();
    let mut lines: Vec<String> =
        draw_word(&letters).lines().map(|line| format!("     {line}")).collect();
    lines.push(format!("true {}", spell(truth)));
    lines.push(format!("read {}", spell(predicted)));
    if predicted != truth {
        let marks =
            truth.iter().zip(predicted).map(|(a, b)| under(if a == b { "" } else { "✗" }));
        lines.push(format!("     {}", marks.collect::<String>()));
    }
    lines.iter().fold("\n".to_owned(), |text, line| text + line.trim_end() + "\n")
}
