//! Holds the public API of the library against a committed listing.
//!
//! The listing is read off the source, so that it needs no special compiler. After a change that is meant,
//! write it anew:
//!
//! ```text
//! UPDATE_PUBLIC_API=1 cargo test -p maxmargin --test public_api
//! ```
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

mod imports;
mod listing;
mod modules;

use listing::Listing;
use modules::{Modules, Part};
use std::path::{Path, PathBuf};

/// More public items than this are too many to keep stable: modules, types, traits, functions and macros, without
/// those that only the feature `unstable` shows.
const MOST_ITEMS: usize = 131;

fn package(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn listing(part: Part) -> Listing {
    Listing::of(&Modules::read(&package("src/lib.rs"), part), "maxmargin")
}

/// Compares a listing with a committed file, or writes the file.
fn check(listing: &Listing, file: &str) {
    let (found, path) = (listing.to_text(), package(file));
    if std::env::var_os("UPDATE_PUBLIC_API").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (found_lines, listed_lines) = (lines(&found), lines(&listed));
    let added: Vec<_> = found_lines.iter().filter(|line| !listed_lines.contains(line)).collect();
    let gone: Vec<_> = listed_lines.iter().filter(|line| !found_lines.contains(line)).collect();
    assert!(
        found == listed,
        "the public API is not as {file} lists it\nnew: {added:#?}\ngone: {gone:#?}\n\
         If this is meant, write the listing anew with UPDATE_PUBLIC_API=1."
    );
}

#[test]
fn the_public_api_is_as_listed() {
    check(&listing(Part::Stable), "public-api.txt");
}

#[test]
fn what_is_unstable_is_as_listed() {
    check(&listing(Part::All).without(&listing(Part::Stable)), "public-api-unstable.txt");
}

#[test]
fn the_public_api_is_small() {
    let items = listing(Part::Stable).items();
    assert!(items <= MOST_ITEMS, "{items} public items; keep them to {MOST_ITEMS}");
}

/// A type that users can meet but not name would be public in all but name.
#[test]
fn what_is_stable_speaks_of_stable_types_alone() {
    let (stable, all) = (listing(Part::Stable), listing(Part::All));
    let unstable: Vec<&str> = all.names().difference(&stable.names()).copied().collect();
    let wrong: Vec<_> = stable.types().filter(|(_, word)| unstable.contains(word)).collect();
    assert!(wrong.is_empty(), "types behind `unstable` in what is not: {wrong:?}");
}

/// The README and the examples of the package need its default features alone.
#[test]
fn examples_import_what_is_stable() {
    let stable = listing(Part::Stable).paths();
    let examples = std::fs::read_dir(package("examples")).unwrap();
    let examples = examples.map(|entry| entry.unwrap().path());
    for file in examples.chain([package("README.md"), package("src/lib.rs")]) {
        let imports = imports::of(&std::fs::read_to_string(&file).unwrap());
        let unknown: Vec<_> = imports.iter().filter(|path| !stable.contains(*path)).collect();
        assert!(unknown.is_empty(), "{} imports {unknown:?}", file.display());
    }
}
