//! Holds the public API of the library against a committed listing.
//!
//! The listing is read off the source, so that it needs no special compiler. After a change that is meant,
//! write it anew:
//!
//! ```text
//! UPDATE_PUBLIC_API=1 cargo test -p maxmargin --test public_api
//! ```
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

mod listing;
mod modules;

use listing::Listing;
use modules::Modules;
use std::path::Path;

/// More public items than this are too many to keep stable: modules, types, traits, functions and macros.
const MOST_ITEMS: usize = 256;

#[test]
fn the_public_api_is_as_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = Modules::read(&root.join("src/lib.rs"));
    let listing = Listing::of(&modules, "maxmargin");
    let file = root.join("public-api.txt");
    let found = listing.to_text();
    if std::env::var_os("UPDATE_PUBLIC_API").is_some() {
        std::fs::write(&file, &found).unwrap();
    }
    let listed = std::fs::read_to_string(&file).unwrap_or_default();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (found_lines, listed_lines) = (lines(&found), lines(&listed));
    let added: Vec<_> = found_lines.iter().filter(|line| !listed_lines.contains(line)).collect();
    let gone: Vec<_> = listed_lines.iter().filter(|line| !found_lines.contains(line)).collect();
    assert!(
        found == listed,
        "the public API is not as public-api.txt lists it\nnew: {added:#?}\ngone: {gone:#?}\n\
         If this is meant, write the listing anew with UPDATE_PUBLIC_API=1."
    );
}

#[test]
fn the_public_api_is_small() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let modules = Modules::read(&root.join("src/lib.rs"));
    let items = Listing::of(&modules, "maxmargin").items();
    assert!(items <= MOST_ITEMS, "{items} public items; keep them to {MOST_ITEMS}");
}
