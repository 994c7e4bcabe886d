//! Methods by name: `SOLVER[+PART]…`.
//!
//! A part is any name that the library's settings know, so that a new order, direction, average or
//! solver can be compared as soon as it exists.

use crate::args::Preset;
use anyhow::{Result, anyhow, bail};
use clap::ValueEnum as _;
use maxmargin::{Average, Caching, Direction, Order, Settings, SettingsRecord, Solver, Step};
use serde_json::Value;

/// A method that takes part in a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// As it was written.
    pub name: String,
    /// What it means; λ, seed and limits are not its own.
    pub settings: Settings,
    /// Whether it was asked for, and not only taken in because it may apply.
    pub(super) wanted: bool,
}

/// Stands for everything that applies.
pub const ALL: &str = "all";

/// What `all` begins with; solvers that are not named here follow by themselves.
const SENSIBLE: [&str; 10] = [
    "auto",
    "fw",
    "bcfw",
    "bcfw+weighted",
    "bcfw+uniform",
    "bcfw+gap",
    "bcfw+pairwise",
    "bcfw+gap+pairwise",
    "bcfw+gap+pairwise+cache",
    "bcfw+gap+corrective",
];

/// Settings that a part can give with their value, as in `gap-every=1` or `average=uniform`.
const KEYS: [&str; 16] = [
    "gap-every",
    "gap-power",
    "block-gaps",
    "cache-factor",
    "cache-nu",
    "cache-corners",
    "gap-steps",
    "oracle-share",
    "oracle-slack",
    "order",
    "direction",
    "step",
    "cache",
    "average",
    "rate",
    "batch",
];

/// The methods that are asked for, each once, with `base` for what they do not say.
pub(super) fn methods(names: &[String], base: &Settings) -> Result<Vec<Method>> {
    let mut found: Vec<Method> = Vec::new();
    let mut add = |method: Method| match found.iter_mut().find(|known| known.name == method.name) {
        Some(known) => known.wanted |= method.wanted,
        None => found.push(method),
    };
    for name in names {
        match name.as_str() {
            ALL => all(base).into_iter().for_each(&mut add),
            name => add(Method::parse(name, base)?),
        }
    }
    Ok(found)
}

fn all(base: &Settings) -> Vec<Method> {
    let known = |solver: &&str| !["auto", "fw", "bcfw"].contains(solver);
    let others = Solver::NAMES.iter().copied().filter(known);
    let names = SENSIBLE.map(str::to_owned).into_iter().chain(others.flat_map(|solver| {
        let averages = Average::NAMES.iter().filter(|name| **name != Average::None.name());
        let averaged = averages.map(move |average| format!("{solver}+{average}"));
        std::iter::once(solver.to_owned()).chain(averaged)
    }));
    // An average that a solver does not have is refused by its settings.
    let parse = |name: String| Method::parse(&name, base).ok();
    names.filter_map(parse).map(|method| Method { wanted: false, ..method }).collect()
}

impl Method {
    /// Whether the clock decides on what it does, so that a run depends on what else the machine does.
    pub(super) fn looks_at_clock(&self) -> bool {
        let record = self.settings.record();
        record.solver == Solver::Auto || record.cache == Caching::Auto
    }

    /// Reads a method as it is written: `SOLVER[+PART]…`.
    ///
    /// # Errors
    /// A part that is not known, or does not go with the others.
    pub fn parse(name: &str, base: &Settings) -> Result<Self> {
        let mut parts = name.split('+');
        let solver = parts.next().unwrap_or_default();
        let mut settings = base.record();
        match Preset::from_str(solver, false) {
            Ok(preset) => preset.set(&mut settings),
            Err(_) => {
                settings.solver = solver.parse::<Solver>().map_err(|error| {
                    anyhow!(
                        "--methods: {error}\nhint: a method is written SOLVER[+PART]…, as in bcfw+gap"
                    )
                })?;
            }
        }
        let solver = settings.solver;
        let mut given: Vec<&str> = Vec::new();
        for part in parts {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) => (known_key(key), value),
                None => key_of(solver, part),
            };
            let key = key.map_err(|error| anyhow!("--methods: in `{name}`: {error}"))?;
            if given.contains(&key) {
                bail!("--methods: `{name}` gives {key} twice");
            }
            given.push(key);
            settings = with(&settings, key, value)
                .map_err(|error| anyhow!("--methods: in `{name}`: {key}={value}: {error}"))?;
        }
        let judged = settings.settings().and_then(|settings| settings.check().map(|()| settings));
        let settings = judged.map_err(|error| anyhow!("--methods: `{name}`: {error}"))?;
        Ok(Self { name: name.to_owned(), settings, wanted: true })
    }
}

fn known_key(key: &str) -> Result<&'static str> {
    let unknown = || anyhow!("unknown setting {key:?}; known are {}", KEYS.join(", "));
    KEYS.into_iter().find(|known| *known == key).ok_or_else(unknown)
}

/// The setting that a bare name belongs to, and its value.
fn key_of(solver: Solver, part: &str) -> (Result<&'static str>, &str) {
    let (order, average) = (Order::NAMES.contains(&part), Average::NAMES.contains(&part));
    match part {
        "cache" => (Ok("cache"), Caching::On.name()),
        "cache-auto" => (Ok("cache"), Caching::Auto.name()),
        // Orders and averages may share a name; only block-coordinate methods have all orders.
        _ if order && (solver == Solver::BlockCoordinate || !average) => (Ok("order"), part),
        _ if Direction::NAMES.contains(&part) => (Ok("direction"), part),
        _ if Step::NAMES.contains(&part) => (Ok("step"), part),
        _ if average => (Ok("average"), part),
        _ => (Err(unknown(part)), part),
    }
}

/// The settings with one of them changed.
fn with(settings: &SettingsRecord, key: &str, value: &str) -> Result<SettingsRecord> {
    let value = if (key, value) == ("batch", "auto") { "0" } else { value };
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    let Value::Object(mut fields) = serde_json::to_value(settings)? else {
        bail!("settings are no object");
    };
    fields.insert(key.replace('-', "_"), value);
    Ok(serde_json::from_value(Value::Object(fields))?)
}

fn unknown(part: &str) -> anyhow::Error {
    let averages = Average::NAMES.iter().filter(|name| **name != Average::None.name());
    let known: Vec<&str> = Order::NAMES
        .iter()
        .chain(Direction::NAMES)
        .chain(Step::NAMES)
        .chain(averages)
        .copied()
        .chain(["cache", "cache-auto"])
        .collect();
    let near = known.iter().find(|name| name.starts_with(part) || part.starts_with(**name));
    let hint = match near {
        Some(name) if !part.is_empty() => format!("hint: did you mean `{name}`?"),
        _ => format!("hint: other settings are given as in {}=1", KEYS[0]),
    };
    anyhow!("unknown part {part:?}; known are {}\n{hint}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(name: &str) -> SettingsRecord {
        Method::parse(name, &Settings::default()).unwrap().settings.record()
    }

    fn refusal(name: &str) -> String {
        Method::parse(name, &Settings::default()).unwrap_err().to_string()
    }

    #[test]
    fn parts_are_found_by_their_names() {
        let all = settings("bcfw+gap+pairwise+cache+weighted+gap-every=3+cache-factor=0.5");
        assert_eq!((all.solver, all.order), (Solver::BlockCoordinate, Order::Gap));
        assert_eq!((all.direction, all.cache), (Direction::Pairwise, Caching::On));
        assert_eq!((all.average, all.gap_every), (Average::Weighted, 3));
        assert_eq!((all.cache_factor, all.cache_nu), (0.5, SettingsRecord::default().cache_nu));
        assert_eq!(settings("bcfw+fw+cache-auto").cache, Caching::Auto);
        assert_eq!(settings("bcfw+fixed").step, Step::Fixed);
        assert_eq!(settings("bcfw+order=max-gap+average=weighted").order, Order::MaxGap);
        assert!(settings("bcfw+block-gaps=true").block_gaps);
        assert_eq!(settings("bcfw+batch=16").batch, Some(16));
        assert_eq!(settings("bcfw+batch=auto").batch, Some(0));
        assert_eq!(settings("auto"), SettingsRecord::default());
    }

    #[test]
    fn unknown_methods_are_refused_with_the_known_names() {
        assert!(refusal("bcwf").contains("unknown solver \"bcwf\"; known are auto, fw, bcfw"));
        let text = refusal("bcfw+pair");
        assert!(text.contains("known are uniform, ") && text.ends_with("did you mean `pairwise`?"));
        assert!(refusal("bcfw+").contains("unknown part \"\""));
        assert!(refusal("bcfw+gap+uniform").contains("gives order twice"));
        assert!(refusal("bcfw+order=gapp").contains("unknown order \"gapp\""));
        assert!(refusal("fw+cyclic").contains("cannot be combined with solver fw"));
        assert!(refusal("bcfw+gap-every=often").contains("gap-every=often: invalid type"));
        assert!(refusal("bcfw+gap-every=0").contains("at least 1"));
        assert!(refusal("bcfw+lambda=1").contains("unknown setting \"lambda\""));
    }

    #[test]
    fn all_is_everything_that_makes_sense_and_each_once() {
        let found =
            methods(&["fw".into(), "all".into(), "bcfw+gap".into()], &Settings::default()).unwrap();
        assert_eq!(found[0].name, "fw");
        assert!(found[0].wanted && !found[1].wanted);
        for (at, method) in found.iter().enumerate() {
            assert!(method.settings.check().is_ok());
            assert!(found[..at].iter().all(|other| other.name != method.name));
        }
        for solver in Solver::NAMES {
            assert!(found.iter().any(|method| method.name == *solver), "{solver}");
        }
    }
}
