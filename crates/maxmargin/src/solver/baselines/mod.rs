//! The methods that the papers compare with.

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
