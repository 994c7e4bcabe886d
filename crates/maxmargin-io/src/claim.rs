//! Compares the claims of a model with what an audit finds.

use crate::contradictions::certificate_contradiction;
use crate::model::Model;
use maxmargin::model::soft::SoftGraph;
use maxmargin::{Audit, Certificate, Quality, Settings, Status};

/// A claim about weights: that they are as good as a certificate says.
///
/// ```
/// use maxmargin::{Settings, audit, train};
/// # use maxmargin::doc::toy;
/// use maxmargin_io::Claim;
///
/// let problem = toy();
/// let settings = Settings { lambda: Some(0.1), ..Settings::default() };
/// let solution = train(&problem, &settings)?;
/// let mut claim = Claim {
///     certificate: solution.certificate,
///     settings: &settings,
///     status: Some(solution.status),
///     weights: &solution.weights,
///     is_pruned: false,
/// };
/// let found = audit(&problem, 0.1, &solution.weights, &solution.dual, Claim::ROUNDING, 1)?;
/// assert!(claim.findings(&found).is_empty());
///
/// claim.certificate.primal -= 0.25;
/// assert!(claim.findings(&found)[0].starts_with("the primal is claimed to be"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// The certificate that is claimed.
    pub certificate: Certificate,
    /// The settings of the training.
    pub settings: &'a Settings,
    /// Why training ended, if that is known.
    pub status: Option<Status>,
    /// The weights.
    pub weights: &'a [f64],
    /// Whether some of the weights were set to zero after the training. The weights then no longer follow from the
    /// dual point, and the status says nothing about the gap.
    pub is_pruned: bool,
}

impl Claim<'_> {
    /// Numbers that were computed twice in different orders agree up to this difference, relative to their size.
    ///
    /// ```
    /// assert!(maxmargin_io::Claim::ROUNDING < 1e-8);
    /// ```
    pub const ROUNDING: f64 = 1e-9;

    /// Returns everything that contradicts the claim, including its [own contradictions](Self::contradictions). The
    /// list is empty if the claim holds. If the dual point is infeasible, its value means nothing, so the list says
    /// no more about it.
    pub fn findings(&self, audit: &Audit) -> Vec<String> {
        if let Some((example, why)) = &audit.infeasible {
            let why = format!("the dual point is not feasible: in example {example}, {why}");
            return std::iter::once(why).chain(self.contradictions()).collect();
        }
        let mut findings = Vec::new();
        let scale = self.weights.iter().fold(1.0, |most: f64, w| most.max(w.abs()));
        // With some methods, the weights do not follow from the dual point. It is still a bound.
        let from_dual = self.settings.weights_from_dual() && !self.is_pruned;
        let rounding = audit.weight_rounding.max(Self::ROUNDING * scale);
        if from_dual && audit.weight_residual > rounding {
            let residual = audit.weight_residual;
            findings
                .push(format!("the weights differ by {residual:e} from those of the dual point"));
        }
        let (claimed, found) = (&self.certificate, &audit.certificate);
        if claimed.quality == Quality::Unfinished {
            findings.extend(self.unfinished_findings(found));
            findings.extend(self.contradictions());
            return findings;
        }
        findings.extend(differences([
            ("primal", claimed.primal, found.primal),
            ("dual", claimed.dual, found.dual),
            ("gap", claimed.gap, found.gap),
        ]));
        findings.extend(missed_finding(claimed, found));
        findings.extend(self.quality_finding(audit));
        findings.extend(certificate_contradiction(claimed));
        let contradiction = self.status_contradiction(found.gap);
        findings.extend(contradiction.or_else(|| self.status_contradiction(claimed.gap)));
        findings
    }
}

impl Claim<'_> {
    /// What contradicts a certificate whose exact pass was cut. Its primal and its gap are lower bounds.
    fn unfinished_findings(&self, found: &Certificate) -> Vec<String> {
        let claimed = &self.certificate;
        let mut findings = differences([("dual", claimed.dual, found.dual)]);
        for (what, claimed, found) in
            [("primal", claimed.primal, found.primal), ("gap", claimed.gap, found.gap)]
        {
            // Comparisons with NaN are false.
            let slack = Self::ROUNDING * (1.0 + claimed.abs() + found.abs());
            let is_bound = claimed <= found + slack;
            if !is_bound {
                findings.push(format!(
                    "the {what} is claimed to be at least {claimed}, but is {found}"
                ));
            }
        }
        findings
    }

    /// What contradicts the quality that is claimed.
    ///
    /// A point that can be neither proven nor disproven contradicts nothing. The audit says that it is unproven,
    /// and whoever shows the verdict must say so too.
    fn quality_finding(&self, audit: &Audit) -> Option<String> {
        let (claimed, found) = (self.certificate.quality, audit.certificate.quality);
        let is_worse_only_by_point = claimed.with_point(audit.point) == found;
        match (claimed, found) {
            _ if claimed == found => None,
            (_, Quality::Unproven) if is_worse_only_by_point => None,
            _ => Some(format!("the certificate is claimed to be {claimed}, but is {found}")),
        }
    }
}

impl Model {
    /// What the model claims.
    ///
    /// ```
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// # use maxmargin::{Settings, train};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, Model, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = Settings::default();
    /// # let solution = train(&chain, &settings)?;
    /// let model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// assert_eq!(model.claim().certificate, model.meta.certificate);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn claim(&self) -> Claim<'_> {
        Claim {
            certificate: self.meta.certificate,
            settings: &self.meta.settings,
            status: self.meta.pruned.is_none().then_some(self.meta.status),
            weights: &self.weights,
            is_pruned: self.meta.pruned.is_some(),
        }
    }

    /// What an audit of the weights that were trained contradicts.
    pub(crate) fn findings(&self, weights: &[f64], audit: &Audit) -> Vec<String> {
        let mut claim = Claim { weights, ..self.claim() };
        // If its oracle once fell behind its own point, by rounding, a run claims less than an audit that sees none of it.
        let (claimed, found) = (claim.certificate.quality, audit.certificate.quality);
        let is_less = matches!(
            (claimed, found),
            (Quality::Heuristic, Quality::Exact) | (Quality::Unproven, Quality::UpperBound)
        );
        if is_less && self.meta.totals.oracle_failures > 0 {
            claim.certificate.quality = found;
        }
        claim.findings(audit)
    }

    /// Which claims of the model about its soft constraints do not hold.
    ///
    /// ```
    /// # use maxmargin::doc::soft_pictures;
    /// # use maxmargin::model::chain::{Chain, ChainShape, Hamming};
    /// # use maxmargin::{Settings, train};
    /// # use maxmargin_io::{ChainSpec, Format, Lines, Model, open_reader, read_training};
    /// # let lines = Lines::from_reader("pets.txt", "noun\tcat\nverb\tpurrs\n".as_bytes())?;
    /// # let data = read_training(open_reader(lines, Some(Format::Crfsuite))?)?;
    /// # let shape = ChainShape::new(data.labels.len(), data.attributes.len());
    /// # let loss = Hamming::default();
    /// # let chain = Chain::new(shape, data.sequences.clone(), &loss)?;
    /// # let settings = Settings::default();
    /// # let solution = train(&chain, &settings)?;
    /// // A model that was not trained so claims nothing.
    /// let model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// assert!(model.soft_findings(&soft_pictures(0.05)).is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn soft_findings(&self, problem: &SoftGraph) -> Vec<String> {
        let Some(claimed) = self.meta.spec.soft() else { return Vec::new() };
        // The problem knows the attributes as they were scaled.
        let (lambda, weights) = (self.meta.certificate.lambda, &self.trained_weights());
        differences([
            ("lambda of the soft problem", claimed.lambda, lambda),
            ("hard objective", claimed.hard_objective, problem.hard_objective(weights)),
            ("largest violation", claimed.violation.0, problem.violation(weights).0),
        ])
    }
}

/// What contradicts the claim that decoding has missed no more than stated. Claiming a larger number than was found
/// is no contradiction. Claiming nothing is none either.
fn missed_finding(claimed: &Certificate, found: &Certificate) -> Option<String> {
    let own = claimed.missed?;
    let Some(found) = found.missed else {
        // An audit that proves nothing says so, and needs no finding.
        return (found.quality != Quality::Unproven).then(|| {
            format!("decoding is claimed to have missed at most {own}, which nothing confirms")
        });
    };
    // Comparisons with NaN are false.
    let is_bound = own >= found - Claim::ROUNDING * (1.0 + own.abs() + found.abs());
    (!is_bound).then(|| {
        format!("decoding is claimed to have missed at most {own}, but may have missed {found}")
    })
}

/// Which numbers differ from the claimed ones. NaN always differs.
fn differences<const N: usize>(all: [(&str, f64, f64); N]) -> Vec<String> {
    let agree = |claimed: f64, found: f64| {
        (claimed - found).abs() <= Claim::ROUNDING * (1.0 + claimed.abs() + found.abs())
    };
    let wrong = all.into_iter().filter(|(_, claimed, found)| !agree(*claimed, *found));
    wrong
        .map(|(what, claimed, found)| {
            format!("the {what} is claimed to be {claimed}, but is {found}")
        })
        .collect()
}
