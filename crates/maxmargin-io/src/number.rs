//! Numbers in text: which are accepted, and how they are written.

use std::fmt::Write;

/// Reads a finite number. Otherwise returns a description of what would have been right.
pub(crate) fn parse_value(text: &str) -> Result<f64, &'static str> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err("a finite number"),
        Err(_) => Err("a number"),
    }
}

/// Reads a number without sign, made of decimal digits only.
pub(crate) fn parse_index(text: &str) -> Option<u64> {
    // `str::parse` would accept a plus sign.
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// Writes the shortest text that is read back as the same value, with the same bits.
pub(crate) fn write_value(to: &mut String, value: f64) {
    // `{}` never uses an exponent, and `{:?}` writes `.0` after whole numbers. Each is short where the other is
    // long.
    let whole = value.fract() == 0.0 && value.abs() < 1e15;
    let written = if whole { write!(to, "{value}") } else { write!(to, "{value:?}") };
    written.expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(value: f64) -> String {
        let mut text = String::new();
        write_value(&mut text, value);
        text
    }

    #[test]
    fn numbers_are_written_short() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1, "0.1"),
            (1e300, "1e300"),
            (5e-324, "5e-324"),
            (123_456_789.0, "123456789"),
        ] {
            assert_eq!(written(value), text);
        }
    }

    #[test]
    fn odd_numbers() {
        for text in ["nan", "NaN", "inf", "-inf", "infinity", "1e400", "-1e400"] {
            assert_eq!(parse_value(text), Err("a finite number"), "{text}");
        }
        for text in ["", "x", "1,5", "1 ", "0x10", "--1", "1e"] {
            assert_eq!(parse_value(text), Err("a number"), "{text}");
        }
        assert_eq!(parse_value("+1.5e-3"), Ok(0.0015));
        assert_eq!(parse_value("1e-400"), Ok(0.0));
        for text in ["", "+1", "-1", "1.0", " 1", "18446744073709551616"] {
            assert_eq!(parse_index(text), None, "{text}");
        }
        assert_eq!(parse_index("007"), Some(7));
    }

    proptest! {
        #[test]
        fn any_finite_value_comes_back(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(parse_value(&written(value)).map(f64::to_bits), Ok(bits));
        }
    }
}
