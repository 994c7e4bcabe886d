//! The view of a problem that the engine is compiled against, once for all problems.
//!
//! Every [`Problem`] has its own types for outputs and scratch memory. The engine needs neither: it sees
//! corners as sparse part vectors with a loss. [`Blocks`] hides the output and the scratch memory of a
//! thread behind a [`Worker`], and scatters into one of a few [`Target`]s. A virtual call costs a
//! nanosecond or two, and a visit to a block makes about seven of them.

use super::Problem;
use super::view::View;

/// Any [`Problem`], seen as the blocks of its dual. Every problem implements this trait automatically.
///
/// Functions that train or audit take a `&dyn Blocks`, so they are compiled once and not once for every
/// type of problem. Pass a reference to a problem as it is.
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
