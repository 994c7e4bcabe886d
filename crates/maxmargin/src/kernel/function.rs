//! Kernel functions, which replace inner products.

use thiserror::Error;

/// A kernel on inputs.
///
/// ```
/// use maxmargin::kernel::Kernel;
///
/// // ⟨a, b⟩ = 2, ‖a‖² = 4, ‖b‖² = 1
/// assert_eq!(Kernel::Linear.value(2.0, 4.0, 1.0), 2.0);
/// let cubic = Kernel::Polynomial { degree: 3, gamma: 0.5, constant: 1.0 };
/// assert_eq!(cubic.value(2.0, 4.0, 1.0), 8.0);
/// assert_eq!(Kernel::Rbf { gamma: 2.0 }.value(2.0, 4.0, 1.0), (-2.0f64).exp());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", deny_unknown_fields))]
pub enum Kernel {
    /// ⟨a, b⟩, which yields the same model as no kernel.
    Linear,
    /// (γ⟨a, b⟩ + c)^d.
    Polynomial {
        /// The degree d, at least 1.
        degree: u32,
        /// γ, positive and finite.
        gamma: f64,
        /// The constant c, finite and at least 0.
        constant: f64,
    },
    /// exp(−γ‖a − b‖²).
    Rbf {
        /// γ, positive and finite.
        gamma: f64,
    },
}

/// Why a kernel is invalid, or cannot be used with a problem.
///
/// ```
/// use maxmargin::kernel::Kernel;
///
/// let error = Kernel::Rbf { gamma: 0.0 }.check().unwrap_err();
/// assert_eq!(error.to_string(), "the kernel's gamma is 0; a positive finite number is needed");
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum KernelError {
    /// A γ that is not positive and finite.
    #[error("the kernel's gamma is {0}; a positive finite number is needed")]
    Gamma(f64),
    /// A constant that is negative or not finite.
    #[error("the kernel's constant is {0}; a finite number ≥ 0 is needed")]
    Constant(f64),
    /// A degree of 0.
    #[error("the kernel's degree is 0; a polynomial kernel needs at least 1")]
    Degree,
    /// A problem with bounds on its weights.
    #[error("weights with bounds and a kernel do not go together")]
    Bounds,
    /// A problem whose scores do not depend on inputs.
    #[error("the model has no weights of inputs that a kernel could replace")]
    NoInputs,
    /// A kernel value that is not finite.
    #[error(
        "the kernel of an input of example {example} with itself is {value}; scale the inputs down"
    )]
    Value {
        /// The example.
        example: usize,
        /// The value.
        value: f64,
    },
}

impl Kernel {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If the degree is 0, or if a parameter is out of range.
    pub fn check(&self) -> Result<(), KernelError> {
        let positive = |gamma: f64| match gamma > 0.0 && gamma.is_finite() {
            true => Ok(()),
            false => Err(KernelError::Gamma(gamma)),
        };
        match *self {
            Self::Linear => Ok(()),
            Self::Rbf { gamma } => positive(gamma),
            Self::Polynomial { degree, gamma, constant } => {
                positive(gamma)?;
                if !(constant >= 0.0 && constant.is_finite()) {
                    return Err(KernelError::Constant(constant));
                }
                if degree == 0 { Err(KernelError::Degree) } else { Ok(()) }
            }
        }
    }

    /// The kernel of two inputs, from their inner product and their squared lengths.
    #[inline]
    pub fn value(&self, product: f64, first_sq: f64, second_sq: f64) -> f64 {
        match *self {
            Self::Linear => product,
            Self::Polynomial { degree, gamma, constant } => {
                power(gamma * product + constant, degree)
            }
            // Rounding must not make the distance of two inputs negative.
            Self::Rbf { gamma } => (-gamma * (first_sq + second_sq - 2.0 * product).max(0.0)).exp(),
        }
    }
}

/// x^d by squaring, in the same order on every machine.
fn power(x: f64, mut degree: u32) -> f64 {
    let (mut base, mut result) = (x, 1.0);
    while degree > 0 {
        if degree % 2 == 1 {
            result *= base;
        }
        base *= base;
        degree /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_checks() {
        for degree in 1..12 {
            assert_eq!(power(3.0, degree), 3f64.powi(degree as i32));
        }
        let poly = |degree, gamma, constant| Kernel::Polynomial { degree, gamma, constant };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Kernel::Rbf { gamma: bad }.check(), Err(KernelError::Gamma(_))));
            assert!(matches!(poly(2, bad, 0.0).check(), Err(KernelError::Gamma(_))));
        }
        assert_eq!(poly(2, 1.0, -1.0).check(), Err(KernelError::Constant(-1.0)));
        assert_eq!(poly(0, 1.0, 1.0).check(), Err(KernelError::Degree));
        assert_eq!(poly(2, 1.0, 0.0).check(), Ok(()));
        let text = serde_json::to_string(&poly(2, 0.5, 1.0)).unwrap();
        assert_eq!(text, r#"{"polynomial":{"degree":2,"gamma":0.5,"constant":1.0}}"#);
        assert_eq!(serde_json::from_str::<Kernel>("\"linear\"").unwrap(), Kernel::Linear);
    }
}
