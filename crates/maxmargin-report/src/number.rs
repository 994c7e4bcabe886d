//! Numbers as a reader wants to see them, in tables, labels and the words of a page.

/// Writes a number for people: five significant digits, thousands separated by commas, very small
/// and very large numbers as powers of ten, a true minus sign.
///
/// ```
/// use maxmargin_report::format_number;
///
/// assert_eq!(format_number(0.285), "0.285");
/// assert_eq!(format_number(1234567.0), "1,234,567");
/// assert_eq!(format_number(-0.0000123456), "−1.2346×10⁻⁵");
/// assert_eq!(format_number(f64::NAN), "not a number");
/// ```
pub fn format_number(value: f64) -> String {
    if value.is_nan() {
        return "not a number".into();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    if value.is_infinite() {
        return format!("{sign}∞");
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e12).contains(&size) {
        let (mantissa, exponent) = scientific(size, 4);
        return format!("{sign}{}×{}", trim_zeros(&mantissa), power_of_ten(exponent));
    }
    if size >= 1e5 || size.fract() == 0.0 {
        return format!("{sign}{}", group_thousands(&format!("{size:.0}")));
    }
    let (_, exponent) = scientific(size, 4);
    let decimals = usize::try_from(4 - exponent).unwrap_or(0);
    let text = format!("{size:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let grouped = group_thousands(whole);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        format!("{sign}{grouped}")
    } else {
        format!("{sign}{grouped}.{fraction}")
    }
}

/// Writes a number with so many significant digits: plainly from 1 up to 10,000, and in scientific notation elsewhere,
/// where the exponent says at a glance how small a gap is. Unlike those of [`format_number`], the digits are plain text
/// that programs can read back.
///
/// ```
/// use maxmargin_report::format_significant;
///
/// assert_eq!(format_significant(4.002, 4), "4.002");
/// assert_eq!(format_significant(1234.56, 4), "1235");
/// assert_eq!(format_significant(0.009871, 4), "9.871e-3");
/// assert_eq!(format_significant(0.0, 4), "0");
/// ```
pub fn format_significant(value: f64, digits: usize) -> String {
    let after_first = digits.saturating_sub(1);
    let rounded = format!("{value:.after_first$e}");
    let exponent = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse::<usize>().ok());
    match exponent {
        _ if value == 0.0 => "0".into(),
        Some(exponent) if exponent < 4 => {
            format!("{value:.*}", after_first.saturating_sub(exponent))
        }
        _ => rounded,
    }
}

/// Writes a duration given in seconds: `840 µs`, `35.2 ms`, `4.21 s`, `3 min 07 s`, `2 h 05 min`.
///
/// ```
/// use maxmargin_report::format_seconds;
///
/// assert_eq!(format_seconds(0.0352), "35.2 ms");
/// assert_eq!(format_seconds(4.2149), "4.21 s");
/// assert_eq!(format_seconds(187.0), "3 min 07 s");
/// ```
pub fn format_seconds(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return format!("{} s", format_number(seconds));
    }
    let three = |value: f64| {
        let decimals = if value < 9.995 {
            2
        } else if value < 99.95 {
            1
        } else {
            0
        };
        format!("{value:.decimals$}")
    };
    if seconds == 0.0 {
        "0 s".into()
    } else if seconds < 0.9995e-3 {
        format!("{} µs", three(seconds * 1e6))
    } else if seconds < 0.9995 {
        format!("{} ms", three(seconds * 1e3))
    } else if seconds < 99.95 {
        format!("{} s", three(seconds))
    } else if seconds < 3599.5 {
        let whole = seconds.round();
        format!("{} min {:02} s", (whole / 60.0).floor(), whole % 60.0)
    } else {
        let minutes = (seconds / 60.0).round();
        format!(
            "{} h {:02} min",
            group_thousands(&format!("{:.0}", (minutes / 60.0).floor())),
            minutes % 60.0
        )
    }
}

/// The digits of `size` in scientific notation, and the exponent.
pub(crate) fn scientific(size: f64, decimals: usize) -> (String, i32) {
    let text = format!("{size:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_string(), exponent.parse().unwrap_or(0))
}

/// `10⁻³`.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let mut text = String::from("10");
    for digit in exponent.to_string().chars() {
        text.push(match digit {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            '9' => '⁹',
            _ => '⁰',
        });
    }
    text
}

/// `1.500` becomes `1.5`, `2.000` becomes `2`.
pub(crate) fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn group_thousands(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "−1.5"),
            (0.001, "0.001"),
            (0.00099, "9.9×10⁻⁴"),
            (12.34567, "12.346"),
            (9.99999999, "10"),
            (99999.7, "100,000"),
            (1234.5678, "1,234.6"),
            (626_000.0, "626,000"),
            (1e12, "1×10¹²"),
            (f64::INFINITY, "∞"),
            (f64::NEG_INFINITY, "−∞"),
            (5e-324, "4.9407×10⁻³²⁴"),
        ] {
            assert_eq!(format_number(value), text);
        }
    }

    #[test]
    fn significant_digits_are_plain_from_one_to_ten_thousand() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1.000"),
            (4.002, "4.002"),
            (-4.002, "-4.002"),
            (0.99999, "1.000"),
            (9.99996, "10.00"),
            (35.42, "35.42"),
            (354.21, "354.2"),
            (9999.4, "9999"),
            (9999.6, "1.000e4"),
            (12_345.6, "1.235e4"),
            (0.1, "1.000e-1"),
            (3.007e-5, "3.007e-5"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(format_significant(value, 4), text);
        }
        assert_eq!(format_significant(1234.5, 2), "1234");
        assert_eq!(format_significant(1.26, 2), "1.3");
        assert_eq!(format_significant(7.6, 1), "8");
    }

    #[test]
    fn seconds() {
        for (value, text) in [
            (0.0, "0 s"),
            (8.4e-4, "840 µs"),
            (0.9999, "1.00 s"),
            (59.99, "60.0 s"),
            (119.6, "2 min 00 s"),
            (7512.0, "2 h 05 min"),
        ] {
            assert_eq!(format_seconds(value), text);
        }
    }
}
