//! The broken laws that a check has found.

use super::{BrokenLaw, Law};
use crate::util::sort;

/// The broken laws so far: each once, with the first example that breaks it.
#[derive(Default)]
pub(super) struct Report {
    broken: Vec<BrokenLaw>,
    /// For each of them, the last example that breaks it.
    last: Vec<usize>,
}

impl Report {
    pub(super) fn add(&mut self, law: Law, example: usize, message: impl FnOnce() -> String) {
        if !self.count(law, example) {
            self.push(law, example, message());
        }
    }

    /// Counts an example that breaks a law, if the law is known to be broken.
    fn count(&mut self, law: Law, example: usize) -> bool {
        let Some(at) = self.broken.iter().position(|broken| broken.law == law) else {
            return false;
        };
        if self.last[at] != example {
            self.broken[at].examples += 1;
            self.last[at] = example;
        }
        true
    }

    fn push(&mut self, law: Law, example: usize, message: String) {
        self.broken.push(BrokenLaw { law, example, examples: 1, message });
        self.last.push(example);
    }

    pub(super) fn is_broken(&self, law: Law) -> bool {
        self.broken.iter().any(|broken| broken.law == law)
    }

    /// Adds a probable cause to the message of a law.
    pub(super) fn explain(&mut self, law: Law, cause: &str) {
        for broken in self.broken.iter_mut().filter(|broken| broken.law == law) {
            broken.message.push_str("; ");
            broken.message.push_str(cause);
        }
    }

    /// The broken laws, in the order of their declaration.
    pub(super) fn finish(mut self) -> Vec<BrokenLaw> {
        sort::by_key(&mut self.broken, |broken| broken.law);
        self.broken
    }
}

/// Formats a number with nine significant digits, without trailing zeros.
pub(super) fn show(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.abs().to_string().replace("inf", if value < 0.0 { "-inf" } else { "inf" });
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..9.0).contains(&magnitude) {
        return format!("{value:.8e}");
    }
    let digits = (8.0 - magnitude) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::show;

    #[test]
    fn numbers_keep_nine_digits() {
        assert_eq!(show(0.1 + 0.2), "0.3");
        assert_eq!(show(-1_234.567_890_12), "-1234.56789");
        assert_eq!(show(-0.0), "0");
        assert_eq!(show(2e-9), "2.00000000e-9");
        assert_eq!(show(f64::NEG_INFINITY), "-inf");
        assert_eq!(show(f64::NAN), "NaN");
    }
}
