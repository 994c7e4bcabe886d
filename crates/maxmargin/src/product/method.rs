//! The general method: its state, and the run that the common loop drives.

use super::domain::{Block as _, Domain};
use super::step::{Stepper, Towards};
use super::{Minimiser, ProductError, ProductSettings, Smooth};
use crate::observe::{Control, Status};
use std::ops::Range;

/// The result of the general method.
///
/// ```
/// use maxmargin::Status;
/// use maxmargin::product::{L2Ball, LeastSquares, ProductSettings, minimise};
///
/// let mut f = LeastSquares::distance_to(vec![3.0, 4.0]);
/// let found = minimise(&mut f, &mut [L2Ball::new(2, 1.0).into()], &ProductSettings::default())?;
/// assert_eq!(found.status, Status::Converged);
/// assert!((found.value - 8.0).abs() < 1e-4); // the ball is 4 away
/// assert_eq!(found.gap, found.block_gaps.iter().sum::<f64>());
/// # Ok::<(), maxmargin::product::ProductError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProductSolution {
    /// The point, block after block.
    pub x: Vec<f64>,
    /// f(x).
    pub value: f64,
    /// The certificate: f(x) exceeds the minimum by at most this.
    pub gap: f64,
    /// The gaps of the blocks, which sum to `gap`.
    pub block_gaps: Vec<f64>,
    /// `Converged`, `MaxPasses`, or `Stopped` by the observer.
    pub status: Status,
    /// Passes that were begun, with n visits each.
    pub passes: u64,
    /// Linear minimisations, including those for the gap.
    pub oracle_calls: u64,
}

/// The state after a pass at whose end all gaps were computed.
///
/// ```
/// use maxmargin::observe::Control;
/// use maxmargin::product::{LeastSquares, ProductSettings, Simplex, minimise_with};
///
/// let mut gaps = Vec::new();
/// let mut f = LeastSquares::distance_to(vec![0.6, 0.9, -1.0]);
/// let settings = ProductSettings { gap_every: 1, ..ProductSettings::default() };
/// let found = minimise_with(&mut f, &mut [Simplex::new(3).into()], &settings, |record, _x| {
///     gaps.push(record.gap);
///     Control::Continue
/// })?;
/// assert_eq!(gaps.len() as u64, found.passes);
/// # Ok::<(), maxmargin::product::ProductError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ProductRecord {
    /// Passes done.
    pub pass: u64,
    /// Linear minimisations done.
    pub oracle_calls: u64,
    /// f(x).
    pub value: f64,
    /// The sum of all block gaps.
    pub gap: f64,
}

/// Minimises f over a product of blocks, starting from a point in the middle of each block.
///
/// ```
/// use maxmargin::Order;
/// use maxmargin::product::{LeastSquares, ProductSettings, ProductStep, Simplex, minimise};
///
/// // Two distributions whose mixture with the columns of A comes nearest to b.
/// let columns = [vec![1.0, 0.0], vec![0.0, 1.0], vec![0.5, 0.0], vec![0.0, 0.5]];
/// let mut f = LeastSquares::new(&columns, vec![0.9, 0.6]);
/// let settings = ProductSettings {
///     order: Order::Gap, step: ProductStep::Exact, tolerance: 1e-8, ..ProductSettings::default()
/// };
/// let mut blocks = [Simplex::new(2).into(), Simplex::new(2).into()];
/// let found = minimise(&mut f, &mut blocks, &settings)?;
/// assert!(found.value <= 1e-8 && found.gap <= 1e-8);
/// # Ok::<(), maxmargin::product::ProductError>(())
/// ```
///
/// # Errors
/// If a setting is out of range, if a block has no coordinates or points, if the blocks do not fit the
/// function, if a corner is not a minimum, if a number is not finite, or if steps are exact but the
/// function has no [curvature](Smooth::curvature).
pub fn minimise(
    f: &mut impl Smooth,
    blocks: &mut [Domain],
    settings: &ProductSettings,
) -> Result<ProductSolution, ProductError> {
    minimise_with(f, blocks, settings, |_, _| Control::Continue)
}

/// Like [`minimise`], but with an observer that sees x after each pass at which all gaps are computed,
/// and that can end the run.
///
/// ```
/// use maxmargin::Status;
/// use maxmargin::observe::Control;
/// use maxmargin::product::{L1Ball, LeastSquares, ProductSettings, minimise_with};
///
/// let mut f = LeastSquares::distance_to(vec![2.0, 1.0]);
/// let settings = ProductSettings { gap_every: 1, tolerance: 0.0, ..ProductSettings::default() };
/// let mut blocks = [L1Ball::new(2, 1.0).into()];
/// let found = minimise_with(&mut f, &mut blocks, &settings, |record, _x| {
///     if record.gap < 0.1 { Control::Stop } else { Control::Continue }
/// })?;
/// assert_eq!(found.status, Status::Stopped);
/// # Ok::<(), maxmargin::product::ProductError>(())
/// ```
///
/// # Errors
/// The same as for [`minimise`].
pub fn minimise_with(
    f: &mut impl Smooth,
    blocks: &mut [Domain],
    settings: &ProductSettings,
    mut watch: impl FnMut(&ProductRecord, &[f64]) -> Control,
) -> Result<ProductSolution, ProductError> {
    Minimiser::new(settings.clone()).observe(&mut watch).minimise(f, blocks)
}

/// A gap may be below 0 by rounding, up to this share of its terms.
const BELOW: f64 = 1e-6;

/// The point, and scratch memory for the largest block.
pub(super) struct State<'a, F> {
    pub(super) f: &'a mut F,
    blocks: &'a mut [Domain],
    pub(super) ranges: Vec<Range<usize>>,
    pub(super) x: Vec<f64>,
    gradient: Vec<f64>,
    /// The corner, and then the direction towards it.
    corner: Vec<f64>,
    pub(super) gaps: Vec<f64>,
    pub(super) oracle_calls: u64,
}

impl<'a, F: Smooth> State<'a, F> {
    pub(super) fn new(f: &'a mut F, blocks: &'a mut [Domain]) -> Result<Self, ProductError> {
        let mut ranges = Vec::new();
        let (mut dim, mut largest) = (0, 0);
        // Check the blocks and lay out their coordinates.
        for (block, domain) in blocks.iter().enumerate() {
            let size = domain.dim();
            if size == 0 {
                return Err(ProductError::EmptyBlock { block });
            }
            domain.check().map_err(|why| ProductError::NoPoints { block, why })?;
            ranges.push(dim..dim + size);
            dim += size;
            largest = largest.max(size);
        }
        if ranges.is_empty() {
            return Err(ProductError::NoBlocks);
        }
        if let Some(expected) = f.dim().filter(|expected| *expected != dim) {
            return Err(ProductError::Size { expected, found: dim });
        }
        // Start in the middle of every block.
        let mut x = vec![0.0; dim];
        for (domain, range) in blocks.iter().zip(&ranges) {
            domain.start(&mut x[range.clone()]);
        }
        f.begin(&x);
        let (gradient, corner, gaps) =
            (vec![0.0; largest], vec![0.0; largest], vec![0.0; blocks.len()]);
        Ok(Self { f, blocks, ranges, x, gradient, corner, gaps, oracle_calls: 0 })
    }

    /// Finds the corner of block `i`, and turns it into a direction; returns the gap.
    pub(super) fn look(&mut self, i: usize) -> Result<f64, ProductError> {
        let range = self.ranges[i].clone();
        let (gradient, corner) =
            (&mut self.gradient[..range.len()], &mut self.corner[..range.len()]);
        self.f.gradient(&self.x, range.clone(), gradient);
        if !gradient.iter().all(|g| g.is_finite()) {
            return Err(ProductError::NotFinite { what: "gradient", block: i });
        }
        self.blocks[i].corner(gradient, corner);
        self.oracle_calls += 1;
        let (mut gap, mut terms) = (0.0, 0.0);
        for ((s, g), x) in corner.iter_mut().zip(&*gradient).zip(&self.x[range]) {
            terms += (s.abs() + x.abs()) * g.abs();
            *s -= x;
            gap -= *s * g;
        }
        match gap.is_finite() {
            // Rounding does not explain such a gap.
            true if gap < -BELOW * terms => Err(ProductError::NotLeast { block: i }),
            true => Ok(gap),
            false => Err(ProductError::NotFinite { what: "corner", block: i }),
        }
    }

    /// Computes the gaps of all blocks at the current point, and returns their sum.
    pub(super) fn look_at_all(&mut self) -> Result<f64, ProductError> {
        // The numbers that f keeps up to date have drifted.
        self.f.begin(&self.x);
        for i in 0..self.ranges.len() {
            // Rounding can make a gap a little negative.
            self.gaps[i] = self.look(i)?.max(0.0);
        }
        Ok(self.gaps.iter().sum())
    }

    /// Moves block `i` in the direction that was found last.
    pub(super) fn step(
        &mut self,
        i: usize,
        gap: f64,
        stepper: &mut Stepper,
        k: u64,
    ) -> Result<(), ProductError> {
        let range = self.ranges[i].clone();
        let direction = &self.corner[..range.len()];
        let way = Towards { block: i, range: range.clone(), direction, gap };
        let gamma = stepper.size(&*self.f, &self.x, &way, self.ranges.len(), k)?;
        for (x, d) in self.x[range.clone()].iter_mut().zip(direction) {
            *x += gamma * d;
        }
        self.f.moved(range, direction, gamma);
        Ok(())
    }
}
