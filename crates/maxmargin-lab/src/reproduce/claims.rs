//! Claims of papers, judged by races.

use maxmargin_command::lab::{self as cli, AtLambda, Comparison, Group, by_lambda};
use maxmargin_report::{Figure, Plot, Section, format_number, slug};
use serde::Serialize;
use std::fmt;

/// What an experiment has found.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) claims: Vec<Claim>,
    pub(super) sections: Vec<Section>,
    pub(super) figures: Vec<Figure>,
    /// Tables in Markdown.
    pub(super) details: String,
}

/// A claim of a paper, beside what was measured.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Claim {
    pub(super) source: &'static str,
    pub(super) claim: String,
    /// Data, and λ.
    pub(super) on: String,
    pub(super) measured: String,
    pub(super) verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Yes,
    No,
    /// In so many of so many cases.
    Partly(usize, usize),
    /// What would be needed was not run.
    NotMeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes => f.write_str("yes"),
            Self::No => f.write_str("no"),
            Self::Partly(some, all) => write!(f, "in {some} of {all} cases"),
            Self::NotMeasured => f.write_str("not measured"),
        }
    }
}

impl Verdict {
    /// Of what holds in `some` of `all` cases.
    pub(super) fn of(some: usize, all: usize) -> Self {
        match (some, all) {
            (_, 0) => Self::NotMeasured,
            (0, _) => Self::No,
            _ if some == all => Self::Yes,
            _ => Self::Partly(some, all),
        }
    }
}

/// When methods are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum When {
    /// After the same number of oracle calls, those of gap checks included: as many as the one with fewer has
    /// made.
    Calls,
    /// After the same number of own passes, without gap checks: as many as the one with fewer has made.
    OwnPasses,
    /// After at most so many own passes.
    Passes(f64),
    /// At the moment at which the first of the two ends.
    SameTime,
}

/// A claim that some methods do better than others.
pub(super) struct Rule {
    pub(super) source: &'static str,
    pub(super) claim: &'static str,
    /// What is to be small: a column of the curves.
    pub(super) column: &'static str,
    pub(super) when: When,
    /// Each of these is to be better than each of those; or than the one in the same place, with
    /// `pairs`.
    pub(super) better: &'static [&'static str],
    pub(super) worse: &'static [&'static str],
    pub(super) pairs: bool,
    /// Which of the λ it is about, in the order in which they were run; none for all.
    pub(super) lambda: Option<usize>,
}

impl Rule {
    /// Judges the claim by a comparison.
    pub(super) fn judge(&self, comparison: &Comparison) -> Claim {
        let all = by_lambda(&comparison.results);
        let about = |at: &usize| self.lambda.is_none_or(|only| only == *at);
        let (mut told, mut holds, mut cases) = (Vec::new(), 0, 0);
        let mut lambdas = Vec::new();
        for (_, at) in all.iter().enumerate().filter(|(index, _)| about(index)) {
            let lambda = format_number(at.lambda);
            let pairs = self.cases(at);
            for (better, worse) in &pairs {
                cases += 1;
                holds += usize::from(better.1 < worse.1);
            }
            if !pairs.is_empty() {
                let text = describe(&pairs);
                told.push(if all.len() > 1 { format!("λ = {lambda}: {text}") } else { text });
            }
            lambdas.push(lambda);
        }
        Claim {
            source: self.source,
            claim: self.claim.to_owned(),
            on: format!("{}, λ = {}", comparison.summary.conditions.data, lambdas.join(", ")),
            measured: if told.is_empty() { "–".to_owned() } else { told.join("; ") },
            verdict: Verdict::of(holds, cases),
        }
    }

    /// Values of what is to be better, and of what is to be worse.
    fn cases(&self, at: &AtLambda<'_>) -> Vec<(Value, Value)> {
        let case = |(better, worse): (&&str, &&str)| {
            let (a, b) = (group(at, better)?, group(at, worse)?);
            let axis = match self.when {
                When::Calls => "passes",
                When::OwnPasses | When::Passes(_) => "own_passes",
                // Seconds on a core, where both are known: they do not depend on what else the machine did.
                When::SameTime if both_know(a, b, PROCESSOR) => PROCESSOR,
                When::SameTime => "seconds",
            };
            // Runs that end together end within rounding of each other.
            let both = 1.000_001 * a.last(axis)?.median.min(b.last(axis)?.median);
            let most = if let When::Passes(passes) = self.when { passes.min(both) } else { both };
            let value = |group: &Group<'_>| {
                let spread = group.until(axis, most, self.column)?;
                Some((group.method.to_owned(), spread.median))
            };
            Some((value(a)?, value(b)?))
        };
        if self.pairs {
            return self.better.iter().zip(self.worse).filter_map(case).collect();
        }
        let all = self.better.iter().flat_map(|a| self.worse.iter().map(move |b| (a, b)));
        all.filter_map(case).collect()
    }
}

/// Seconds on a core.
const PROCESSOR: &str = "processor_seconds";

fn both_know(a: &Group<'_>, b: &Group<'_>, column: &str) -> bool {
    a.last(column).is_some() && b.last(column).is_some()
}

fn group<'a, 'r>(at: &'a AtLambda<'r>, name: &str) -> Option<&'a Group<'r>> {
    at.groups.iter().find(|group| group.method == name)
}

type Value = (String, f64);

/// `a 0.1 against b 0.2, c 0.3`.
fn describe(pairs: &[(Value, Value)]) -> String {
    let show = |(name, value): &Value| format!("{name} {}", format_number(*value));
    let mut text = String::new();
    let mut last: Option<&Value> = None;
    for (better, worse) in pairs {
        match last {
            Some(known) if known == better => text.push_str(", "),
            _ => {
                if !text.is_empty() {
                    text.push_str("; ");
                }
                text.push_str(&show(better));
                text.push_str(" against ");
            }
        }
        text.push_str(&show(worse));
        last = Some(better);
    }
    text
}

impl Findings {
    /// Takes in a race: its claims, its curves and its tables.
    pub(super) fn add(&mut self, comparison: &Comparison, rules: &[Rule]) {
        self.claims.extend(rules.iter().map(|rule| rule.judge(comparison)));
        let Comparison { summary, results } = comparison;
        let name = &summary.conditions.data;
        self.sections.extend(cli::sections(summary, results, &format!("{name}, ")));
        let figures = cli::figures(results);
        self.figures.extend(figures.into_iter().map(|mut figure| {
            figure.name = format!("{}_{}", slug(name), figure.name);
            figure
        }));
        // One level down: the document has a heading of its own.
        let tables = summary.to_markdown().replace("\n## ", "\n### ");
        self.details += &format!("\n#{tables}");
    }

    /// Takes in a plot, as a section and as pictures of all that can be shown on its y axis.
    pub(super) fn add_plot(&mut self, name: &str, plot: Plot) {
        for y in 0..plot.y.len() {
            let number = if plot.y.len() > 1 { format!("-{}", y + 1) } else { String::new() };
            self.figures.push(Figure::new(format!("{name}{number}"), &plot, 0, y));
        }
        self.sections.push(plot.into());
    }

    /// Takes in a claim that holds in some of all cases.
    pub(super) fn count(
        &mut self,
        source: &'static str,
        claim: impl Into<String>,
        on: impl Into<String>,
        measured: impl Into<String>,
        (some, all): (usize, usize),
    ) {
        let (claim, on, measured) = (claim.into(), on.into(), measured.into());
        self.claims.push(Claim { source, claim, on, measured, verdict: Verdict::of(some, all) });
    }

    /// Takes in a claim that no race can judge.
    pub(super) fn claim(
        &mut self,
        source: &'static str,
        claim: impl Into<String>,
        on: impl Into<String>,
        measured: impl Into<String>,
        holds: Option<bool>,
    ) {
        let verdict = match holds {
            None => Verdict::NotMeasured,
            Some(true) => Verdict::Yes,
            Some(false) => Verdict::No,
        };
        let (claim, on, measured) = (claim.into(), on.into(), measured.into());
        self.claims.push(Claim { source, claim, on, measured, verdict });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_count() {
        assert_eq!(Verdict::of(0, 0).to_string(), "not measured");
        assert_eq!(Verdict::of(3, 3).to_string(), "yes");
        assert_eq!(Verdict::of(0, 3).to_string(), "no");
        assert_eq!(Verdict::of(2, 3).to_string(), "in 2 of 3 cases");
    }

    #[test]
    fn measures_are_told_side_by_side() {
        let value = |name: &str, value: f64| (name.to_owned(), value);
        let pairs = [
            (value("a", 0.1), value("b", 0.2)),
            (value("a", 0.1), value("c", 0.3)),
            (value("d", 0.1), value("b", 0.2)),
        ];
        assert_eq!(describe(&pairs), "a 0.1 against b 0.2, c 0.3; d 0.1 against b 0.2");
    }
}
