//! `maxmargin demo`

use super::conclusion::conclude;
use super::figures::{make_folder, write_figures};
use super::lambda;
use super::session::{Company, Task};
use super::train::{Test, on_ctrl_c, write_file};
use crate::args::{DemoArgs, Pictures};
use crate::kind::chain::Predictor;
use crate::kind::{ChainKind, Kind as _, Labelled, Training, Vocabulary, label_name};
use crate::report::{self, Trace};
use crate::screen::Screen;
use anyhow::Result;
use maxmargin::model::chain::{ChainShape, Hamming, Sequence, Sequences};
use maxmargin::{Average, Settings};
use maxmargin_io::ocr::{Bitmap, COLUMNS, draw_word};
use maxmargin_io::{ChainSpec, LabelRule, Model, Origin, Source, atomic_write, read_training};
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
    make_folder(folder)?;

    let data = read_training(Source::resolve(DATA)?.open(None)?)?;
    screen.say(format!(
        "Learning to read: {} handwritten words of {} letters in all ({DATA}).",
        data.sequences.len(),
        data.sequences.tokens()
    ));
    let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    let spec = ChainSpec { shape, loss: Hamming::default(), kernel: None };
    let origin = Origin::from(&data);
    let data = Training::<ChainKind> { examples: data.sequences, origin, spec: spec.clone() };
    let task = Task::default();
    screen.say("Choosing lambda, the strength of regularization: that with the fewest errors on");
    screen.say("a tenth of the words held out. Then the training, on all of them.");
    on_ctrl_c(&screen)?;
    let lambda = Some(lambda::choose(&task, &data, None, &settings(), &Screen::new(true))?);
    let settings = Settings { lambda, ..settings() };
    let mut trace = Trace::default().with_blocks(true);
    let model = atomic_write(folder.join("trace.jsonl"), |to| {
        let company = Company { lines: Some(to), ..Company::default() };
        task.train(data, &settings, &screen, &mut trace, company)
    })?;
    let test = ChainKind::read(&Vocabulary::of(&model), &spec, TEST, None, LabelRule::Count)?;
    let errors = ChainKind::errors(&spec, &model.weights, &test.examples);
    let test: Test<ChainKind> = Test { errors, data: test };

    model.save(folder.join("model.safetensors"))?;
    let page = report::page(&model, &spec, &trace, Some(&test), &Pictures::default(), DATA);
    write_file(&folder.join("report.html"), page.to_html().as_bytes())?;
    write_figures(&folder.join("figures"), &page.figures())?;

    conclude(&model, Some(&test), args.talk)?;
    if !args.talk.json && !args.talk.quiet {
        super::print(&drawings(&model, &spec, &test.data))?;
    }
    screen.say(format!(
        "In {}: model.safetensors, trace.jsonl, report.html to look at, and its figures.",
        folder.display()
    ));
    let model = folder.join("model.safetensors");
    screen.say(format!("hint: check the proof with `maxmargin verify {} {DATA}`", model.display()));
    screen
        .say("hint: for data of your own, `maxmargin train DATA --lambda auto --average weighted`");
    Ok(ExitCode::SUCCESS)
}

/// A few test words with their true and predicted spelling, right and wrong ones, no word twice.
fn drawings(model: &Model, spec: &ChainSpec, test: &Labelled<Sequences>) -> String {
    let mut predictor = Predictor::new(spec, &model.weights);
    let mut text = String::new();
    let mut shown: Vec<&[u32]> = Vec::new();
    let (mut right, mut wrong) = (0, 0);
    for sequence in test.examples.iter() {
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
        labels.iter().map(|&label| under(label_name(&model.labels, label))).collect()
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
