//! `maxmargin pick`

use super::conclusion::bounds_in_words;
use super::path::Outcome;
use crate::args::PickArgs;
use crate::kind::{Vocabulary, kind_of};
use crate::output;
use crate::screen::{Screen, wrapped};
use anyhow::{Context as _, Result, anyhow, bail};
use maxmargin::{Path as LambdaPath, PathKind};
use maxmargin_io::{LabelRule, Model, PathFile};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: &PickArgs) -> Result<ExitCode> {
    let inputs = [Some(args.path.as_path()), args.validation.as_deref().map(Path::new)];
    output::check(inputs.into_iter().flatten(), args.output.as_deref())?;
    let file = PathFile::load(&args.path).map_err(|error| {
        anyhow!("{error}\nhint: a path file is what `maxmargin path DATA --path-file PATH` writes")
    })?;
    let screen = Screen::new(args.talk.quiet);
    let lambda = match (args.lambda, &args.validation) {
        (Some(lambda), _) => lambda,
        (None, Some(data)) => {
            let outcome = validated(&file, data, args, &screen)?;
            screen.done();
            screen.say((outcome.table() + &outcome.in_words()).trim_end());
            outcome.best().certificate.lambda
        }
        (None, None) if args.output.is_some() => bail!(
            "which model is not said\nhint: give --lambda NUMBER, or --validation DATA to choose by"
        ),
        (None, None) => {
            let outcome = Outcome::new(file.path, None);
            if !args.talk.json && !args.talk.quiet {
                super::print(&outcome.table())?;
            }
            outcome.print(args.talk)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let model = file.model_at(lambda).with_context(|| not_there(&file.path, lambda))?;
    if let Some(to) = &args.output {
        model.save(to)?;
    }
    conclude(&file.path, &model, args)?;
    match &args.output {
        Some(to) => screen.say(format!("model written to {}", to.display())),
        None => screen.say("the model was not kept\nhint: name a file with -o MODEL"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Data are decoded on all cores.
const ALL_CORES: usize = 0;

/// The path with the error of each breakpoint on `data`.
fn validated(file: &PathFile, data: &str, args: &PickArgs, screen: &Screen) -> Result<Outcome> {
    screen.reading(data);
    let names = Vocabulary::of_path(file);
    let spec = &file.meta.spec;
    let data = kind_of(spec)?.read(&names, data, args.format, LabelRule::Count)?;
    screen.count("breakpoints tried", file.path.breakpoints.len() as u64);
    let mut errors = Vec::new();
    file.path.walk(|_, w| {
        errors.push(spec.errors(w, &data.examples, ALL_CORES));
        screen.counted(true);
    });
    let errors: Result<Vec<_>, _> = errors.into_iter().collect();
    let shares = errors?.iter().map(|errors| errors.parts.share()).collect();
    Ok(Outcome::new(file.path.clone(), Some(shares)))
}

/// Why the path has no weights for `lambda`.
fn not_there(path: &LambdaPath, lambda: f64) -> String {
    if !(lambda > 0.0 && lambda.is_finite()) {
        return format!("--lambda is {lambda}; it must be a positive finite number");
    }
    if path.kind.is_grid() {
        let lambdas = path.breakpoints.iter().map(|b| b.certificate.lambda);
        let distance = |own: &f64| (own / lambda).ln().abs();
        let nearest = lambdas.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let nearest = nearest.map_or_else(String::new, |own| format!("; the nearest is {own}"));
        return format!("the grid has no lambda {lambda}{nearest}");
    }
    format!(
        "the path ends at lambda {:e}, above {lambda}\n\
         hint: follow it further with --lambda-min",
        path.lowest
    )
}

fn conclude(path: &LambdaPath, model: &Model, args: &PickArgs) -> Result<()> {
    let (meta, c) = (&model.meta, &model.meta.certificate);
    if args.talk.json {
        return super::print_json(&json!({
            "kind": path.kind, "guaranteed": path.is_guaranteed(), "epsilon": path.epsilon,
            "status": meta.status, "lambda": c.lambda, "primal": c.primal, "dual": c.dual,
            "gap": c.gap, "breakpoint": path.piece(c.lambda), "has_dual": model.dual.is_some(),
        }));
    }
    if args.talk.quiet {
        return Ok(());
    }
    let from = match path.kind {
        PathKind::Exact if path.is_guaranteed() => "From the regularization path",
        PathKind::Exact => "From a regularization path that did not converge everywhere",
        PathKind::Heuristic => "From a heuristic path, whose true gaps were computed afterwards",
        PathKind::GridCold | PathKind::GridWarmPrimal | PathKind::GridWarmDual => "From the grid",
    };
    let above = path.breakpoints.first().is_some_and(|b| c.lambda > b.certificate.lambda);
    let bound = if above { "Here the objective and the distance are upper bounds.\n" } else { "" };
    super::print(&wrapped(&format!(
        "{from}, at lambda {}.\n{}{bound}This is the bound of the path at this lambda. The model has no dual \
         point, so that `verify` cannot check it again.\n",
        c.lambda,
        bounds_in_words(model)
    )))
}
