//! The view of a problem that the engine is compiled against, once for all problems.
//!
//! A [`Problem`] has types of its own for outputs and scratch memory. The engine needs neither: it sees
//! corners as sparse part vectors with a loss. [`Blocks`] hides the output and the scratch memory of a
//! thread behind a [`Worker`], and scatters into one of a few [`Target`]s. One call through a table costs a
//! nanosecond or two, and a visit to a block makes about seven of them.

use super::Problem;
use super::view::View;

/// Any [`Problem`], seen as the blocks of a dual. Every problem is one; there is nothing to implement.
///
/// Functions that train or audit take a `&dyn Blocks`, and a reference to a problem is passed as it is. They
/// are compiled once, not once for every type of problem.
///
/// ```
/// use maxmargin::{Blocks, Settings, doc, train};
///
/// let problems: [&dyn Blocks; 2] = [&doc::toy(), &doc::labels()];
/// for problem in problems {
///     assert!(train(problem, &Settings::default())?.certificate.gap <= 0.01);
/// }
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
pub trait Blocks: View {}

impl<P: Problem> Blocks for P {}
