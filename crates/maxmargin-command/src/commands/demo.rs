//! `maxmargin demo`

use super::conclusion::conclude;
use super::figures::{make_folder, write_figures};
use super::session::{self, SessionIo};
use super::train::{Test, write_file};
use crate::args::{DemoArgs, Pictures};
use crate::kind::tested::Look;
use crate::kind::{Vocabulary, kind_of, label_name};
use crate::report::{self, Sources, Trace};
use crate::screen::{Screen, on_ctrl_c};
use anyhow::Result;
use maxmargin::Settings;
use maxmargin::model::chain::{ChainShape, Hamming, Sequence, Sequences};
use maxmargin_io::ocr::{Bitmap, COLUMNS, draw_word};
use maxmargin_io::{
    ChainPredictor, ChainSpec, LabelRule, LambdaSource, Model, Origin, Rescaling, Source, Spec,
    Training, TrainingPlan, atomic_write, default_settings, read_training,
};
use std::ops::RangeInclusive;
use std::process::ExitCode;

const DATA: &str = "ocr-small";
const TEST: &str = "ocr-small:test";

/// Words drawn on the screen.
const SHOWN: usize = 4;

/// Longer words would not fit on a terminal of 80 columns.
const SHOWN_LENGTHS: RangeInclusive<usize> = 4..=8;

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
    let loss = Hamming { normalised: false, ..Hamming::default() };
    let spec = ChainSpec { shape, loss, kernel: None, rescaling: Rescaling::Margin };
    let origin = Origin::from(&data);
    let mut data = Training { examples: data.sequences.into(), origin, spec: spec.into() };
    data.fit_transition_scale();
    on_ctrl_c(&screen)?;
    // What `train` does without any options.
    let scale = data.scale_lambda(&Default::default(), default_settings().seed)?;
    let plan =
        TrainingPlan { lambda_source: Some(LambdaSource::Scale(scale)), ..TrainingPlan::default() };
    let settings = Settings { lambda: Some(scale.lambda), ..default_settings() };
    let mut trace = Trace::default().with_blocks(true);
    let model = atomic_write(folder.join("trace.jsonl"), |to| {
        let io = SessionIo { lines: Some(to), ..SessionIo::default() };
        session::train(data, &plan, &settings, &screen, &mut trace, io)
    })?;
    let names = Vocabulary::of(&model);
    let test = kind_of(&model.meta.spec)?.read(&names, TEST, None, LabelRule::Count)?;
    screen.busy("testing the model and drawing the report");
    let test = Test::new(&model, test, settings.threads)?;

    model.save(folder.join("model.safetensors"))?;
    let sources = Sources {
        about: DATA,
        trace: Some(&trace),
        curve: None,
        test: Some((&test.data, TEST)),
        look: Look {
            pictures: &Pictures::default(),
            seed: settings.seed,
            threads: settings.threads,
        },
        line: &args.line,
    };
    let page = report::page(&model, &sources)?;
    write_file(&folder.join("report.html"), page.to_html().as_bytes())?;
    write_figures(&folder.join("figures"), &page.figures())?;

    screen.done();
    conclude(&model, Some(&test), args.talk)?;
    if let (false, Some(words)) =
        (args.talk.json || args.talk.quiet, test.data.examples.sequences())
    {
        super::print(&drawings(&model, words))?;
    }
    screen.say(format!(
        "In {}: model.safetensors, trace.jsonl, report.html to look at, and its figures.",
        folder.display()
    ));
    let model = folder.join("model.safetensors");
    screen.say(format!("hint: check the proof with `maxmargin verify {} {DATA}`", model.display()));
    screen.say("hint: for data of your own, `maxmargin train DATA`");
    Ok(ExitCode::SUCCESS)
}

/// A few test words with their true and predicted spelling, right and wrong ones, no word twice.
fn drawings(model: &Model, test: &Sequences) -> String {
    let Spec::Chain(spec) = &model.meta.spec else { return String::new() };
    let mut predictor = ChainPredictor::new(spec, &model.weights);
    let mut text = String::new();
    let mut shown: Vec<&[u32]> = Vec::new();
    let (mut right, mut wrong) = (0, 0);
    for sequence in test.iter() {
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
