//! Losses that are multiples of a unit, so that they have few different values.

/// A cost counts as a multiple of the unit if it differs from it by at most this, relative to the unit.
const ROUNDING: f64 = 1e-12;

/// A cost of more units than this is refused: its levels would not fit into memory.
const MOST_UNITS: f64 = (1 << 20) as f64;

/// Writes the costs as multiples of the smallest positive cost to `steps`, and returns that cost (1 if all costs
/// are 0). Returns `None` if a cost is not a multiple of it, or is too large a multiple.
pub(crate) fn in_units(
    costs: impl Iterator<Item = f64> + Clone,
    steps: &mut Vec<usize>,
) -> Option<f64> {
    let positive = costs.clone().filter(|cost| *cost > 0.0);
    let unit = positive.fold(f64::INFINITY, f64::min);
    let unit = if unit.is_finite() { unit } else { 1.0 };
    steps.clear();
    for cost in costs {
        let multiple = (cost / unit).round();
        if !((cost / unit - multiple).abs() <= ROUNDING && multiple < MOST_UNITS) {
            return None;
        }
        steps.push(multiple as usize);
    }
    Some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_counted_in_units_of_the_smallest() {
        let mut steps = Vec::new();
        let mut units =
            |costs: &[f64]| Some((in_units(costs.iter().copied(), &mut steps)?, steps.clone()));
        assert_eq!(units(&[0.25, 0.0, 0.75]), Some((0.25, vec![1, 0, 3])));
        assert_eq!(units(&[1.0 / 7.0; 3]), Some((1.0 / 7.0, vec![1; 3])));
        assert_eq!(units(&[0.0, 0.0]), Some((1.0, vec![0, 0])));
        assert_eq!(units(&[1.0, 1.5]), None);
        assert_eq!(units(&[1.0, 1e300]), None);
        assert_eq!(units(&[1.0, f64::INFINITY]), None);
    }
}
