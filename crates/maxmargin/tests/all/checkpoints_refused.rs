//! Checkpoints that a run cannot resume from, and the reasons.

use crate::checkpoints::keeping;
use crate::common::bcfw;
use crate::common::bits::random_chain;
use maxmargin::{
    Average, Caching, Checkpoint, CheckpointError, CheckpointEvery, Direction, Order, Settings,
    SettingsError, SettingsRecord, TrainError, Trainer,
};

#[test]
fn invalid_intervals_are_rejected() {
    for every in [
        CheckpointEvery::Passes(0),
        CheckpointEvery::Seconds(-1.0),
        CheckpointEvery::Seconds(f64::NAN),
    ] {
        let mut keep = |_: &Checkpoint<'_>| Ok(());
        let trainer = Trainer::new(bcfw()).checkpoint(every, &mut keep);
        let error = trainer.train(&maxmargin::doc::toy()).unwrap_err();
        let name = "checkpoint_every";
        assert!(
            matches!(error, TrainError::Settings(SettingsError::Range { name: n, .. }) if n == name)
        );
    }
}

/// A checkpoint with averaging and remembered corners, which the tests then damage.
fn some_checkpoint() -> (Settings, Vec<u8>) {
    let settings = SettingsRecord {
        tolerance: 0.0,
        max_passes: 3,
        order: Order::Gap,
        direction: Direction::Corrective,
        average: Average::Weighted,
        ..bcfw().record()
    }
    .settings()
    .unwrap();
    let bytes = keeping(&maxmargin::doc::toy(), &settings).2.swap_remove(1);
    (settings, bytes)
}

#[test]
fn damaged_checkpoints_are_rejected() {
    let (_, bytes) = some_checkpoint();
    let read = |bytes: &[u8]| Checkpoint::from_bytes(bytes).map(|_| ()).unwrap_err();
    for length in 0..bytes.len() {
        let expected = if length < 8 { CheckpointError::Foreign } else { CheckpointError::Damaged };
        assert_eq!(read(&bytes[..length]), expected, "cut to {length} bytes");
    }
    assert_eq!(read(&[&bytes[..], b"x"].concat()), CheckpointError::Damaged);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            read(&changed);
        }
    }
    let mut later = bytes.clone();
    later[8] = 99;
    assert_eq!(read(&later), CheckpointError::Layout { found: 99, reads: 15 });
    assert!(read(&later).to_string().contains("another version"));
    assert!(Checkpoint::from_bytes(&bytes).is_ok());
}

#[test]
fn other_settings_are_refused_by_name() {
    let (settings, bytes) = some_checkpoint();
    let refusal = |change: &dyn Fn(&mut SettingsRecord)| {
        let mut changed = settings.record();
        change(&mut changed);
        let checkpoint = Checkpoint::from_bytes(&bytes).unwrap();
        let trainer = Trainer::new(changed.settings().unwrap()).resume(checkpoint);
        trainer.train(&maxmargin::doc::toy()).map(|_| ()).map_err(|error| error.to_string())
    };
    for (change, expected) in [
        (
            (|s| s.order = Order::MaxGap) as fn(&mut SettingsRecord),
            "order gap and cannot go on with max-gap",
        ),
        (|s| s.direction = Direction::Pairwise, "direction corrective and"),
        (|s| s.lambda = Some(0.5), "without lambda and cannot go on with 0.5"),
        (|s| s.average = Average::None, "average weighted and"),
        (|s| s.cache = Caching::On, "cache off and"),
        (|s| s.cache_bytes = 1000, "cache_bytes 1073741824 and"),
        (|s| s.cache_factor = 0.5, "cache_factor 0.25 and"),
        (|s| s.gap_power = 0.5, "gap_power 1.0 and"),
        (|s| s.gap_every = 2, "gap_every 10 and"),
        (|s| s.seed = 2, "seed 1 and cannot go on with 2"),
    ] {
        let error = refusal(&change).unwrap_err();
        assert!(error.starts_with("the run was begun with") && error.contains(expected), "{error}");
    }
    let solver = refusal(&|s| {
        let averaged = Average::Weighted;
        *s = SettingsRecord { average: averaged, ..SettingsRecord::default() };
    });
    assert!(solver.unwrap_err().contains("solver bcfw and cannot go on with auto"));
    for free in [
        (|s| s.tolerance = 1e-3) as fn(&mut SettingsRecord),
        |s| s.max_passes = 9,
        |s| s.max_oracle_calls = Some(1000),
        |s| s.max_seconds = Some(1000.0),
        |s| s.threads = 2,
        |s| s.block_gaps = true,
    ] {
        refusal(&free).unwrap();
    }
}

#[test]
fn other_problems_are_refused() {
    let (settings, bytes) = some_checkpoint();
    let error = |problem: &maxmargin::model::chain::Chain| {
        let checkpoint = Checkpoint::from_bytes(&bytes).unwrap();
        Trainer::new(settings.clone()).resume(checkpoint).train(problem).unwrap_err().to_string()
    };
    let with = |sequences: &[&[u32]], value: f64| {
        let mut data = maxmargin::model::chain::Sequences::new();
        for sequence in sequences {
            for (t, &label) in sequence.iter().enumerate() {
                data.push_token([(label, value), (2 + t as u32 % 2, 0.5)], label).unwrap();
            }
            data.end_sequence(1.0).unwrap();
        }
        let shape = maxmargin::model::chain::ChainShape::new(2, 4);
        maxmargin::model::chain::Chain::new(shape, data, &Default::default()).unwrap()
    };
    let same: [&[u32]; 4] = [&[0, 1, 0], &[1, 1], &[0, 0, 1, 1], &[1]];
    let again = Trainer::new(settings.clone()).resume(Checkpoint::from_bytes(&bytes).unwrap());
    assert!(again.train(&with(&same, 1.0)).is_ok(), "these are the data of the toy");
    assert!(error(&with(&same[..3], 1.0)).contains("it has 4 examples, the problem has 3"));
    assert!(error(&random_chain(4, 3, 1)).contains("it has 18 features, the problem has 5"));
    assert!(error(&with(&same, 2.0)).contains("its examples, its losses or its bounds are others"));
    let shorter: [&[u32]; 4] = [&[0, 1], &[1, 1], &[0, 0, 1, 1], &[1]];
    assert!(
        error(&with(&shorter, 1.0)).contains("its examples, its losses or its bounds are others")
    );
}
