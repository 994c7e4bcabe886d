//! Models with kernels.

use crate::args::{KernelName, ModelArgs};
use anyhow::{Result, bail};
use maxmargin::kernel::{Kernel, Support};
use maxmargin::model::Row;
use maxmargin_io::{KernelSpec, Model, Rescaling};
use std::fmt::Write as _;

/// Bytes for kernel values, unless told otherwise.
const BYTES: usize = 1 << 30;

/// The kernel that is asked for, on `inputs` with so many attributes.
pub(super) fn kernel<'a>(
    args: &ModelArgs,
    inputs: impl IntoIterator<Item = Row<'a>>,
    attributes: usize,
) -> Result<Option<KernelSpec>> {
    let given = &args.kernel;
    let Some(name) = given.kernel else {
        for (is_given, option) in [
            (given.gamma.is_some(), "--gamma"),
            (given.degree.is_some(), "--degree"),
            (given.coef0.is_some(), "--coef0"),
            (given.kernel_bytes.is_some(), "--kernel-bytes"),
        ] {
            if is_given {
                bail!("{option} has no meaning without --kernel");
            }
        }
        return Ok(None);
    };
    let (no_gamma, no_power) = (name == KernelName::Linear, name != KernelName::Poly);
    for (is_wrong, option) in [
        (no_gamma && given.gamma.is_some(), "--gamma"),
        (no_power && given.degree.is_some(), "--degree"),
        (no_power && given.coef0.is_some(), "--coef0"),
    ] {
        if is_wrong {
            bail!("{option} is no parameter of this --kernel");
        }
    }
    if !args.lower.is_empty() || !args.upper.is_empty() {
        bail!(
            "--lower and --upper do not go with --kernel, whose features have no weights of their own"
        );
    }
    if args.rescaling == Rescaling::Slack {
        bail!("--rescaling slack does not go with --kernel: nothing could verify the dual point");
    }
    let gamma = || given.gamma.unwrap_or_else(|| Kernel::scale(inputs, attributes));
    let kernel = match name {
        KernelName::Linear => Kernel::Linear,
        KernelName::Rbf => Kernel::Rbf { gamma: gamma() },
        KernelName::Poly => Kernel::Polynomial {
            degree: given.degree.unwrap_or(3),
            gamma: gamma(),
            constant: given.coef0.unwrap_or(1.0),
        },
    };
    let bytes = given.kernel_bytes.unwrap_or(BYTES);
    Ok(Some(KernelSpec { kernel, bytes, support: Support::default() }))
}

/// The kernel of a model in words, if it has one.
pub(crate) fn in_words(kernel: &Kernel) -> String {
    match *kernel {
        Kernel::Linear => "linear".to_owned(),
        Kernel::Polynomial { degree, gamma, constant } => {
            format!("poly, degree {degree}, gamma {gamma}, coef0 {constant}")
        }
        Kernel::Rbf { gamma } => format!("rbf, gamma {gamma}"),
    }
}

/// For the end of a description: the kernel, if there is one.
pub(super) fn with_kernel(own: Option<&KernelSpec>) -> String {
    own.map_or_else(String::new, |own| format!(" with the kernel {}", own.kernel.name()))
}

/// How large a model with a kernel is.
pub(crate) struct SupportSize {
    pub(crate) inputs: usize,
    /// Pairs of an input and a label whose coefficient is not 0.
    pub(crate) parts: usize,
}

/// How large a model is, if it has a kernel.
pub(crate) fn support_size(model: &Model) -> Option<SupportSize> {
    let inputs = model.meta.spec.kernel()?.support.len();
    let coefficients = inputs * model.meta.spec.labels();
    let parts = model.weights.iter().take(coefficients).filter(|b| **b != 0.0).count();
    Some(SupportSize { inputs, parts })
}

/// Number of attributes that have weights: inputs, of a model with a kernel.
pub(super) fn weighted_attributes(model: &Model) -> usize {
    model.meta.spec.kernel().map_or(model.attributes.len(), |own| own.support.len())
}

/// Attributes by which an input is called.
const SHOWN: usize = 3;

/// The name of what has weights: an attribute, or an input, which is called by some of its attributes.
pub(super) fn weighted_name(model: &Model, at: u32) -> String {
    let Some(own) = model.meta.spec.kernel() else {
        return model.attributes.name(at).to_owned();
    };
    let input = own.support.input(at as usize);
    let mut name = format!("input {at}:");
    for (a, value) in input.pairs().take(SHOWN) {
        let _ = write!(name, " {}", model.attributes.name(a));
        if value != 1.0 {
            let _ = write!(name, "={value}");
        }
    }
    if input.attributes.len() > SHOWN {
        name.push_str(" …");
    }
    name
}
