//! Rounding of capacities such that sums of them are exact.

/// Exponents of quanta are multiples of this, so that they rarely change when capacities do.
const EXPONENT_STEP: i32 = 2;

/// The sum of all capacities is less than two to this power quanta.
const BITS: i32 = 51;

/// A power of two, to whose multiples capacities are rounded.
///
/// It is chosen such that the sum of all capacities is less than 2⁵¹ quanta, and at least 2⁴⁸ unless it
/// is 0. The numbers of a flow, which are sums and differences of capacities, are then exact, and a
/// capacity changes by at most 2⁻⁴⁹ of the sum.
///
/// ```
/// use maxmargin::inference::algorithms::Quantum;
///
/// let quantum = Quantum::of(3.75);
/// assert_eq!(quantum.round(0.75), 0.75);
/// assert!((quantum.round(0.1) - 0.1).abs() < 1e-14);
/// assert_eq!(quantum, Quantum::of(2.0)); // does not change with every total
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quantum {
    exponent: i32,
}

impl Quantum {
    /// The quantum for capacities with this sum.
    ///
    /// # Panics
    /// If the sum is negative, NaN or infinite.
    pub fn of(total: f64) -> Self {
        assert!(total >= 0.0 && total.is_finite(), "capacities sum to {total}");
        // The smallest e with total < 2ᵉ, limited such that quanta are normal numbers.
        let exponent = match (total.to_bits() >> 52) as i32 {
            0 => -1022,
            biased => biased - 1022,
        };
        let up = (-exponent).rem_euclid(EXPONENT_STEP);
        Self { exponent: (exponent + up - BITS).clamp(-1022, 1023 - BITS - 1) }
    }

    /// The multiple of the quantum that is nearest to `capacity`.
    #[inline]
    pub fn round(self, capacity: f64) -> f64 {
        let unit = f64::from_bits(((self.exponent + 1023) as u64) << 52);
        // A number of this size cannot represent anything smaller than one quantum.
        let shift = 1.5 * unit * (1u64 << 52) as f64;
        (capacity + shift) - shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_whole_and_near() {
        for total in [0.0, 1e-320, 1e-300, 3e-5, 1.0, 7.9, 8.0, 1e10, 1e300] {
            let quantum = Quantum::of(total);
            let unit = 2f64.powi(quantum.exponent);
            assert!(total < unit * 2f64.powi(51));
            for share in [0.0, 0.1, 1.0 / 3.0, 0.999, 1.0] {
                let (value, rounded) = (share * total, quantum.round(share * total));
                assert_eq!((rounded / unit).fract(), 0.0);
                assert!((rounded - value).abs() <= 0.5 * unit, "{total} {share}");
                assert_eq!(quantum.round(-value), -rounded);
            }
            if total > 1e-290 && total < 1e290 {
                assert!(total >= unit * 2f64.powi(48));
            }
        }
    }
}
