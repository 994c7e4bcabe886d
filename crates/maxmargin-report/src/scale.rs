//! Axes: domains, positions and ticks.
//!
//! Ticks are made here and nowhere else, for figures are drawn without a browser. A live plot needs ticks as well,
//! for domains that only the browser knows: those of the lines that are not switched off, at the width of the
//! window. It is given a [ladder](Domain::ladder) for each axis and scale, a few sets of labelled ticks from coarse
//! to fine, and picks the set of which it sees the right number. What `assets/report.js` repeats of this file is
//! how a domain is put around values, and the browser test compares both.

use crate::number::{power_of_ten, scientific, trim_zeros};

/// Numbers beyond these sizes would overflow the arithmetic of an axis and count as not finite.
pub(crate) const HUGE: f64 = 1e300;
/// A log axis of more decades than this has ticks at whole decades only.
const LONG_LOG: f64 = 12.0;
/// Positive numbers below this size count as zero on a log axis.
pub(crate) const TINY: f64 = 1e-300;

/// How values are laid along an axis.
///
/// ```
/// use maxmargin_report::Scale;
///
/// assert_eq!(Scale::default(), Scale::Linear);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scale {
    /// Equal steps have equal length.
    #[default]
    Linear,
    /// Equal ratios have equal length. Points at or below zero are left out, and the plot says so.
    Log,
}

/// A tick and its label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// A scale with its end points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Domain {
    pub(crate) scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Domain {
    /// The domain that shows all of `low..=high` with some air. `pad` is off for x axes, which
    /// start and end where the data do.
    pub(crate) fn around(scale: Scale, low: f64, high: f64, pad: bool) -> Self {
        let (mut low, mut high) = (low, high);
        match scale {
            Scale::Log => {
                let (mut from, mut to) = (low.log10(), high.log10());
                if to - from < 1e-6 {
                    (from, to) = (from - 0.5, to + 0.5);
                } else if pad {
                    let air = 0.04 * (to - from);
                    (from, to) = (from - air, to + air);
                }
                // Within what numbers can hold.
                low = 10f64.powf(from.max(-305.0));
                high = 10f64.powf(to.min(305.0));
            }
            Scale::Linear => {
                // One value, or values too close together for numbers between them.
                let size = high.abs().max(low.abs());
                if high - low <= (1e-12 * size).max(1e-290) {
                    let air = if size < 1e-280 { 1.0 } else { 0.1 * size };
                    (low, high) = (low - air, high + air);
                } else {
                    // An axis that nearly reaches zero reaches zero.
                    let zero_low = low >= 0.0 && low <= 0.3 * high;
                    let zero_high = high <= 0.0 && high >= 0.3 * low;
                    let air = if pad { 0.04 * (high - low) } else { 0.0 };
                    low = if zero_low { 0.0 } else { low - air };
                    high = if zero_high { 0.0 } else { high + air };
                }
            }
        }
        Self { scale, low, high }
    }

    /// The place of `value` between the ends, 0 to 1.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => {
                let from = self.low.log10();
                (value.log10() - from) / (self.high.log10() - from)
            }
        }
    }

    /// About `count` labelled ticks.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => linear_ticks(self.low, self.high, count),
            Scale::Log => log_ticks(self.low, self.high, count),
        }
    }

    /// Sets of labelled ticks from coarse to fine, for a part of the domain as well as for all of it. The finest of
    /// a log axis has every digit of every decade, unless there are very many or less than one.
    pub(crate) fn ladder(&self) -> Vec<Vec<Tick>> {
        let mut rungs: Vec<Vec<Tick>> = vec![self.ticks(4), self.ticks(8)];
        let (from, to) = (self.low.log10(), self.high.log10());
        match self.scale {
            Scale::Log if to - from > LONG_LOG => {}
            Scale::Log if to - from >= 1.0 => {
                let digits: [&[u8]; 3] = [&[1, 3], &[1, 2, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9]];
                rungs.extend(digits.map(|digits| digit_ticks(self.low, self.high, digits)));
            }
            _ => rungs.extend([20, 50].map(|count| linear_ticks(self.low, self.high, count))),
        }
        rungs.sort_by_key(Vec::len);
        rungs.dedup();
        rungs
    }

    /// Ticks without labels, between the decades of a log axis.
    pub(crate) fn minor_ticks(&self) -> Vec<f64> {
        if self.scale == Scale::Linear {
            return Vec::new();
        }
        let (first, last) = (self.low.log10().floor(), self.high.log10().floor());
        if last - first > 6.0 {
            return Vec::new();
        }
        let mut minor = Vec::new();
        for exponent in first as i32..=last as i32 {
            for digit in 2..10 {
                let value = f64::from(digit) * 10f64.powi(exponent);
                if value >= self.low && value <= self.high {
                    minor.push(value);
                }
            }
        }
        minor
    }
}

fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let rough = (high - low) / count.max(1) as f64;
    let magnitude = 10f64.powf((rough.log10() + 1e-9).floor());
    let ratio = rough / magnitude;
    let step = magnitude
        * if ratio < 1.2 {
            1.0
        } else if ratio < 2.4 {
            2.0
        } else if ratio < 6.0 {
            5.0
        } else {
            10.0
        };
    let largest = low.abs().max(high.abs());
    let slack = 1e-9 * (high - low);
    let first = ((low - slack) / step).ceil();
    let mut ticks = Vec::new();
    for index in 0..=3 * count.max(1) {
        let value = (first + index as f64) * step;
        if value > high + slack {
            break;
        }
        ticks.push(Tick { value, label: linear_label(value, step, largest) });
    }
    ticks
}

fn decimals(step: f64) -> usize {
    (-step.log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize
}

fn linear_label(value: f64, step: f64, largest: f64) -> String {
    if value.abs() < 1e-6 * step {
        return "0".into();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    let size = value.abs();
    if !(1e-3..1e15).contains(&largest) {
        let exponent = (largest.log10() + 1e-9).floor() as i32;
        let unit = 10f64.powi(exponent);
        let places = decimals(step / unit);
        return format!("{sign}{:.places$}×{}", size / unit, power_of_ten(exponent));
    }
    let (unit, suffix) = if largest >= 1e9 {
        (1e9, "G")
    } else if largest >= 1e6 {
        (1e6, "M")
    } else if largest >= 1e4 {
        (1e3, "k")
    } else {
        (1.0, "")
    };
    let places = decimals(step / unit);
    if unit > 1.0 && places > 3 {
        let places = decimals(step);
        return format!("{sign}{size:.places$}");
    }
    format!("{sign}{:.places$}{suffix}", size / unit)
}

fn log_ticks(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (from, to) = (low.log10(), high.log10());
    let first = (from - 1e-9).ceil() as i32;
    let last = (to + 1e-9).floor() as i32;
    let decades = last - first + 1;
    if decades >= 3 {
        // Whole decades, every one or every few.
        let every = (decades as usize).div_ceil(count.max(2)) as i32;
        let powers = first < -3 || last > 9;
        return (first..=last)
            .filter(|exponent| exponent.rem_euclid(every) == 0)
            .map(|exponent| Tick {
                value: 10f64.powi(exponent),
                label: if powers { power_of_ten(exponent) } else { plain(1, exponent) },
            })
            .collect();
    }
    let ticks = digit_ticks(low, high, if to - from > 1.6 { &[1, 3] } else { &[1, 2, 5] });
    // Less than an octave or so: plain steps are easier to read.
    if ticks.len() < 3 { linear_ticks(low, high, count) } else { ticks }
}

/// Ticks at some digits of every decade.
fn digit_ticks(low: f64, high: f64, digits: &[u8]) -> Vec<Tick> {
    let (from, to) = (low.log10(), high.log10());
    let mut ticks = Vec::new();
    for exponent in (from - 1e-9).ceil() as i32 - 1..=(to + 1e-9).floor() as i32 {
        for &digit in digits {
            let value = f64::from(digit) * 10f64.powi(exponent);
            let at = value.log10();
            if at >= from - 1e-9 && at <= to + 1e-9 {
                ticks.push(Tick { value, label: plain(digit, exponent) });
            }
        }
    }
    ticks
}

/// `digit · 10^exponent` in few characters.
fn plain(digit: u8, exponent: i32) -> String {
    match exponent {
        -3..=-1 => {
            let places = exponent.unsigned_abs() as usize;
            format!("{:.places$}", f64::from(digit) * 10f64.powi(exponent))
        }
        0..=9 => {
            let (unit, suffix) = match exponent {
                0..=2 => (0, ""),
                3..=5 => (3, "k"),
                6..=8 => (6, "M"),
                _ => (9, "G"),
            };
            format!("{digit}{}{suffix}", "0".repeat((exponent - unit) as usize))
        }
        _ if digit == 1 => power_of_ten(exponent),
        _ => format!("{digit}×{}", power_of_ten(exponent)),
    }
}

/// Rounds to nine significant digits: enough for every plot and half the bytes.
pub(crate) fn round_digits(value: f64, decimals: usize) -> f64 {
    let (mantissa, exponent) = scientific(value, decimals);
    format!("{}e{exponent}", trim_zeros(&mantissa)).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64) -> Vec<String> {
        Domain { scale, low, high }.ticks(6).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_labels_are_round() {
        assert_eq!(labels(Scale::Linear, 0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::Linear, 0.0, 50.0), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(labels(Scale::Linear, -1.0, 1.0), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(
            labels(Scale::Linear, 0.0, 60_000.0),
            ["0", "10k", "20k", "30k", "40k", "50k", "60k"]
        );
        assert_eq!(
            labels(Scale::Linear, 0.0, 3e6),
            ["0", "0.5M", "1.0M", "1.5M", "2.0M", "2.5M", "3.0M"]
        );
        assert_eq!(
            labels(Scale::Linear, 0.0, 5e-4),
            ["0", "1×10⁻⁴", "2×10⁻⁴", "3×10⁻⁴", "4×10⁻⁴", "5×10⁻⁴"]
        );
        assert_eq!(
            labels(Scale::Linear, 0.285, 0.28501),
            ["0.285000", "0.285002", "0.285004", "0.285006", "0.285008", "0.285010"]
        );
        assert_eq!(
            labels(Scale::Linear, 1_000_000.0, 1_000_005.0),
            ["1000000", "1000001", "1000002", "1000003", "1000004", "1000005"]
        );
    }

    #[test]
    fn log_labels() {
        assert_eq!(labels(Scale::Log, 1e-3, 1.0), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(Scale::Log, 1e-5, 0.1), ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]);
        assert_eq!(
            labels(Scale::Log, 1.0, 1e6),
            ["1", "100", "10k", "1M"],
            "more decades than ticks: every other"
        );
        assert_eq!(labels(Scale::Log, 10.0, 1e4), ["10", "100", "1k", "10k"]);
        assert_eq!(labels(Scale::Log, 0.9, 60.0), ["1", "3", "10", "30"]);
        assert_eq!(labels(Scale::Log, 0.9, 12.0), ["1", "2", "5", "10"]);
        assert_eq!(
            labels(Scale::Log, 0.31, 0.34),
            ["0.310", "0.315", "0.320", "0.325", "0.330", "0.335", "0.340"]
        );
        assert!(labels(Scale::Log, 1e-300, 1e300).len() <= 7);
    }

    #[test]
    fn ticks_are_inside_sorted_and_few() {
        let sizes = [1e-290, 3.7e-9, 0.02, 1.0, 17.3, 4.4e5, 9.9e17, 1e290];
        for &low in &sizes {
            for &ratio in &[1.0 + 1e-9, 1.01, 1.7, 12.0, 1e4, 1e9] {
                for scale in [Scale::Linear, Scale::Log] {
                    for pad in [false, true] {
                        let domain = Domain::around(scale, low, low * ratio, pad);
                        let ticks = domain.ticks(6);
                        assert!((2..=13).contains(&ticks.len()), "{domain:?} {ticks:?}");
                        for pair in ticks.windows(2) {
                            assert!(pair[0].value < pair[1].value, "{domain:?} {ticks:?}");
                        }
                        for tick in &ticks {
                            let place = domain.place(tick.value);
                            assert!((-1e-6..=1.0 + 1e-6).contains(&place), "{domain:?} {tick:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn ladders_get_finer_and_serve_parts() {
        for (scale, low, high) in [
            (Scale::Linear, 0.0, 1.0),
            (Scale::Linear, -3e6, 7e6),
            (Scale::Log, 1e-5, 0.2),
            (Scale::Log, 0.31, 0.34),
            (Scale::Log, 1e-300, 1e300),
        ] {
            let domain = Domain { scale, low, high };
            let ladder = domain.ladder();
            assert!(ladder.len() >= 2 && ladder[0].len() >= 2, "{domain:?} {ladder:?}");
            assert!(ladder.windows(2).all(|pair| pair[0].len() <= pair[1].len()), "{ladder:?}");
            assert!(ladder.iter().map(Vec::len).sum::<usize>() < 300, "{domain:?}");
            for tick in ladder.iter().flatten() {
                assert!((-1e-6..=1.0 + 1e-6).contains(&domain.place(tick.value)), "{tick:?}");
            }
        }
        // A tenth of a linear axis, and a decade of a log one, have ticks of their own.
        let inside = |domain: Domain, low: f64, high: f64| {
            let ladder = domain.ladder();
            let finest = ladder.last().unwrap().iter();
            finest.filter(|tick| (low..=high).contains(&tick.value)).count()
        };
        assert!(inside(Domain { scale: Scale::Linear, low: 0.0, high: 1.0 }, 0.3, 0.4) >= 4);
        assert_eq!(inside(Domain { scale: Scale::Log, low: 1e-5, high: 1.0 }, 2e-3, 8e-3), 7);
    }

    #[test]
    fn domains_of_one_value() {
        let flat = Domain::around(Scale::Linear, 0.0, 0.0, true);
        assert_eq!((flat.low, flat.high), (-1.0, 1.0));
        let flat = Domain::around(Scale::Linear, -5.0, -5.0, true);
        assert_eq!((flat.low, flat.high), (-5.5, -4.5));
        let flat = Domain::around(Scale::Log, 5.0, 5.0, true);
        assert!((flat.place(5.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn nine_digits() {
        assert_eq!(round_digits(0.1 + 0.2, 8), 0.3);
        assert_eq!(round_digits(-123456789.4, 8), -123456789.0);
        assert_eq!(round_digits(0.0, 8), 0.0);
    }
}
