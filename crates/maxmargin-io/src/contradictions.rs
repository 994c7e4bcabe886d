//! Finds contradictions in a certificate or a model, without any data.

use crate::claim::Claim;
use crate::model::Model;
use crate::spec::Spec;
use maxmargin::{Bounds, BoundsError, Certificate, GroupBounds, Quality, Status};

/// How the numbers of a certificate contradict each other. Its gap must be primal − dual, and no primal may lie
/// below a dual.
///
/// With a heuristic oracle, the primal is only as large as what was found, so it may lie below the dual. The gap is
/// then 0.
pub(crate) fn certificate_contradiction(certificate: &Certificate) -> Option<String> {
    let Certificate { lambda, primal, dual, gap, quality, missed } = *certificate;
    if !(lambda > 0.0 && lambda.is_finite()) {
        return Some(format!("lambda is {lambda}, which is not a positive finite number"));
    }
    if let Some(missed) = missed {
        let is_known = quality == Quality::Heuristic && missed >= 0.0 && missed.is_finite();
        if !is_known {
            return Some(format!(
                "decoding is claimed to have missed at most {missed}, which no {quality} certificate states"
            ));
        }
    }
    let (difference, rounding) = (primal - dual, rounding_of(&[primal, dual, gap]));
    let is_bound = matches!(quality, Quality::Exact | Quality::UpperBound);
    if is_bound && difference < -rounding {
        return Some(format!("the primal {primal} is below the dual {dual}"));
    }
    // Comparisons with NaN are false.
    let agrees = (gap - difference.max(0.0)).abs() <= rounding && gap >= 0.0;
    (!agrees).then(|| format!("the gap is claimed to be {gap}, but primal − dual is {difference}"))
}

/// How far numbers that are computed from `sizes` may differ because of rounding.
pub(crate) fn rounding_of(sizes: &[f64]) -> f64 {
    Claim::ROUNDING * sizes.iter().map(|size| size.abs()).sum::<f64>()
}

/// The first weight that is not within its bounds.
pub(crate) fn out_of_bounds(bounds: &Bounds, weights: &[f64]) -> Option<String> {
    let limits = bounds.lower().iter().zip(bounds.upper());
    let mut wrong = weights.iter().zip(limits).enumerate().filter(|(_, (w, (lower, upper)))| {
        let slack = Claim::ROUNDING * (1.0 + w.abs());
        !(**w >= **lower - slack && **w <= **upper + slack)
    });
    wrong.next().map(|(feature, (w, (lower, upper)))| {
        format!("weight {feature} is {w}, outside its bounds from {lower} to {upper}")
    })
}

impl Claim<'_> {
    /// How the claim contradicts itself, independently of the data: its gap is not primal − dual, or the training
    /// has converged to a gap above its tolerance.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Settings, train};
    /// use maxmargin_io::Claim;
    ///
    /// let settings = Settings { lambda: Some(0.1), ..Settings::default() };
    /// let solution = train(&toy(), &settings)?;
    /// let mut claim = Claim {
    ///     certificate: solution.certificate,
    ///     settings: &settings,
    ///     status: Some(solution.status),
    ///     weights: &solution.weights,
    ///     is_pruned: false,
    /// };
    /// assert!(claim.contradictions().is_empty());
    ///
    /// claim.certificate.gap += 0.25;
    /// assert!(claim.contradictions()[0].contains("but primal − dual is"));
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    pub fn contradictions(&self) -> Vec<String> {
        let mut all: Vec<String> =
            certificate_contradiction(&self.certificate).into_iter().collect();
        all.extend(self.status_contradiction(self.certificate.gap));
        all
    }

    /// The first weight that is not within the bounds of its problem, if there is one.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Bounds, Problem as _, Settings, train};
    /// use maxmargin_io::Claim;
    ///
    /// let (problem, settings) = (toy(), Settings::default());
    /// let solution = train(&problem, &settings)?;
    /// let claim = Claim {
    ///     certificate: solution.certificate,
    ///     settings: &settings,
    ///     status: Some(solution.status),
    ///     weights: &solution.weights,
    ///     is_pruned: false,
    /// };
    /// let bounds = Bounds::none(problem.dim()).with(0..1, 1e6, 1e7)?;
    /// assert!(claim.out_of_bounds(&bounds).unwrap().starts_with("weight 0 is "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn out_of_bounds(&self, bounds: &Bounds) -> Option<String> {
        out_of_bounds(bounds, self.weights)
    }

    /// How the status contradicts a gap.
    pub(crate) fn status_contradiction(&self, gap: f64) -> Option<String> {
        let c = &self.certificate;
        let tolerance = self.settings.tolerance_at(c.dual);
        let rounding = rounding_of(&[1.0, c.primal, c.dual]);
        if c.quality == Quality::Unfinished {
            // The gap is not known, so it says nothing about the status; but it cannot have converged.
            return (self.status? == Status::Converged)
                .then(|| "the status is converged, but the certificate is unfinished".to_owned());
        }
        match self.status? {
            Status::Converged => (gap > tolerance + rounding)
                .then(|| format!("the gap is claimed to be within {tolerance}, but is {gap}")),
            // Breakpoints of a heuristic path have this status, whatever their gap is.
            Status::Estimated => None,
            status => (gap < tolerance - rounding).then(|| {
                format!("the status is {status}, but the gap {gap} is within {tolerance}, which is converged")
            }),
        }
    }
}

impl Model {
    /// How the model contradicts itself, independently of the data: all that [`Claim::contradictions`] finds, a λ
    /// that differs from that of the settings, weights outside of their bounds, and names that differ from those of
    /// the format.
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
    /// # let settings = Settings { lambda: Some(0.5), ..Settings::default() };
    /// # let solution = train(&chain, &settings)?;
    /// let mut model = Model::new(&data, ChainSpec { shape, loss, kernel: None, rescaling: Default::default() }, settings, solution);
    /// assert!(model.contradictions().is_empty());
    ///
    /// model.meta.settings.lambda = Some(0.25);
    /// let text = "the settings say lambda 0.25, but the certificate is for lambda 0.5";
    /// assert_eq!(model.contradictions(), [text]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contradictions(&self) -> Vec<String> {
        let mut all = self.claim().contradictions();
        all.extend(self.lambda_contradiction());
        all.extend(self.bounds_contradiction());
        all.extend(self.name_contradictions());
        all
    }

    pub(crate) fn lambda_contradiction(&self) -> Option<String> {
        let (lambda, n) = (self.meta.certificate.lambda, self.meta.n);
        let (stated, source) = match self.meta.settings.lambda {
            Some(stated) => (stated, String::new()),
            None => (1.0 / n as f64, format!(" (1/n for {n} examples)")),
        };
        let agree = (stated - lambda).abs() <= Claim::ROUNDING * lambda.abs();
        (!agree).then(|| {
            format!("the settings say lambda {stated}{source}, but the certificate is for lambda {lambda}")
        })
    }

    /// A bound that is stated but does not hold. A model also sets bounds of its own, which its problem knows.
    fn bounds_contradiction(&self) -> Option<String> {
        match self.meta.spec.resolve_bounds(&self.meta.bounds) {
            Ok(bounds) => bounds.and_then(|bounds| out_of_bounds(&bounds, &self.weights)),
            Err(error) => Some(format!("its bounds on weights: {error}")),
        }
    }
}

impl Spec {
    /// Bounds on the weights one by one, from those on groups; none if there are none.
    ///
    /// ```
    /// use maxmargin::GroupBounds;
    /// use maxmargin::model::chain::{ChainShape, Hamming};
    /// use maxmargin_io::{ChainSpec, Spec};
    ///
    /// let (shape, loss) = (ChainShape::new(2, 3), Hamming::default());
    /// let spec = Spec::from(ChainSpec { shape, loss, kernel: None, rescaling: Default::default() });
    /// assert_eq!(spec.resolve_bounds(&GroupBounds::default())?, None);
    ///
    /// let mut bounds = GroupBounds::default();
    /// bounds.lower.insert("transition".to_owned(), 0.0);
    /// assert_eq!(spec.resolve_bounds(&bounds)?.unwrap().lower()[shape.transition().start], 0.0);
    /// # Ok::<(), maxmargin::BoundsError>(())
    /// ```
    ///
    /// Bounds apply to the amounts that weights add to scores. So the bounds of constant features of a chain are
    /// divided by their [value](Self::transition_scale).
    ///
    /// # Errors
    /// Groups that do not exist, or bounds that leave no number between them.
    pub fn resolve_bounds(&self, bounds: &GroupBounds) -> Result<Option<Bounds>, BoundsError> {
        let groups = self.groups();
        let named: Vec<_> =
            groups.iter().map(|group| (group.name.as_str(), group.range.clone())).collect();
        let found = bounds.resolve(&named, self.dim())?;
        let (Some(own), Self::Chain(spec)) = (&found, self) else { return Ok(found) };
        let shape = spec.scoring_shape();
        let (mut lower, mut upper) = (own.lower().to_vec(), own.upper().to_vec());
        for (lower, upper) in lower.iter_mut().zip(&mut upper).skip(shape.emission().end) {
            (*lower, *upper) = divided((*lower, *upper), shape.transition_scale);
        }
        Bounds::new(lower, upper).map(Some)
    }
}

/// Bounds on weights such that `scale` times the weight is within the given bounds. If there is room, this holds in
/// spite of rounding.
fn divided((lower, upper): (f64, f64), scale: f64) -> (f64, f64) {
    let at_most = |bound: f64| {
        let divided = bound / scale;
        if divided * scale > bound { divided.next_down() } else { divided }
    };
    let inside = (-at_most(-lower), at_most(upper));
    // There may be no number between equal bounds after division.
    if inside.0 <= inside.1 { inside } else { (lower / scale, upper / scale) }
}

#[cfg(test)]
mod tests;
