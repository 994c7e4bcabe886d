//! The macro with which a wrapper forwards methods to the problem inside.

/// Forwards all methods of [`Problem`](crate::Problem) to the problem inside, except for those that are
/// listed.
///
/// A wrapper changes a few things about a problem and leaves the rest as it is. If methods are forwarded
/// by hand, a forgotten method silently takes its default, and the wrapper behaves differently from the
/// problem inside: without the [abilities](crate::Problem::abilities) of a kernel, for example, a
/// certificate is wrong. So the author of a wrapper lists what is *not* forwarded:
///
/// - the field with the problem inside, as `self.inner` or `self.0`;
/// - where the workspace of that problem is: `workspace` if the wrapper has the same one,
///   `workspace.inner` if it is a field of the wrapper's workspace;
/// - the methods that are not forwarded. The wrapper implements them itself or uses their defaults. It is
///   good style to say why beside each name.
///
/// ```
/// use maxmargin::doc::toy;
/// use maxmargin::{Problem, Settings, forward_problem, train};
///
/// /// A problem whose examples count the more, the later they come.
/// struct Later<P>(P);
///
/// impl<P: Problem> Problem for Later<P> {
///     type Output = P::Output;
///     type Workspace = P::Workspace;
///
///     forward_problem!(self.0, workspace, except [
///         weight, // replaced
///     ]);
///
///     fn weight(&self, i: usize) -> f64 {
///         (i + 1) as f64
///     }
/// }
///
/// let solution = train(&Later(toy()), &Settings::default())?;
/// assert!(solution.certificate.gap <= 0.01);
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
///
/// A name that is not a method of [`Problem`](crate::Problem) does not compile:
///
/// ```compile_fail
/// # use maxmargin::{Problem, forward_problem};
/// struct Same<P>(P);
///
/// impl<P: Problem> Problem for Same<P> {
///     type Output = P::Output;
///     type Workspace = P::Workspace;
///     forward_problem!(self.0, workspace, except [bound]); // `bounds` is one
/// }
/// ```
///
/// # Which wrappers go together
///
/// Rows are the outer wrappers, columns the problems inside. Example weights are part of the data, so
/// they are always inside. [Soft constraints](crate::model::soft) are made from data and not from a
/// problem.
///
/// | | [`Bounded`] | [`Kernelised`] | [`SlackRescaled`] | example weights | [`SoftGraph`] |
/// |---|---|---|---|---|---|
/// | [`Bounded`] | the outer bounds hold | only bounds that bound nothing, else [`BoundedLength`] | yes | yes | yes |
/// | [`Kernelised`] | no such type; bounds of the problem's own: [`KernelError::Bounds`] | no such type | no such type | yes | no such type |
/// | [`SlackRescaled`] | no such type (put the bounds around); bounds of the problem's own: yes | no such type | no such type | yes | no such type |
/// | [`SoftGraph`] | no such type | no such type | no such type | yes | no such type |
///
/// [`Bounded`]: crate::Bounded
/// [`Kernelised`]: crate::kernel::Kernelised
/// [`SlackRescaled`]: crate::SlackRescaled
/// [`SoftGraph`]: crate::model::soft::SoftGraph
/// [`BoundedLength`]: crate::TrainError::BoundedLength
/// [`KernelError::Bounds`]: crate::kernel::KernelError::Bounds
#[macro_export]
macro_rules! forward_problem {
    (self.$problem:tt, $workspace:ident $(.$inner:tt)?, except [$($name:ident),* $(,)?]) => {
        // Check the names: a name in a list of its own is skipped if it is a method, and fails to compile
        // if not.
        $($crate::forward_problem! { @unless $name [$name] {} })*
        $crate::forward_problem! { @list @each [$($name)*] { $problem $workspace $(.$inner)? } }
    };

    // All methods of the trait, in its order.
    (@list $($then:tt)*) => {
        $crate::forward_problem! {
            $($then)*
            examples dim workspace oracle decode loss psi weight quality bounds abilities
        }
    };
    (@names $($method:ident)*) => { [$(stringify!($method)),*] };
    (@each $except:tt $how:tt $($method:ident)*) => {
        $($crate::forward_problem! { @unless $method $except $how })*
    };

    // A listed method is skipped.
    (@unless examples [examples $($more:ident)*] $how:tt) => {};
    (@unless dim [dim $($more:ident)*] $how:tt) => {};
    (@unless workspace [workspace $($more:ident)*] $how:tt) => {};
    (@unless oracle [oracle $($more:ident)*] $how:tt) => {};
    (@unless decode [decode $($more:ident)*] $how:tt) => {};
    (@unless loss [loss $($more:ident)*] $how:tt) => {};
    (@unless psi [psi $($more:ident)*] $how:tt) => {};
    (@unless weight [weight $($more:ident)*] $how:tt) => {};
    (@unless quality [quality $($more:ident)*] $how:tt) => {};
    (@unless bounds [bounds $($more:ident)*] $how:tt) => {};
    (@unless abilities [abilities $($more:ident)*] $how:tt) => {};
    // The first name in the list is a different one: go on with the rest.
    (@unless $method:ident [$other:ident $($more:ident)*] $how:tt) => {
        $crate::forward_problem! { @unless $method [$($more)*] $how }
    };

    // A method that is not listed is forwarded.
    (@unless examples [] { $problem:tt $($how:tt)* }) => {
        fn examples(&self) -> usize {
            $crate::Problem::examples(&self.$problem)
        }
    };
    (@unless dim [] { $problem:tt $($how:tt)* }) => {
        fn dim(&self) -> usize {
            $crate::Problem::dim(&self.$problem)
        }
    };
    (@unless workspace [] { $problem:tt $($how:tt)* }) => {
        fn workspace(&self) -> Self::Workspace {
            $crate::Problem::workspace(&self.$problem)
        }
    };
    (@unless oracle [] { $problem:tt $workspace:ident $($inner:tt)* }) => {
        fn oracle(
            &self,
            i: usize,
            w: &[f64],
            $workspace: &mut Self::Workspace,
            y: &mut Self::Output,
        ) {
            $crate::Problem::oracle(&self.$problem, i, w, &mut (*$workspace)$($inner)*, y);
        }
    };
    (@unless decode [] { $problem:tt $workspace:ident $($inner:tt)* }) => {
        fn decode(
            &self,
            i: usize,
            w: &[f64],
            $workspace: &mut Self::Workspace,
            y: &mut Self::Output,
        ) {
            $crate::Problem::decode(&self.$problem, i, w, &mut (*$workspace)$($inner)*, y);
        }
    };
    (@unless loss [] { $problem:tt $($how:tt)* }) => {
        fn loss(&self, i: usize, y: &Self::Output) -> f64 {
            $crate::Problem::loss(&self.$problem, i, y)
        }
    };
    (@unless psi [] { $problem:tt $($how:tt)* }) => {
        fn psi(&self, i: usize, y: &Self::Output, psi: &mut $crate::SparseVec) {
            $crate::Problem::psi(&self.$problem, i, y, psi);
        }
    };
    (@unless weight [] { $problem:tt $($how:tt)* }) => {
        fn weight(&self, i: usize) -> f64 {
            $crate::Problem::weight(&self.$problem, i)
        }
    };
    (@unless quality [] { $problem:tt $($how:tt)* }) => {
        fn quality(&self) -> $crate::Quality {
            $crate::Problem::quality(&self.$problem)
        }
    };
    (@unless bounds [] { $problem:tt $($how:tt)* }) => {
        fn bounds(&self) -> Option<&$crate::Bounds> {
            $crate::Problem::bounds(&self.$problem)
        }
    };
    // The types of abilities mention the workspace, so only a wrapper with the same workspace can forward
    // them.
    (@unless abilities [] { $problem:tt $($how:tt)* }) => {
        fn abilities(&self) -> $crate::problem::Abilities<'_, Self::Workspace, Self::Output> {
            $crate::Problem::abilities(&self.$problem)
        }
    };
    (@unless $unknown:ident [] $how:tt) => {
        compile_error!(concat!("`", stringify!($unknown), "` is not a method of `Problem`"));
    };
}

#[cfg(test)]
mod tests {
    /// The names of the methods of the trait, read off its source.
    fn methods_of_the_trait() -> Vec<&'static str> {
        let source = include_str!("mod.rs");
        let (_, body) = source.split_once("pub trait Problem").expect("the trait is there");
        let (body, _) = body.split_once("\n}\n").expect("the trait ends");
        let methods = body.lines().filter_map(|line| line.trim_start().strip_prefix("fn "));
        methods.filter_map(|rest| rest.split(['(', '<']).next()).collect()
    }

    #[test]
    fn every_method_of_the_trait_is_forwarded() {
        let methods = methods_of_the_trait();
        assert!(methods.len() == 11, "{methods:?}");
        let forwarded = forward_problem!(@list @names).to_vec();
        assert_eq!(forwarded, methods, "a method of `Problem` is missing in `forward_problem!`");
    }
}
