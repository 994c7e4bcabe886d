//! The events of a run, and the output of observers.

use crate::common::bcfw;
use crate::common::watch;
use maxmargin::observe::{Control, Event, Every, JsonLines, Record, Table};
use maxmargin::{Average, Order, Problem, Settings, SettingsRecord, Solver, Trainer};
use serde_json::Value;
use std::io;

fn settings() -> Settings {
    Settings {
        lambda: Some(0.25),
        tolerance: 0.0,
        max_passes: 5,
        gap_every: 2,
        threads: 1,
        ..bcfw()
    }
}

fn json_lines(settings: &Settings) -> String {
    let mut lines = JsonLines::new(Vec::new());
    Trainer::new(settings.clone()).observe(&mut lines).train(&maxmargin::doc::toy()).unwrap();
    String::from_utf8(lines.finish().unwrap()).unwrap()
}

#[test]
fn json_lines_parse_line_by_line() {
    for block_gaps in [false, true] {
        let settings = Settings { block_gaps, ..settings() };
        let text = json_lines(&settings);
        assert!(text.ends_with('\n'));
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let kinds: Vec<&str> = lines.iter().map(|l| l["event"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["start", "pass", "pass", "pass", "pass", "pass", "end"]);

        assert_eq!((&lines[0]["n"], &lines[0]["d"]), (&Value::from(4), &Value::from(18)));
        let back: Settings = serde_json::from_value(lines[0]["settings"].clone()).unwrap();
        assert_eq!(back, settings);

        let (solution, rows) = watch(&maxmargin::doc::toy(), &settings);
        for (line, (record, gaps)) in lines[1..6].iter().zip(&rows.0) {
            let mut read: Record = serde_json::from_value(line.clone()).unwrap();
            (read.seconds, read.oracle_seconds) = (record.seconds, record.oracle_seconds);
            read.gap_seconds = record.gap_seconds;
            assert_eq!(read, *record, "numbers survive to the last bit");
            assert_eq!(gaps.is_some(), block_gaps && record.gap.is_some());
            let written = line.get("block_gaps").map(|gaps| gaps.as_array().unwrap().len());
            assert_eq!(written, gaps.as_ref().map(Vec::len));
            assert_eq!(line.get("gap").is_some(), record.gap.is_some());
        }
        let end = &lines[6];
        assert_eq!(end["status"], "max-passes");
        assert_eq!(end["certificate"]["gap"].as_f64(), Some(solution.certificate.gap));
        assert_eq!(end["totals"]["oracle_calls"].as_u64(), Some(solution.totals.oracle_calls));
    }
}

#[test]
fn rows_count_what_was_done() {
    let n = maxmargin::doc::toy().examples() as u64;
    for order in [Order::Uniform, Order::Permutation, Order::Cyclic] {
        for average in [Average::None, Average::Weighted] {
            let (solution, rows) = watch(
                &maxmargin::doc::toy(),
                &SettingsRecord { order, average, ..settings().record() }.settings().unwrap(),
            );
            let gaps: Vec<bool> = rows.0.iter().map(|(r, _)| r.gap.is_some()).collect();
            assert_eq!(gaps, [false, true, false, true, true]);
            let mut gap_passes = 0;
            for (at, (record, _)) in rows.0.iter().enumerate() {
                gap_passes += u64::from(record.gap.is_some());
                let pass = at as u64 + 1;
                assert_eq!((record.pass, record.visits), (pass, pass * n));
                assert_eq!(record.oracle_calls, (pass + gap_passes) * n);
                assert_eq!(record.effective_passes, (pass + gap_passes) as f64);
                assert_eq!(record.steps.count, n);
                assert!(record.steps.zero + record.steps.full <= n);
                assert!((0.0..=1.0).contains(&record.steps.mean));
                assert!(record.oracle_seconds <= record.seconds + 1e-9);
            }
            let last = &rows.0.last().unwrap().0;
            assert_eq!(last.gap, Some(solution.certificate.gap));
            assert_eq!(last.oracle_calls, solution.totals.oracle_calls);
        }
    }
}

fn table(settings: &Settings, every: u64) -> String {
    let mut table = Every::new(every, Table::new(Vec::new()));
    Trainer::new(settings.clone()).observe(&mut table).train(&maxmargin::doc::toy()).unwrap();
    mask_times(&String::from_utf8(table.into_inner().finish().unwrap()).unwrap())
}

/// Replaces the digits of every time, `0.00s` or `0.00 s`.
fn mask_times(text: &str) -> String {
    let is_time = |word: &str, next: Option<&str>| {
        let number = word.strip_suffix('s').unwrap_or(word);
        number.parse::<f64>().is_ok() && (number != word || next == Some("s"))
    };
    let mask = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let masked = words.iter().enumerate().map(|(at, word)| {
            let hide = is_time(word, words.get(at + 1).copied());
            if hide { word.replace(|c: char| c.is_ascii_digit(), "#") } else { (*word).to_owned() }
        });
        masked.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|line| mask(line) + "\n").collect()
}

#[test]
fn the_table_is_stable() {
    let found = table(&settings(), 1);
    assert_eq!(found, TABLE, "found:\n{found}");
    let found = table(
        &SettingsRecord { solver: Solver::FrankWolfe, max_passes: 3, ..settings().record() }
            .settings()
            .unwrap(),
        0,
    );
    assert_eq!(found, BATCH_TABLE, "found:\n{found}");
}

const TABLE: &str = "\
4 examples, 18 features, lambda 0.25, solver bcfw, tolerance 0
───────────────────────────────────────────────────────────────────────────────
  pass oracle calls      primal        dual        gap   step  ≈oracle  seconds
───────────────────────────────────────────────────────────────────────────────
     1            4                0.024007            0.0559    #.##s    #.##s
     2           12    0.110096    0.027422    0.08267 0.0108    #.##s    #.##s
     3           16                0.029002            0.0152    #.##s    #.##s
     4           24    0.126529    0.030346    0.09618 0.1084    #.##s    #.##s
     5           32    0.185665    0.033223     0.1524 0.2588    #.##s    #.##s
───────────────────────────────────────────────────────────────────────────────
max-passes: primal 0.185665, dual 0.033223, gap 0.1524
32 oracle calls in #.## s
";
const BATCH_TABLE: &str = "\
4 examples, 18 features, lambda 0.25, solver fw, tolerance 0
───────────────────────────────────────────────────────────────────────────────
  pass oracle calls      primal        dual        gap   step  ≈oracle  seconds
───────────────────────────────────────────────────────────────────────────────
     1            4    1.000000    0.000000          1 0.0000    #.##s    #.##s
     2            8    0.343254    0.015873     0.3274 0.0317    #.##s    #.##s
     3           12    0.214854    0.018660     0.1962 0.0170    #.##s    #.##s
───────────────────────────────────────────────────────────────────────────────
max-passes: primal 0.214854, dual 0.018660, gap 0.1962
12 oracle calls in #.## s
";

/// A writer that fails does not end the run. Its error is reported at the end.
#[test]
fn errors_of_a_writer_are_reported_at_the_end() {
    #[derive(Debug)]
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (mut lines, mut table) = (JsonLines::new(Full), Table::new(Full));
    let trainer = Trainer::new(settings()).observe(&mut lines).observe(&mut table);
    let solution = trainer.train(&maxmargin::doc::toy()).unwrap();
    assert_eq!(solution.totals.passes, 5);
    assert!(lines.finish().unwrap_err().to_string().contains("the disk is full"));
    assert!(table.finish().unwrap_err().to_string().contains("the disk is full"));
}

#[test]
fn estimates_of_the_gap_are_reported_with_block_gaps() {
    for block_gaps in [false, true] {
        let (mut estimates, mut gaps, mut blocks) = (Vec::new(), Vec::new(), 0);
        let mut watch = |event: Event<'_>| {
            match event {
                Event::Estimate { gap } => estimates.push(gap),
                Event::Pass { record, block_gaps } => {
                    gaps.extend(record.gap);
                    blocks += usize::from(block_gaps.is_some());
                }
                _ => {}
            }
            Control::Continue
        };
        let settings = SettingsRecord {
            solver: Solver::BlockCoordinate,
            order: Order::Gap,
            tolerance: 0.0,
            max_passes: 6,
            gap_every: 2,
            block_gaps,
            ..SettingsRecord::default()
        }
        .settings()
        .unwrap();
        Trainer::new(settings).observe(&mut watch).train(&maxmargin::doc::toy()).unwrap();
        let told = if block_gaps { gaps.len() } else { 0 };
        assert_eq!((estimates.len(), blocks, gaps.len()), (told, told, 3));
        assert!(estimates.iter().all(|gap| gap.is_finite() && *gap >= 0.0));
    }
}
