//! The methods that the papers compare with.
//!
//! A certificate is P(w) − D(α) for any w and any feasible α, so a baseline needs a dual point and nothing
//! more. Cutting planes and exponentiated gradients are dual methods with w = Aα. After whole passes the
//! subgradient method's w is Aα too (`means`). Its averages, AdaGrad and the perceptron have weights of
//! their own, and α is only their bound.
//!
//! The methods that learn from one example at a time share `sweep`; `n_slack` and `one_slack` are rounds of
//! `solver::batch`.

mod adagrad;
mod corner_store;
mod eg;
mod lazy_average;
mod means;
mod n_slack;
mod one_slack;
mod perceptron;
mod simplex_qp;
mod ssg;
mod sweep;

pub(super) use adagrad::AdaGrad;
pub(super) use eg::ExponentiatedGradient;
pub(super) use n_slack::NSlack;
pub(super) use one_slack::OneSlack;
pub(super) use perceptron::Perceptron;
pub(super) use ssg::Subgradient;
pub(super) use sweep::Sweep;
