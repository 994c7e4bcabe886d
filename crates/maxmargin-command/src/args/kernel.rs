//! Options of kernels.

use clap::{Args, ValueEnum};

/// A kernel, and its parameters.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct KernelArgs {
    /// Kernel on the inputs of chains, multiclass and multi-label models
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) kernel: Option<KernelName>,
    /// The γ of poly and rbf [default: 1/(d·σ²), with the variance σ² of all d attributes]
    #[arg(long, value_parser = positive, allow_negative_numbers = true, value_name = "NUMBER")]
    pub(crate) gamma: Option<f64>,
    /// The degree of poly [default: 3]
    #[arg(long, value_parser = degree, allow_negative_numbers = true, value_name = "N")]
    pub(crate) degree: Option<u32>,
    /// The constant c of poly [default: 1]
    #[arg(long, value_parser = not_negative, allow_negative_numbers = true, value_name = "NUMBER")]
    pub(crate) coef0: Option<f64>,
    /// Bytes that kernel values may take [default: 1073741824]
    #[arg(long, value_name = "N")]
    pub(crate) kernel_bytes: Option<usize>,
}

impl KernelArgs {
    /// Whether any of them is given.
    pub(crate) fn is_given(&self) -> bool {
        let Self { kernel, gamma, degree, coef0, kernel_bytes } = self;
        let numbers = gamma.is_some() || coef0.is_some();
        kernel.is_some() || numbers || degree.is_some() || kernel_bytes.is_some()
    }
}

/// Kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelName {
    /// ⟨a, b⟩: the same model as without a kernel, as a sum over inputs
    Linear,
    /// (γ⟨a, b⟩ + c)^degree
    Poly,
    /// exp(−γ‖a − b‖²)
    Rbf,
}

pub(super) fn positive(text: &str) -> Result<f64, &'static str> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or("a positive finite number is needed, such as 0.1")
}

fn not_negative(text: &str) -> Result<f64, &'static str> {
    let number = text.parse().ok().filter(|number: &f64| *number >= 0.0 && number.is_finite());
    number.ok_or("a finite number is needed, 0 or more")
}

fn degree(text: &str) -> Result<u32, &'static str> {
    text.parse().ok().filter(|degree| *degree > 0).ok_or("a whole number is needed, 1 or more")
}
