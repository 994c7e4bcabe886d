//! Which settings can be combined, and why others cannot.

use super::{DEFAULT_RATE, Settings, SettingsError};
use crate::settings::Average;
use crate::settings::Caching;
use crate::settings::Direction;
use crate::settings::Order;
use crate::settings::Solver;
use crate::settings::Step;

/// What can be chosen for a solver. Other values are refused.
struct Choices {
    orders: &'static [Order],
    averages: &'static [Average],
    steps: &'static [Step],
    directions: &'static [Direction],
    caches: &'static [Caching],
    /// Why other orders, averages, steps, directions and caches are refused.
    why: [&'static str; 5],
}

const NO_ORDER: &[Order] = &[Order::Permutation];
const NO_AVERAGE: &[Average] = &[Average::None];
const NO_STEP: &[Step] = &[Step::LineSearch];
const ANY_STEP: &[Step] = &[Step::LineSearch, Step::Fixed];
const IN_PASSES: &[Order] = &[Order::Permutation, Order::Cyclic];
const WITHOUT_GAPS: &[Order] = &[Order::Permutation, Order::Cyclic, Order::Uniform];

fn choices(solver: Solver) -> Option<Choices> {
    let none = Choices {
        orders: NO_ORDER,
        averages: NO_AVERAGE,
        steps: NO_STEP,
        directions: &[Direction::FrankWolfe],
        caches: &[Caching::Off],
        why: [""; 5],
    };
    Some(match solver {
        Solver::BlockCoordinate => return None,
        Solver::Auto => {
            let own = "it chooses these itself; use bcfw";
            let averages = &[Average::None, Average::Uniform, Average::Weighted];
            Choices { averages, why: [own, HALF, own, own, own], ..none }
        }
        Solver::FrankWolfe => {
            let why = [
                "batch Frank-Wolfe moves all blocks at once",
                "batch Frank-Wolfe has no averaged form",
                "",
                "batch Frank-Wolfe has only its own direction",
                "batch Frank-Wolfe calls all oracles at every step",
            ];
            Choices { steps: ANY_STEP, why, ..none }
        }
        Solver::Subgradient | Solver::AdaGrad => {
            let why = [
                "it makes whole passes over the examples, permutation or cyclic, which its bound \
                 relies on",
                "",
                "its step sizes are its own",
                "it follows subgradients, not directions of a block",
                "it needs a fresh subgradient at every visit",
            ];
            let averages = &[Average::None, Average::Uniform, Average::Weighted, Average::Half];
            Choices { orders: IN_PASSES, averages, why, ..none }
        }
        Solver::Perceptron => {
            let why = [
                "a perceptron knows no block gaps",
                "the perceptron is averaged uniformly as it is",
                "a perceptron has no step sizes",
                "a perceptron moves by mistakes, not in directions of a block",
                "a perceptron needs a fresh prediction at every visit",
            ];
            let averages = &[Average::None, Average::Uniform];
            Choices { orders: WITHOUT_GAPS, averages, why, ..none }
        }
        Solver::NSlack | Solver::OneSlack => {
            let own = "cutting planes solve a QP over all planes, in their own way";
            let why = [
                "cutting planes ask all examples at once",
                "cutting planes have no averaged form",
                own,
                own,
                "cutting planes remember what they need as it is",
            ];
            Choices { why, ..none }
        }
        Solver::ExponentiatedGradient => {
            let own = "exponentiated gradient steps have their own sizes and ways";
            let why = [
                "it knows no block gaps",
                "it has no averaged form here",
                own,
                own,
                "it has no corners to remember",
            ];
            Choices { orders: WITHOUT_GAPS, why, ..none }
        }
    })
}

const HALF: &str = "only the subgradient methods average the last half";

impl Settings {
    pub(super) fn check_combinations(&self) -> Result<(), SettingsError> {
        let refuse = |first: String, second: String, why| {
            Err(SettingsError::Combination { first, second, why })
        };
        let solver = || format!("solver {}", self.solver);
        if let Some(choices) = choices(self.solver) {
            let [order, average, step, direction, cache] = choices.why;
            let wrong = [
                (
                    !choices.averages.contains(&self.average),
                    "average",
                    self.average.name(),
                    average,
                ),
                (
                    !choices.directions.contains(&self.direction),
                    "direction",
                    self.direction.name(),
                    direction,
                ),
                (!choices.caches.contains(&self.cache), "cache", self.cache.name(), cache),
                (!choices.orders.contains(&self.order), "order", self.order.name(), order),
                (!choices.steps.contains(&self.step), "step", self.step.name(), step),
            ];
            if let Some((_, what, value, why)) = wrong.into_iter().find(|(wrong, ..)| *wrong) {
                return refuse(format!("{what} {value}"), solver(), why);
            }
        } else if self.average == Average::Half {
            return refuse("average half".to_owned(), solver(), HALF);
        }
        if self.rate != DEFAULT_RATE && self.solver != Solver::AdaGrad {
            return refuse(format!("rate {}", self.rate), solver(), "only adagrad has a rate");
        }
        if self.step == Step::Fixed && self.direction != Direction::FrankWolfe {
            let why = "the fixed schedule is one of Frank-Wolfe steps";
            return refuse("step fixed".to_owned(), format!("direction {}", self.direction), why);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_choices_of_a_solver_are_rejected_by_name() {
        for solver in Solver::NAMES {
            let solver: Solver = solver.parse().unwrap();
            let plain = Settings { solver, ..Settings::default() };
            assert!(plain.check().is_ok(), "{solver}");
            if solver == Solver::BlockCoordinate {
                continue;
            }
            for (what, other) in [
                ("order gap", Settings { order: Order::Gap, ..plain.clone() }),
                ("direction away", Settings { direction: Direction::Away, ..plain.clone() }),
                ("cache on", Settings { cache: Caching::On, ..plain.clone() }),
            ] {
                let told = other.check().unwrap_err().to_string();
                let expected = format!("{what} cannot be combined with solver {solver}: ");
                assert!(told.starts_with(&expected) && told.len() > expected.len(), "{told}");
            }
        }
    }

    #[test]
    fn each_solver_has_its_own_averages() {
        for (solver, averages) in [
            ("auto", "none uniform weighted"),
            ("fw", "none"),
            ("bcfw", "none uniform weighted"),
            ("ssg", "none uniform weighted half"),
            ("adagrad", "none uniform weighted half"),
            ("perceptron", "none uniform"),
            ("n-slack", "none"),
            ("1-slack", "none"),
            ("eg", "none"),
        ] {
            let solver = solver.parse().unwrap();
            let known = |name: &&&str| {
                let average = name.parse().unwrap();
                Settings { solver, average, ..Settings::default() }.check().is_ok()
            };
            let found: Vec<&str> = Average::NAMES.iter().filter(known).copied().collect();
            assert_eq!(found.join(" "), averages, "{solver}");
        }
    }
}
