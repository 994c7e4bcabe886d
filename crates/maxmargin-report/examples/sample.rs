//! Writes a report with made-up data of all kinds of sections.
//!
//! ```text
//! cargo run -p maxmargin-report --example sample -- sample.html
//! ```
//!
//! A second path, if given, receives the first plot as an SVG picture.

use std::process::ExitCode;

use maxmargin_report::{
    Answer, Bar, Bars, Bitmap, Body, Browser, Code, Confusions, Drawing, Example, Fact, Facts,
    Heatmap, Letter, Links, Network, Plot, Prose, Report, Series, Shade, SvgOptions, Table,
    TaggedExample, Theme, Tile, Tiles, Tone, Weights, Word, Words, XAxis, YAxis, format_number,
    format_seconds, plot_svg,
};

/// A small generator of made-up noise, the same on each machine.
struct Noise(u64);

impl Noise {
    /// A number between 0 and 1.
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyz";

fn letters() -> impl Iterator<Item = String> {
    ALPHABET.chars().map(String::from)
}

/// A training run with a row per pass, and a gap check every fourth pass.
fn run(noise: &mut Noise, name: &str, speed: f64, cost: f64) -> Series {
    let rows = 200;
    let best = 0.2713;
    let n = 626.0;
    let mut dual = Vec::new();
    let (mut primal, mut gap) = (Vec::new(), Vec::new());
    let (mut mean, mut zero, mut full) = (Vec::new(), Vec::new(), Vec::new());
    for pass in 1..=rows {
        let pass = f64::from(pass);
        let below = 0.25 / (1.0 + speed * pass).powf(1.3);
        dual.push(best - below);
        let above = below * (2.0 + 1.5 * noise.next());
        let check = pass as u32 % 4 == 1;
        primal.push(check.then_some(best + above));
        gap.push(check.then_some(below + above));
        mean.push(0.4 / (1.0 + 0.1 * speed * pass) * (0.9 + 0.2 * noise.next()));
        zero.push(1.0 - 1.0 / (1.0 + 0.02 * speed * pass));
        full.push(0.2 / (1.0 + 0.2 * pass));
    }
    let passes = || (1..=rows).map(f64::from);
    Series::new(name)
        .column("pass", passes())
        .column("calls", passes().map(move |pass| pass * n))
        .column("seconds", passes().map(move |pass| pass * cost))
        .column("dual", dual)
        .column("primal", primal)
        .column("gap", gap)
        .column("mean", mean)
        .column("zero", zero)
        .column("full", full)
}

fn convergence(heading: &str) -> Plot {
    Plot::new(heading)
        .x(XAxis::new("pass", "Effective passes"))
        .x(XAxis::new("calls", "Oracle calls"))
        .x(XAxis::new("seconds", "Seconds"))
        .y(YAxis::new("gap", "Duality gap").log().guide("Tolerance", 1e-3))
        .y(YAxis::together("Primal and dual objective", [("primal", "Primal"), ("dual", "Dual")]))
        .y(YAxis::new("primal", "Primal objective"))
        .y(YAxis::new("dual", "Dual objective"))
        .y(YAxis::together(
            "Step sizes",
            [
                ("mean", "Mean step"),
                ("zero", "Share of zero steps"),
                ("full", "Share of full steps"),
            ],
        ))
}

fn comparison(noise: &mut Noise) -> Plot {
    let mut plot = Plot::new("Methods compared")
        .note("Medians over ten seeds; the bands reach from the least to the largest value.")
        .x(XAxis::new("pass", "Effective passes").log())
        .y(YAxis::new("gap", "Duality gap").log())
        .y(YAxis::new("error", "Test error <letters & words>"));
    for (name, speed) in
        [("BCFW", 0.5), ("BCFW, gap sampling", 0.8), ("FW", 0.06), ("SSG \"averaged\"", 0.2)]
    {
        let passes: Vec<f64> = (0..60).map(|step| 1.1f64.powi(step)).collect();
        let gap: Vec<f64> =
            passes.iter().map(|pass| 0.8 / (1.0 + speed * pass).powf(1.2)).collect();
        let width: Vec<f64> = passes.iter().map(|_| 1.2 + 0.3 * noise.next()).collect();
        plot = plot.series(
            Series::new(name)
                .column("pass", passes.clone())
                .column("gap", gap.clone())
                .band(
                    "gap",
                    gap.iter().zip(&width).map(|(g, w)| g / w),
                    gap.iter().zip(&width).map(|(g, w)| g * w),
                )
                .column("error", gap.iter().map(|gap| 0.12 + 0.3 * gap)),
        );
    }
    plot
}

/// A made-up letter of 8 × 16 pixels: strokes that depend on the letter.
fn glyph(noise: &mut Noise, letter: char, blur: f64) -> Bitmap {
    let code = letter as u32 - 'a' as u32;
    let mut values = vec![0.0; 128];
    for row in 0..16u32 {
        for column in 0..8u32 {
            let (x, y) = (f64::from(column) - 3.5, f64::from(row) - 7.5);
            let ring =
                ((x * x * 2.2 + y * y).sqrt() - 5.0).abs() < 1.1 && (code & 1 == 0 || y > 0.0);
            let stem = code & 2 != 0 && (column == 1 || column == 2);
            let bar = code & 4 != 0 && (row == 7 || row == 8);
            let tail = code & 8 != 0 && row > 9 && column + 9 == row / 2 * 2;
            let foot = code & 16 != 0 && row >= 13 && column > 1;
            let ink = f64::from(u8::from(ring || stem || bar || tail || foot));
            values[(row * 8 + column) as usize] = if blur > 0.0 {
                (ink - 0.4) * blur + 0.3 * (noise.next() - 0.5)
            } else if noise.next() < 0.04 {
                1.0 - ink
            } else {
                ink
            };
        }
    }
    Bitmap::new(16, 8, values)
}

fn words(noise: &mut Noise) -> Words {
    let mut words = Words::new("Test words").note("The first words of the test set.");
    for (truth, read) in [
        ("ommanding", "ommamding"),
        ("embraces", "embraces"),
        ("olcanic", "olcanic"),
        ("nexpectedly", "uexpectedlv"),
        ("rofoundness", "rofoundness"),
        ("ncompetent", "ncompetent"),
    ] {
        let letters: Vec<Letter> = truth
            .chars()
            .zip(read.chars())
            .map(|(truth, read)| Letter::new(glyph(noise, truth, 0.0), truth, read))
            .collect();
        let word = Word::new(letters);
        let loss = word.errors() as f64 / truth.len() as f64;
        words = words.word(word.caption(format!("loss {}", format_number(loss))));
    }
    words
}

fn report() -> (Report, Plot) {
    let mut noise = Noise(1);
    let plot = convergence("Convergence")
        .note("The gap bounds how far the primal objective can be above the optimum. It is checked every fourth pass.")
        .series(run(&mut noise, "BCFW", 0.3, 0.021));
    let mut transitions = Vec::new();
    for row in 0..26 {
        for column in 0..26 {
            let vowel = |letter: i32| [0, 4, 8, 14, 20].contains(&letter);
            let sense = if vowel(row) == vowel(column) { -0.15 } else { 0.25 };
            transitions.push(sense + 0.8 * (noise.next() - 0.5) * noise.next());
        }
    }
    let mut tiles = Tiles::new("Letter weights", Shade::Diverging)
        .note("Blue pixels speak for the letter, orange ones against it.");
    for letter in ALPHABET.chars() {
        tiles = tiles.tile(Tile::new(letter, glyph(&mut noise, letter, 0.8)));
    }
    let report = Report::new("Handwritten words, 626 × 4082")
        .subtitle("Block-coordinate Frank–Wolfe with line search, λ = 0.0016, seed 1")
        .with(
            Prose::new("Certificate")
                .paragraph(
                    "Training stopped because the duality gap fell below the tolerance of 0.001. \
                     The primal objective is 0.27213, and no weight vector whatsoever can bring it below 0.27121.",
                )
                .paragraph("The gap was computed by a pass of the exact oracle over all examples."),
        )
        .with(
            Facts::new("Result")
                .fact(Fact::new("Status", "converged").tone(Tone::Good).hint("gap ≤ tolerance"))
                .fact(("Primal objective", format_number(0.272_13)))
                .fact(("Dual objective", format_number(0.271_21)))
                .fact(Fact::new("Duality gap", format_number(9.2e-4)).hint("0.34 % of the primal"))
                .fact(("λ", "1/626"))
                .fact(Fact::new("Examples", "626").hint("4,617 letters"))
                .fact(("Features", "4,082"))
                .fact(("Effective passes", "200"))
                .fact(("Oracle calls", format_number(125_200.0)))
                .fact(("Time", format_seconds(4.213)))
                .fact(Fact::new("Test error, letters", "12.8 %").hint("6,251 words"))
                .fact(Fact::new("Test error, words", "48.1 %").tone(Tone::Warning))
                .note("Times are wall-clock times on this machine."),
        )
        .with(plot.clone())
        .with(comparison(&mut noise))
        .with(
            Bars::new("Where the time went")
                .unit("s")
                .bar(Bar::new("BCFW").part("oracle", 2.61).part("steps", 0.42).part("gap passes", 1.09).part("other", 0.093))
                .bar(Bar::new("FW").part("oracle", 1.31).part("steps", 0.05).part("gap passes", 0.0).part("other", 0.03)),
        )
        .with(
            Table::new("Methods")
                .note("Passes until the gap is below 0.01.")
                .text_column("Method")
                .number_column("Passes")
                .number_column("Seconds")
                .number_column("Duality gap")
                .number_column("Test error")
                .row(["BCFW", "37", "0.78", "0.00092", "12.8 %"])
                .row(["BCFW, gap sampling", "29", "0.91", "0.00088", "12.9 %"])
                .row(["FW", "412", "8.10", "0.00981", "13.0 %"])
                .row(["SSG <averaged>", "120", "2.31", "–", "13.4 %"]),
        )
        .with(
            Heatmap::new("Transition weights", letters(), letters(), transitions)
                .axes("from", "to")
                .note("What the model thinks of one letter following another."),
        )
        .with(tiles)
        .with(words(&mut noise))
        .with(Confusions::new("What is taken for what", KINDS, vec![52.0, 3.0, 1.0, 4.0, 61.0, 0.0, 2.0, 0.0, 9.0]))
        .with(browser())
        .with(
            Weights::new("The heaviest weights")
                .group("noun", [("follows “the”", 1.9), ("ends in -ly", -1.2)])
                .group("verb", [("ends in -s", 1.1), ("follows “the”", -0.7)]),
        )
        .with(
            convergence("A plot without points").series(Series::new("nothing").column("pass", [1.0, 2.0])),
        )
        .with(Code::new(
            "Repeat this run",
            "maxmargin train --method bcfw --lambda 0.0016 --seed 1 --tolerance 1e-3 --report report.html words.jsonl",
        ))
        .labels(KINDS)
        .footer("maxmargin 0.1.0 · made-up data");
    (report, plot)
}

const KINDS: [&str; 3] = ["noun", "verb", "other"];

/// One example of each kind that readers can page through.
fn browser() -> Browser {
    let tokens = [("The", "other", "other"), ("cat", "noun", "noun"), ("purrs", "verb", "noun")];
    let bodies = [
        Body::Tokens(TaggedExample::new(tokens)),
        Body::Answer(
            Answer::new(["verb"], ["noun"]).clues_are("for noun").clue("ends in -s", "+1.1"),
        ),
        Body::Links(Links::new(["the", "cat"], ["le", "chat"]).link(0, 0, 2).link(1, 1, 0)),
        Body::Network(Network::new([("noun", "noun"), ("verb", "noun")]).edge(0, 1)),
        Body::Drawing(Drawing::new("stick", 20.0, 30.0).line((10.0, 2.0), (10.0, 28.0), 0)),
    ];
    let mut browser = Browser::new("Examples").per_page(5).with_legend();
    for (at, body) in bodies.into_iter().enumerate() {
        let example = Example::new(format!("Example {}", at + 1), body).place(at, at < 3);
        browser = browser.example(example.note("made up").errors(1.0).cell("verb", "noun"));
    }
    browser
}

fn main() -> ExitCode {
    let mut paths = std::env::args().skip(1);
    let Some(page) = paths.next() else {
        eprintln!("usage: sample <page.html> [<figure.svg>]");
        return ExitCode::from(2);
    };
    let (report, plot) = report();
    let mut written = std::fs::write(&page, report.to_html());
    if let (Ok(()), Some(figure)) = (&written, paths.next()) {
        let options = SvgOptions::default().axes(0, 1).theme(Theme::Auto);
        written = std::fs::write(figure, plot_svg(&plot, &options));
    }
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write: {error}");
            ExitCode::FAILURE
        }
    }
}
