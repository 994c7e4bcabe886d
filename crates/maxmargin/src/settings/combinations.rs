//! Which choices go with which solver, and why others do not.

use super::method::DEFAULT_RATE;
use super::{
    Auto, Average, BlindOrder, BlockAverage, BlockCoordinate, BlockStep, Caching, Direction,
    Method, OracleAccuracy, Order, PassOrder, Reuse, SettingsError, SettingsRecord, Solver, Step,
};

/// A choice that not every solver has.
#[derive(Clone, Copy)]
enum Choice {
    Average,
    Direction,
    Cache,
    Order,
    Step,
}

impl SettingsRecord {
    /// The solver with the choices that it has. All other choices must be at their defaults.
    pub(super) fn method(&self) -> Result<Method, SettingsError> {
        use Choice::{
            Average as AverageOf, Cache, Direction as DirectionOf, Order as OrderOf, Step as StepOf,
        };
        let reuse = Reuse {
            factor: self.cache_factor,
            nu: self.cache_nu,
            bytes: self.cache_bytes,
            corners: self.cache_corners,
        };
        let (gap_power, batch) = (self.gap_power, self.batch_size());
        let method = match self.solver {
            Solver::Auto => {
                let average = self.has(AverageOf, BlockAverage::of(self.average))?;
                self.has_only_defaults(&[DirectionOf, Cache, OrderOf, StepOf])?;
                Method::Auto(Auto { average, gap_power, reuse, batch })
            }
            Solver::BlockCoordinate => {
                let average = self.has(AverageOf, BlockAverage::of(self.average))?;
                let (order, cache, step) = (self.order, self.cache, self.block_step()?);
                Method::BlockCoordinate(BlockCoordinate {
                    order,
                    gap_power,
                    step,
                    cache,
                    reuse,
                    average,
                    gap_steps: self.steps_with_gaps()?,
                    accuracy: self.accuracy()?,
                    batch,
                })
            }
            Solver::FrankWolfe => {
                self.has_only_defaults(&[AverageOf, DirectionOf, Cache, OrderOf])?;
                Method::FrankWolfe { step: self.step }
            }
            Solver::Subgradient => {
                self.has_only_defaults(&[DirectionOf, Cache])?;
                let order = self.has(OrderOf, BlindOrder::of(self.order))?;
                self.has_only_defaults(&[StepOf])?;
                Method::Subgradient { order, average: self.average }
            }
            Solver::AdaGrad => {
                self.has_only_defaults(&[DirectionOf, Cache])?;
                let order = self.has(OrderOf, PassOrder::of(self.order))?;
                self.has_only_defaults(&[StepOf])?;
                Method::AdaGrad { order, average: self.average, rate: self.rate }
            }
            Solver::Perceptron => {
                // It returns the uniform average as it is, so naming that changes nothing.
                let averaged = matches!(self.average, Average::None | Average::Uniform);
                self.has(AverageOf, averaged.then_some(()))?;
                self.has_only_defaults(&[DirectionOf, Cache])?;
                let order = self.has(OrderOf, BlindOrder::of(self.order))?;
                self.has_only_defaults(&[StepOf])?;
                Method::Perceptron { order }
            }
            Solver::NSlack | Solver::OneSlack => {
                self.has_only_defaults(&[AverageOf, DirectionOf, Cache, OrderOf, StepOf])?;
                Method::from(self.solver)
            }
            Solver::ExponentiatedGradient => {
                self.has_only_defaults(&[AverageOf, DirectionOf, Cache])?;
                let order = self.has(OrderOf, BlindOrder::of(self.order))?;
                self.has_only_defaults(&[StepOf])?;
                Method::ExponentiatedGradient { order }
            }
        };
        self.check_numbers(reuse)?;
        Ok(method)
    }

    /// The step of a block, unless it has a fixed size in a direction that has none.
    fn block_step(&self) -> Result<BlockStep, SettingsError> {
        BlockStep::new(self.direction, self.step).ok_or_else(|| SettingsError::Combination {
            first: format!("step {}", self.step),
            second: format!("direction {}", self.direction),
            why: "only Frank-Wolfe steps have a choice of sizes",
        })
    }

    /// Whether a batch step goes with every gap pass.
    fn steps_with_gaps(&self) -> Result<bool, SettingsError> {
        let refuse = |second: String, why| {
            Err(SettingsError::Combination { first: "gap_steps".to_owned(), second, why })
        };
        if !self.gap_steps {
            return Ok(false);
        }
        if self.direction != Direction::FrankWolfe || self.cache != Caching::Off {
            let second = format!("direction {}, cache {}", self.direction, self.cache);
            return refuse(second, "blocks that remember corners keep no room for others");
        }
        if self.average != Average::None {
            let second = format!("average {}", self.average);
            return refuse(second, "gap passes then look at the average and not at the iterate");
        }
        Ok(true)
    }

    /// How accurate the oracles of visits have to be.
    fn accuracy(&self) -> Result<OracleAccuracy, SettingsError> {
        let (share, slack) = (self.oracle_share, self.oracle_slack);
        let accuracy =
            OracleAccuracy::new(share, slack).ok_or_else(|| SettingsError::Combination {
                first: format!("oracle_share {share}"),
                second: format!("oracle_slack {slack}"),
                why: "both say how much of the maximum an oracle may miss",
            })?;
        match (accuracy, self.batch_size()) {
            (OracleAccuracy::Exact, _) | (_, 1) => Ok(accuracy),
            (_, batch) => Err(SettingsError::Combination {
                first: format!("batch {batch}"),
                second: format!("oracle_share {share}, oracle_slack {slack}"),
                why: "oracles of a batch are asked for the maximum",
            }),
        }
    }

    /// Refuses numbers that the solver does not read.
    fn check_numbers(&self, reuse: Reuse) -> Result<(), SettingsError> {
        let refuse = |what: &str, value: f64, why| self.refuse(format!("{what} {value}"), why);
        if self.rate != DEFAULT_RATE && self.solver != Solver::AdaGrad {
            return refuse("rate", self.rate, "only adagrad has a rate");
        }
        let (exact, why) =
            (OracleAccuracy::Exact.share_and_slack(), "only bcfw asks for less than the maximum");
        if self.solver != Solver::BlockCoordinate {
            if self.gap_steps {
                return self.refuse("gap_steps".to_owned(), "only bcfw has them");
            }
            if self.oracle_share != exact.0 {
                return refuse("oracle_share", self.oracle_share, why);
            }
            if self.oracle_slack != exact.1 {
                return refuse("oracle_slack", self.oracle_slack, why);
            }
        }
        if matches!(self.solver, Solver::Auto | Solver::BlockCoordinate) {
            return Ok(());
        }
        if let Some(batch) = self.batch {
            let why = "only auto and bcfw visit blocks in batches";
            return self.refuse(format!("batch {batch}"), why);
        }
        let (plain, why) = (Reuse::default(), "only auto and bcfw remember corners");
        if self.gap_power != 1.0 {
            return refuse(
                "gap_power",
                self.gap_power,
                "only auto and bcfw draw blocks by their gaps",
            );
        }
        if reuse.factor != plain.factor {
            return refuse("cache_factor", reuse.factor, why);
        }
        if reuse.nu != plain.nu {
            return refuse("cache_nu", reuse.nu, why);
        }
        if reuse.bytes != plain.bytes {
            return self.refuse(format!("cache_bytes {}", reuse.bytes), why);
        }
        if reuse.corners != plain.corners {
            return self.refuse(format!("cache_corners {}", reuse.corners), why);
        }
        Ok(())
    }

    /// The value of a choice in the form that the solver takes, or a refusal.
    fn has<T>(&self, choice: Choice, value: Option<T>) -> Result<T, SettingsError> {
        match value {
            Some(value) => Ok(value),
            None => self.refuse(self.written(choice), self.why_not(choice)),
        }
    }

    /// Refuses the first of these choices that is not at its default.
    fn has_only_defaults(&self, choices: &[Choice]) -> Result<(), SettingsError> {
        for &choice in choices {
            let is_default = match choice {
                Choice::Average => self.average == Average::default(),
                Choice::Direction => self.direction == Direction::default(),
                Choice::Cache => self.cache == Caching::default(),
                Choice::Order => self.order == Order::default(),
                Choice::Step => self.step == Step::default(),
            };
            self.has(choice, is_default.then_some(()))?;
        }
        Ok(())
    }

    fn refuse<T>(&self, first: String, why: &'static str) -> Result<T, SettingsError> {
        Err(SettingsError::Combination { first, second: format!("solver {}", self.solver), why })
    }

    /// The choice as it is written: its name and its value.
    fn written(&self, choice: Choice) -> String {
        match choice {
            Choice::Average => format!("average {}", self.average),
            Choice::Direction => format!("direction {}", self.direction),
            Choice::Cache => format!("cache {}", self.cache),
            Choice::Order => format!("order {}", self.order),
            Choice::Step => format!("step {}", self.step),
        }
    }

    /// Why the solver does not have the value of this choice.
    fn why_not(&self, choice: Choice) -> &'static str {
        let [average, direction, cache, order, step] = match self.solver {
            Solver::Auto => {
                let own = "it chooses these itself; use bcfw";
                [HALF, own, own, own, own]
            }
            Solver::BlockCoordinate => [HALF, "", "", "", ""],
            Solver::FrankWolfe => [
                "batch Frank-Wolfe has no averaged form",
                "batch Frank-Wolfe has only its own direction",
                "batch Frank-Wolfe calls all oracles at every step",
                "batch Frank-Wolfe moves all blocks at once",
                "",
            ],
            Solver::Subgradient | Solver::AdaGrad => [
                "",
                "it follows subgradients, not directions of a block",
                "it needs a fresh subgradient at every visit",
                match self.solver {
                    Solver::Subgradient => "it knows no block gaps",
                    _ => {
                        "it makes whole passes over the examples, permutation or cyclic, which its bound \
                         relies on"
                    }
                },
                "its step sizes are its own",
            ],
            Solver::Perceptron => [
                "the perceptron is averaged uniformly as it is",
                "a perceptron moves by mistakes, not in directions of a block",
                "a perceptron needs a fresh prediction at every visit",
                "a perceptron knows no block gaps",
                "a perceptron has no step sizes",
            ],
            Solver::NSlack | Solver::OneSlack => {
                let own = "cutting planes solve a QP over all planes, in their own way";
                [
                    "cutting planes have no averaged form",
                    own,
                    "cutting planes remember what they need as it is",
                    "cutting planes ask all examples at once",
                    own,
                ]
            }
            Solver::ExponentiatedGradient => {
                let own = "exponentiated gradient steps have their own sizes and ways";
                [
                    "it has no averaged form here",
                    own,
                    "it has no corners to remember",
                    "it knows no block gaps",
                    own,
                ]
            }
        };
        match choice {
            Choice::Average => average,
            Choice::Direction => direction,
            Choice::Cache => cache,
            Choice::Order => order,
            Choice::Step => step,
        }
    }
}

const HALF: &str = "only the subgradient methods average the last half";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_choices_of_a_solver_are_rejected_by_name() {
        for solver in Solver::NAMES {
            let solver: Solver = solver.parse().unwrap();
            let plain = SettingsRecord { solver, ..SettingsRecord::default() };
            assert!(plain.settings().is_ok(), "{solver}");
            if solver == Solver::BlockCoordinate {
                continue;
            }
            for (what, other) in [
                ("order gap", SettingsRecord { order: Order::Gap, ..plain.clone() }),
                ("direction away", SettingsRecord { direction: Direction::Away, ..plain.clone() }),
                ("cache on", SettingsRecord { cache: Caching::On, ..plain.clone() }),
            ] {
                let told = other.settings().unwrap_err().to_string();
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
                SettingsRecord { solver, average, ..SettingsRecord::default() }.settings().is_ok()
            };
            let found: Vec<&str> = Average::NAMES.iter().filter(known).copied().collect();
            assert_eq!(found.join(" "), averages, "{solver}");
        }
    }

    #[test]
    fn numbers_that_a_solver_does_not_read_are_rejected() {
        for solver in Solver::NAMES {
            let solver: Solver = solver.parse().unwrap();
            let plain = SettingsRecord { solver, ..SettingsRecord::default() };
            let remembers = matches!(solver, Solver::Auto | Solver::BlockCoordinate);
            for (what, other) in [
                ("gap_power 2", SettingsRecord { gap_power: 2.0, ..plain.clone() }),
                ("batch 4", SettingsRecord { batch: Some(4), ..plain.clone() }),
                ("cache_factor 0.5", SettingsRecord { cache_factor: 0.5, ..plain.clone() }),
                ("cache_nu 0.5", SettingsRecord { cache_nu: 0.5, ..plain.clone() }),
                ("cache_bytes 7", SettingsRecord { cache_bytes: 7, ..plain.clone() }),
                ("cache_corners 7", SettingsRecord { cache_corners: 7, ..plain.clone() }),
            ] {
                match other.settings() {
                    Ok(settings) => assert!(remembers && settings.record() == other, "{solver}"),
                    Err(error) => {
                        let expected = format!("{what} cannot be combined with solver {solver}: ");
                        assert!(!remembers && error.to_string().starts_with(&expected), "{error}");
                    }
                }
            }
        }
    }
}
