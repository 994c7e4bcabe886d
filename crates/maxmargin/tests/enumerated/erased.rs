//! Any problem as one type, so that the engine is compiled once for all of them.

use maxmargin::{Bounds, Expectations, PointCheck, Problem, Quality, Simplices, Sink, SparseVec};
use std::any::Any;
use std::sync::Arc;

/// An output of some problem.
#[derive(Clone, Default)]
pub(crate) struct Opaque(Option<Arc<dyn Any + Send + Sync>>);

impl Opaque {
    fn get<T: 'static>(&self) -> &T {
        self.0.as_ref().and_then(|y| y.downcast_ref()).expect("an output of this problem")
    }

    /// Lets `fill` change the output, which is a default one before the first time.
    fn fill<T: Default + Clone + Send + Sync + 'static>(&mut self, fill: impl FnOnce(&mut T)) {
        let mut y: T = self.0.as_ref().and_then(|y| y.downcast_ref().cloned()).unwrap_or_default();
        fill(&mut y);
        self.0 = Some(Arc::new(y));
    }
}

/// The scratch memory of some problem.
pub(crate) type Scratch = Box<dyn Any + Send>;

fn own<P: Problem<Workspace: 'static>>(scratch: &mut Scratch) -> &mut P::Workspace {
    scratch.downcast_mut().expect("a workspace of this problem")
}

fn own_ref<P: Problem<Workspace: 'static>>(scratch: &Scratch) -> &P::Workspace {
    scratch.downcast_ref().expect("a workspace of this problem")
}

/// A problem of any type: all methods of [`Problem`], with opaque outputs and workspaces.
pub(crate) struct Erased(Box<dyn AnyProblem + Send>);

impl Erased {
    pub(crate) fn new<P>(problem: P) -> Self
    where
        P: Problem<Output: 'static, Workspace: 'static> + Send + 'static,
    {
        Self(Box::new(Inner(problem)))
    }
}

struct Inner<P>(P);

trait AnyProblem: Sync {
    fn examples(&self) -> usize;
    fn dim(&self) -> usize;
    fn workspace(&self) -> Scratch;
    fn oracle(&self, i: usize, w: &[f64], scratch: &mut Scratch, y: &mut Opaque);
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        scratch: &mut Scratch,
        y: &mut Opaque,
    ) -> bool;
    fn decode(&self, i: usize, w: &[f64], scratch: &mut Scratch, y: &mut Opaque);
    fn loss(&self, i: usize, y: &Opaque) -> f64;
    fn psi(&self, i: usize, y: &Opaque, psi: &mut SparseVec);
    fn truth(&self, i: usize) -> Option<Opaque>;
    fn weight(&self, i: usize) -> f64;
    fn has_signed_losses(&self) -> bool;
    fn quality(&self) -> Quality;
    fn total_weight(&self) -> f64;
    fn bounds(&self) -> Option<&Bounds>;
    fn prepare(&self, i: usize, w: &[f64], scratch: &mut Scratch);
    fn prepare_scores(&self, i: usize, w: &[f64], scratch: &mut Scratch, points: &[SparseVec]);
    fn prefetch(&self, i: usize);
    fn parts(&self, i: usize, y: &Opaque, parts: &mut SparseVec);
    fn truth_parts(&self, i: usize, parts: &mut SparseVec);
    fn score(&self, i: usize, w: &[f64], scratch: &Scratch, parts: &SparseVec) -> f64;
    fn norm_sq(&self, i: usize, scratch: &mut Scratch, parts: &SparseVec) -> f64;
    fn weights_norm_sq(&self, w: &[f64]) -> Option<f64>;
    fn second_objective(&self, w: &[f64]) -> Option<f64>;
    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, sink: &mut dyn Sink);
    fn simplices(&self) -> Option<&dyn Simplices<Scratch>>;
    fn expectations(&self) -> Option<&dyn Expectations<Scratch>>;
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String>;
}

impl<P: Problem<Output: 'static, Workspace: 'static>> AnyProblem for Inner<P> {
    fn examples(&self) -> usize {
        self.0.examples()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn workspace(&self) -> Scratch {
        Box::new(self.0.workspace())
    }
    fn oracle(&self, i: usize, w: &[f64], scratch: &mut Scratch, y: &mut Opaque) {
        y.fill(|y| self.0.oracle(i, w, own::<P>(scratch), y));
    }
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        scratch: &mut Scratch,
        y: &mut Opaque,
    ) -> bool {
        let mut found = false;
        y.fill(|y| found = self.0.oracle_with_loss(i, w, factor, own::<P>(scratch), y));
        found
    }
    fn decode(&self, i: usize, w: &[f64], scratch: &mut Scratch, y: &mut Opaque) {
        y.fill(|y| self.0.decode(i, w, own::<P>(scratch), y));
    }
    fn loss(&self, i: usize, y: &Opaque) -> f64 {
        self.0.loss(i, y.get())
    }
    fn psi(&self, i: usize, y: &Opaque, psi: &mut SparseVec) {
        self.0.psi(i, y.get(), psi);
    }
    fn truth(&self, i: usize) -> Option<Opaque> {
        self.0.truth(i).map(|y| Opaque(Some(Arc::new(y))))
    }
    fn weight(&self, i: usize) -> f64 {
        self.0.weight(i)
    }
    fn has_signed_losses(&self) -> bool {
        self.0.has_signed_losses()
    }
    fn quality(&self) -> Quality {
        self.0.quality()
    }
    fn total_weight(&self) -> f64 {
        self.0.total_weight()
    }
    fn bounds(&self) -> Option<&Bounds> {
        self.0.bounds()
    }
    fn prepare(&self, i: usize, w: &[f64], scratch: &mut Scratch) {
        self.0.prepare(i, w, own::<P>(scratch));
    }
    fn prepare_scores(&self, i: usize, w: &[f64], scratch: &mut Scratch, points: &[SparseVec]) {
        self.0.prepare_scores(i, w, own::<P>(scratch), points);
    }
    fn prefetch(&self, i: usize) {
        self.0.prefetch(i);
    }
    fn parts(&self, i: usize, y: &Opaque, parts: &mut SparseVec) {
        self.0.parts(i, y.get(), parts);
    }
    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.0.truth_parts(i, parts);
    }
    fn score(&self, i: usize, w: &[f64], scratch: &Scratch, parts: &SparseVec) -> f64 {
        self.0.score(i, w, own_ref::<P>(scratch), parts)
    }
    fn norm_sq(&self, i: usize, scratch: &mut Scratch, parts: &SparseVec) -> f64 {
        self.0.norm_sq(i, own::<P>(scratch), parts)
    }
    fn weights_norm_sq(&self, w: &[f64]) -> Option<f64> {
        self.0.weights_norm_sq(w)
    }
    fn second_objective(&self, w: &[f64]) -> Option<f64> {
        self.0.second_objective(w)
    }
    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, sink: &mut dyn Sink) {
        self.0.scatter(i, scale, parts, sink);
    }
    fn simplices(&self) -> Option<&dyn Simplices<Scratch>> {
        self.0.simplices().map(|_| self as &dyn Simplices<Scratch>)
    }
    fn expectations(&self) -> Option<&dyn Expectations<Scratch>> {
        self.0.expectations().map(|_| self as &dyn Expectations<Scratch>)
    }
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        self.0.check_point(i, parts, loss, slack)
    }
}

impl<P: Problem<Workspace: 'static>> Inner<P> {
    fn known_simplices(&self) -> &dyn Simplices<P::Workspace> {
        self.0.simplices().expect("asked only of those who know")
    }
    fn known_expectations(&self) -> &dyn Expectations<P::Workspace> {
        self.0.expectations().expect("asked only of those who know")
    }
}

impl<P: Problem<Workspace: 'static>> Simplices<Scratch> for Inner<P> {
    fn truth_has_part(&self) -> bool {
        self.known_simplices().truth_has_part()
    }
    fn length_sq(&self, i: usize) -> f64 {
        self.known_simplices().length_sq(i)
    }
    fn loss(&self, i: usize, part: u64) -> f64 {
        self.known_simplices().loss(i, part)
    }
    fn score(&self, i: usize, w: &[f64], part: u64) -> f64 {
        self.known_simplices().score(i, w, part)
    }
    fn values(&self, i: usize, scratch: &Scratch, values: &mut Vec<f64>) {
        self.known_simplices().values(i, own_ref::<P>(scratch), values);
    }
}

impl<P: Problem<Workspace: 'static>> Expectations<Scratch> for Inner<P> {
    fn potentials(&self, i: usize) -> usize {
        self.known_expectations().potentials(i)
    }
    fn add_values(&self, i: usize, w: &[f64], scratch: &Scratch, scale: f64, theta: &mut [f64]) {
        self.known_expectations().add_values(i, w, own_ref::<P>(scratch), scale, theta);
    }
    fn expect(&self, i: usize, theta: &[f64], scratch: &mut Scratch, parts: &mut SparseVec) -> f64 {
        self.known_expectations().expect(i, theta, own::<P>(scratch), parts)
    }
}

/// A sink of a known size, which any sink can be made.
struct Through<'a, S: ?Sized>(&'a mut S);

impl<S: Sink + ?Sized> Sink for Through<'_, S> {
    fn add(&mut self, feature: usize, value: f64) {
        self.0.add(feature, value);
    }
}

impl Problem for Erased {
    type Output = Opaque;
    type Workspace = Scratch;

    fn examples(&self) -> usize {
        self.0.examples()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn workspace(&self) -> Scratch {
        self.0.workspace()
    }
    fn oracle(&self, i: usize, w: &[f64], scratch: &mut Scratch, y: &mut Opaque) {
        self.0.oracle(i, w, scratch, y);
    }
    fn oracle_with_loss(
        &self,
        i: usize,
        w: &[f64],
        factor: f64,
        scratch: &mut Scratch,
        y: &mut Opaque,
    ) -> bool {
        self.0.oracle_with_loss(i, w, factor, scratch, y)
    }
    fn decode(&self, i: usize, w: &[f64], scratch: &mut Scratch, y: &mut Opaque) {
        self.0.decode(i, w, scratch, y);
    }
    fn loss(&self, i: usize, y: &Opaque) -> f64 {
        self.0.loss(i, y)
    }
    fn psi(&self, i: usize, y: &Opaque, psi: &mut SparseVec) {
        self.0.psi(i, y, psi);
    }
    fn truth(&self, i: usize) -> Option<Opaque> {
        self.0.truth(i)
    }
    fn weight(&self, i: usize) -> f64 {
        self.0.weight(i)
    }
    fn has_signed_losses(&self) -> bool {
        self.0.has_signed_losses()
    }
    fn quality(&self) -> Quality {
        self.0.quality()
    }
    fn total_weight(&self) -> f64 {
        self.0.total_weight()
    }
    fn bounds(&self) -> Option<&Bounds> {
        self.0.bounds()
    }
    fn prepare(&self, i: usize, w: &[f64], scratch: &mut Scratch) {
        self.0.prepare(i, w, scratch);
    }
    fn prepare_scores(&self, i: usize, w: &[f64], scratch: &mut Scratch, points: &[SparseVec]) {
        self.0.prepare_scores(i, w, scratch, points);
    }
    fn prefetch(&self, i: usize) {
        self.0.prefetch(i);
    }
    fn parts(&self, i: usize, y: &Opaque, parts: &mut SparseVec) {
        self.0.parts(i, y, parts);
    }
    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        self.0.truth_parts(i, parts);
    }
    fn score(&self, i: usize, w: &[f64], scratch: &Scratch, parts: &SparseVec) -> f64 {
        self.0.score(i, w, scratch, parts)
    }
    fn norm_sq(&self, i: usize, scratch: &mut Scratch, parts: &SparseVec) -> f64 {
        self.0.norm_sq(i, scratch, parts)
    }
    fn weights_norm_sq(&self, w: &[f64]) -> Option<f64> {
        self.0.weights_norm_sq(w)
    }
    fn second_objective(&self, w: &[f64]) -> Option<f64> {
        self.0.second_objective(w)
    }
    fn scatter<S: Sink + ?Sized>(&self, i: usize, scale: f64, parts: &SparseVec, sink: &mut S) {
        self.0.scatter(i, scale, parts, &mut Through(sink));
    }
    fn simplices(&self) -> Option<&dyn Simplices<Scratch>> {
        self.0.simplices()
    }
    fn expectations(&self) -> Option<&dyn Expectations<Scratch>> {
        self.0.expectations()
    }
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        self.0.check_point(i, parts, loss, slack)
    }
}
