//! Random settings, most of which have a meaning.

use crate::recipe::{log_uniform, pick, pick_name};
use maxmargin::{Average, Caching, Direction, Order, Rng, SettingsRecord, Solver, Step};

/// Settings by name for a run at `lambda`.
pub(crate) fn draw_settings(rng: &mut Rng, lambda: f64) -> SettingsRecord {
    let solver: Solver = pick_name(rng, Solver::NAMES);
    let tolerance = match rng.below(4) {
        0 => 0.0,
        _ => log_uniform(rng, -8.0, -1.0),
    };
    let max_passes = match rng.below(4) {
        0 => 1 + rng.below(3),
        1 => 200,
        _ => 1 + rng.below(40),
    };
    let mut settings = SettingsRecord {
        lambda: Some(lambda),
        solver,
        tolerance,
        max_passes: max_passes as u64,
        max_oracle_calls: (rng.below(4) == 0).then(|| 1 + rng.below(100) as u64),
        gap_every: pick(rng, &[1, 1, 2, 3, 10]),
        seed: rng.below(1 << 30) as u64,
        threads: pick(rng, &[1, 1, 1, 1, 1, 1, 1, 2]),
        block_gaps: rng.below(2) == 0,
        ..SettingsRecord::default()
    };
    // By the seed, so that what later draws find stays the same.
    if settings.seed.is_multiple_of(6) {
        settings.relative_tolerance = 0.05;
    }
    if settings.seed.is_multiple_of(5) && matches!(solver, Solver::Auto | Solver::BlockCoordinate) {
        settings.batch = Some((settings.seed / 5 % 6) as usize);
    }
    if solver == Solver::AdaGrad && rng.below(2) == 0 {
        settings.rate = log_uniform(rng, -2.0, 1.0);
    }
    // Now and then anything at all, which may make no sense.
    let any = rng.below(12) == 0;
    let is_free = any || solver == Solver::BlockCoordinate;
    if is_free {
        settings.order = pick_name(rng, Order::NAMES);
        settings.direction = pick_name(rng, Direction::NAMES);
        settings.cache = pick(rng, &[Caching::Off, Caching::Off, Caching::On, Caching::On]);
        if rng.below(40) == 0 {
            settings.cache = Caching::Auto; // the clock steers it, so that it does not repeat
        }
        // By the seed, so that what later draws find stays the same.
        if settings.seed.is_multiple_of(7) {
            settings.cache = Caching::Exhaust;
        }
        settings.gap_steps = settings.seed % 9 == 4;
        settings.cache_factor = pick(rng, &[0.0, 0.25, 1.0]);
        settings.cache_nu = pick(rng, &[0.0, 0.01, 1.0]);
        settings.gap_power = pick(rng, &[1.0, 1.0, 0.5, 2.0]);
    }
    let one_of_two = rng.below(2) == 0;
    if any {
        settings.step = pick(rng, &[Step::LineSearch, Step::Fixed]);
        settings.average = pick_name(rng, Average::NAMES);
        return settings;
    }
    // By the seed, so that what later draws find stays the same.
    let scheduled = if settings.seed.is_multiple_of(3) { Step::Short } else { Step::Fixed };
    match solver {
        Solver::FrankWolfe if one_of_two => settings.step = scheduled,
        Solver::BlockCoordinate => {
            settings.average = pick(
                rng,
                &[Average::None, Average::None, Average::None, Average::Uniform, Average::Weighted],
            );
            if settings.direction == Direction::FrankWolfe && one_of_two {
                settings.step = scheduled;
            }
        }
        Solver::Auto => {
            settings.average =
                pick(rng, &[Average::None, Average::None, Average::Uniform, Average::Weighted]);
        }
        Solver::Subgradient => {
            settings.average = pick_name(rng, Average::NAMES);
            settings.order = pick(rng, &[Order::Permutation, Order::Cyclic, Order::Uniform]);
        }
        Solver::AdaGrad => {
            settings.average = pick_name(rng, Average::NAMES);
            settings.order = pick(rng, &[Order::Permutation, Order::Cyclic]);
        }
        Solver::Perceptron => {
            settings.average = pick(rng, &[Average::None, Average::Uniform]);
            settings.order = pick(rng, &[Order::Permutation, Order::Cyclic, Order::Uniform]);
        }
        Solver::ExponentiatedGradient => {
            settings.order = pick(rng, &[Order::Permutation, Order::Cyclic, Order::Uniform]);
        }
        _ => {}
    }
    settings
}

/// Asks the oracle for less than the maximum, by the seed.
pub(crate) fn draw_accuracy(settings: &mut SettingsRecord) {
    match settings.seed % 4 {
        0 => settings.oracle_share = 0.4,
        1 => settings.oracle_slack = 0.1,
        _ => {}
    }
}
