//! Known outputs, and the checks that relate their features, parts and losses.

use super::Law;
use super::look::Look;
use super::report::show;
use crate::problem::sparse::SparseVec;

/// Numbers may differ by this share of the terms that they are sums of.
pub(super) const ROUNDING: f64 = 1e-6;

/// A term this small relative to the largest one may be the residue of two terms that cancel.
const RESIDUE: f64 = 1e-12;

/// A phrase that says where an output comes from.
pub(super) type Source = &'static str;

pub(super) const TRUTH: Source = "the truth";
pub(super) const BY_ORACLE: Source = "an output that the oracle found";
pub(super) const BY_DECODING: Source = "an output that decoding found";
pub(super) const GIVEN: Source = "an output that was given";

/// The numbers of an output that the laws are about.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// ψᵢ(y), without zeros.
    pub(super) psi: SparseVec,
    /// pᵢ(y) − pᵢ(yᵢ).
    pub(super) way: SparseVec,
    /// For each feature, the sum of the absolute values of the terms of ψᵢ(y) and Bᵢp.
    pub(super) terms: SparseVec,
    pub(super) loss: f64,
    pub(super) source: Source,
    /// Whether the caller has passed this output.
    pub(super) is_given: bool,
}

impl Known {
    /// The true output: ψᵢ(yᵢ) = 0 and Lᵢ(yᵢ) = 0, whether or not the problem hands it out.
    pub(super) fn truth() -> Self {
        let (psi, way, terms) = (SparseVec::new(), SparseVec::new(), SparseVec::new());
        Self { psi, way, terms, loss: 0.0, source: TRUTH, is_given: false }
    }

    /// Whether features and loss are those of the truth, up to rounding.
    pub(super) fn is_truth(&self) -> bool {
        self.loss == 0.0 && self.differing(1.0, &self.psi, &SparseVec::new()).is_none()
    }

    pub(super) fn sum_of_terms(&self) -> f64 {
        self.terms.entries().iter().map(|(_, x)| x).sum()
    }

    /// Whether both outputs have the same features, parts and loss.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.loss == other.loss && self.way == other.way && self.psi == other.psi
    }

    /// a·self + b·other, as training combines the points of a block.
    fn mixed(a: f64, first: &Self, b: f64, second: &Self) -> Self {
        let mix = |first: &SparseVec, second: &SparseVec, a: f64, b: f64| {
            let mut sum = first.clone();
            sum.scale(a);
            sum.add_scaled(b, second);
            sum
        };
        Self {
            psi: mix(&first.psi, &second.psi, a, b),
            way: mix(&first.way, &second.way, a, b),
            terms: mix(&first.terms, &second.terms, a.abs(), b.abs()),
            loss: a * first.loss + b * second.loss,
            source: "a combination of two outputs",
            is_given: false,
        }
    }

    /// The first feature at which two vectors differ by more than rounding, with both values. The terms
    /// of the vectors are `factor` times those of this output.
    fn differing(&self, factor: f64, a: &SparseVec, b: &SparseVec) -> Option<(u64, f64, f64)> {
        let largest = self.terms.entries().iter().fold(0.0f64, |most, (_, x)| most.max(*x));
        let at = |vector: &SparseVec, feature: u64| {
            let found = vector.entries().binary_search_by_key(&feature, |entry| entry.0);
            found.map_or(0.0, |at| vector.entries()[at].1)
        };
        self.terms.entries().iter().find_map(|&(feature, terms)| {
            let (a, b) = (at(a, feature), at(b, feature));
            let allowed = factor * (ROUNDING * terms + RESIDUE * largest);
            ((a - b).abs() > allowed).then_some((feature, a, b))
        })
    }
}

/// Whether two numbers differ by more than rounding. NaN differs from every number.
pub(super) fn differ(a: f64, b: f64, size: f64) -> bool {
    (a - b).is_nan() || (a - b).abs() > ROUNDING * size
}

fn absolute(vector: &SparseVec) -> SparseVec {
    vector.entries().iter().map(|&(feature, x)| (feature, x.abs())).collect()
}

impl Look<'_, '_> {
    /// Computes the numbers of the output of example `i` that is looked at. If they cannot be used, reports a broken
    /// law and returns `None`.
    pub(super) fn describe(&mut self, i: usize, source: Source) -> Option<Known> {
        let problem = &mut *self.problem;
        // Loss and features.
        let (loss, mut psi) = (problem.loss(i), SparseVec::new());
        problem.psi(i, &mut psi);
        if !loss.is_finite() || !psi.is_finite() {
            let what = if loss.is_finite() { "features that are" } else { "a loss that is" };
            let message = || format!("{source} has {what} not finite");
            self.report.add(Law::Finite, i, message);
            return None;
        }
        if loss < 0.0 && !problem.has_signed_losses() {
            let message =
                || format!("{source} has the loss {}; losses must not be negative", show(loss));
            self.report.add(Law::Loss, i, message);
        }
        self.check_coordinates(i, &psi, "psi")?;
        let terms = absolute(&psi);
        psi.normalise();
        let psi = psi.entries().iter().copied().filter(|(_, x)| *x != 0.0).collect();

        // Parts.
        let (mut parts, mut truth, mut way) =
            (SparseVec::new(), SparseVec::new(), SparseVec::new());
        self.problem.parts(i, &mut parts);
        self.problem.truth_parts(i, &mut truth);
        if !parts.is_finite() || !truth.is_finite() {
            let message = || format!("{source} has parts that are not finite");
            self.report.add(Law::Finite, i, message);
            return None;
        }
        for (parts, whose) in [(&parts, source), (&truth, TRUTH)] {
            if !parts.is_normalised() {
                let message =
                    || format!("the parts of {whose} do not ascend strictly by coordinate");
                self.report.add(Law::Normalised, i, message);
                return None;
            }
        }
        way.assign_difference(&parts, &truth);
        // The image of the parts, which the algebra is checked with later.
        let mut known = Known { psi, way, terms, loss, source, is_given: false };
        let mut image = SparseVec::new();
        self.problem.scatter(i, -1.0, &known.way, (&mut image).into());
        if !image.is_finite() || !self.length_sq(&known.psi).is_finite() {
            let message = || format!("{source} has features that are too large");
            self.report.add(Law::Finite, i, message);
            return None;
        }
        self.check_coordinates(i, &image, "scatter")?;
        known.terms.add_scaled(1.0, &absolute(&image));
        Some(known)
    }

    fn check_coordinates(&mut self, i: usize, vector: &SparseVec, method: &str) -> Option<()> {
        let dim = self.problem.dim();
        let beyond = vector.entries().iter().find(|(feature, _)| *feature >= dim as u64);
        let Some(&(feature, _)) = beyond else { return Some(()) };
        let message = || format!("{method} has the coordinate {feature}, but dim is {dim}");
        self.report.add(Law::Coordinates, i, message);
        None
    }

    /// Checks the loss and the features of the truth, if the problem hands it out.
    pub(super) fn check_truth(&mut self, i: usize) {
        if !self.problem.find_truth(i) {
            return;
        }
        let Some(truth) = self.describe(i, TRUTH) else { return };
        if truth.loss != 0.0 {
            let message = || format!("the true output has the loss {}, not 0", show(truth.loss));
            self.report.add(Law::TruthLoss, i, message);
        }
        if let Some((feature, x, _)) = truth.differing(1.0, &truth.psi, &SparseVec::new()) {
            let message =
                || format!("psi of the true output is {} at feature {feature}, not 0", show(x));
            self.report.add(Law::TruthFeatures, i, message);
        }
    }

    /// Checks `scatter` and `norm_sq` against the features, for outputs and for combinations of two
    /// outputs.
    pub(super) fn check_algebra(&mut self, i: usize, known: &[Known]) {
        for output in known {
            self.check_scatter(i, output, -1.0);
            self.check_norm(i, output);
        }
        for pair in known.windows(2).take(4) {
            let mixed = Known::mixed(0.25, &pair[0], -0.75, &pair[1]);
            self.check_scatter(i, &mixed, -2.0);
            self.check_norm(i, &mixed);
        }
    }

    fn check_scatter(&mut self, i: usize, known: &Known, scale: f64) {
        let (mut image, mut psi) = (SparseVec::new(), known.psi.clone());
        self.problem.scatter(i, scale, &known.way, (&mut image).into());
        image.normalise();
        psi.scale(-scale);
        if let Some((feature, found, expected)) = known.differing(scale.abs(), &image, &psi) {
            let message = || {
                format!(
                    "scattering the parts of {} adds {} at feature {feature}, but by psi it is {}",
                    known.source,
                    show(found),
                    show(expected)
                )
            };
            self.report.add(Law::Scatter, i, message);
        }
    }

    fn check_norm(&mut self, i: usize, known: &Known) {
        let found = self.problem.norm_sq(i, &known.way);
        let expected = self.length_sq(&known.psi);
        let size = match self.has_kernel {
            true => expected.abs() + found.abs() + ROUNDING * known.sum_of_terms().powi(2),
            false => known.terms.norm_sq(),
        };
        if differ(found, expected, size) {
            let message = || {
                let (found, expected) = (show(found), show(expected));
                format!("norm_sq of {} is {found}, but by psi it is {expected}", known.source)
            };
            self.report.add(Law::NormSq, i, message);
        }
    }

    /// ‖ψ‖², or the squared length in the space of the kernel.
    pub(super) fn length_sq(&self, psi: &SparseVec) -> f64 {
        match self.has_kernel {
            true => self.kernel_length_sq(psi, 1.0, None),
            false => psi.norm_sq(),
        }
    }

    /// ‖w + factor·ψ‖² in the space of the kernel.
    pub(super) fn kernel_length_sq(&self, psi: &SparseVec, factor: f64, w: Option<&[f64]>) -> f64 {
        let mut dense = w.map_or_else(|| vec![0.0; self.problem.dim()], <[f64]>::to_vec);
        psi.entries().iter().for_each(|&(at, x)| dense[at as usize] += factor * x);
        self.problem.weights_norm_sq(&dense).unwrap_or(f64::NAN)
    }
}
