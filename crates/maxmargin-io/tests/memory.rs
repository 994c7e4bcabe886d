//! Reading and training take a bounded multiple of the size of the text in memory.
//!
//! The peak of memory is that of a process, so each case is measured in a process of its own: this program runs itself.
//! Linux tells the peak; elsewhere there is nothing to test. `benchmarks/memory.py` measures more, on larger data.

#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

use maxmargin::model::chain::{Chain, ChainShape, Hamming};
use maxmargin::{Rng, Settings, train};
use maxmargin_io::{ChainSpec, Format, Model, Origin, Source, read_training};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

const SEQUENCES: usize = 40_000;

/// What a process takes anyway, and what is in flight while pieces of a file are read.
const ANYWAY: u64 = 24 << 20;

/// Says in which process of its own the work is to be done, and on which file.
const FILE: &str = "MAXMARGIN_MEMORY_FILE";

/// Sequences of ten tokens with six attributes and random labels, which are hard to fit. Returns the size of the text.
fn write_sequences(path: &Path) -> std::io::Result<u64> {
    let (mut rng, mut file) = (Rng::new(1), BufWriter::new(File::create(path)?));
    for _ in 0..SEQUENCES {
        for _ in 0..10 {
            write!(file, "{}", ["A", "B", "C", "D", "E"][rng.below(5)])?;
            for kind in ["a", "b", "c", "d", "e", "f"] {
                write!(file, "\t{kind}={}", rng.below(1000))?;
            }
            writeln!(file)?;
        }
        writeln!(file)?;
    }
    file.flush()?;
    Ok(std::fs::metadata(path)?.len())
}

/// The peak of memory of this process in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Two passes of training and the model file, with its dual point, take at most four times the text. (They take 1.9
/// times the text of a million sequences.)
#[test]
fn training_on_chains_takes_at_most_four_times_the_text() {
    if let Some(path) = std::env::var_os(FILE) {
        return train_in_this_process(Path::new(&path));
    }
    if peak().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chains");
    let text = write_sequences(&path).unwrap();
    let own = std::env::current_exe().unwrap();
    let args = ["--exact", "training_on_chains_takes_at_most_four_times_the_text", "--nocapture"];
    let output = Command::new(own).args(args).env(FILE, &path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let found = said.lines().find_map(|line| line.split("peak ").nth(1)?.parse::<u64>().ok());
    let found =
        found.unwrap_or_else(|| panic!("{said}{}", String::from_utf8_lossy(&output.stderr)));
    assert!(found <= 4 * text + ANYWAY, "{found} bytes for a text of {text}");
    assert!(found >= text / 2, "{found} bytes cannot be all");
}

/// What the test does in its own process, which tells its peak.
fn train_in_this_process(path: &Path) {
    let data = read_training(Source::File(path.into()).open(Some(Format::Crfsuite)).unwrap());
    let data = data.unwrap();
    let origin = Origin::from(&data);
    let (shape, loss) =
        (ChainShape::new(data.labels.len(), data.attributes.len()), Hamming::default());
    let chain = Chain::new(shape, data.sequences, &loss).unwrap();
    let settings =
        Settings { lambda: Some(1e-4), max_passes: 2, threads: 1, ..Settings::default() };
    let solution = train(&chain, &settings).unwrap();
    assert_eq!(solution.dual.blocks.len(), SEQUENCES);
    let model = Model::new(
        origin,
        ChainSpec { shape, loss, kernel: None, rescaling: Default::default() },
        settings,
        solution,
    );
    model.save(path.with_extension("model")).unwrap();
    println!("peak {}", peak().unwrap());
}
