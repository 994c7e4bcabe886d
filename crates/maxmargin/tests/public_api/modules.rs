//! The modules of a crate, read off its source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::{Attribute, Item};

/// Every module with its items, by its path inside of the crate.
pub(crate) struct Modules(BTreeMap<Vec<String>, Vec<Item>>);

impl Modules {
    /// Reads a crate from its root file on.
    pub(crate) fn read(root: &Path) -> Self {
        let mut modules = Self(BTreeMap::new());
        let file = parse(root);
        modules.add(Vec::new(), file.items, root.parent().unwrap());
        modules
    }

    pub(crate) fn items(&self, path: &[String]) -> &[Item] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn contains(&self, path: &[String]) -> bool {
        self.0.contains_key(path)
    }

    /// All modules, for items that belong to a type wherever they are written.
    pub(crate) fn all(&self) -> impl Iterator<Item = &[Item]> {
        self.0.values().map(Vec::as_slice)
    }

    fn add(&mut self, path: Vec<String>, items: Vec<Item>, folder: &Path) {
        for item in &items {
            let Item::Mod(module) = item else { continue };
            if is_for_tests(&module.attrs) {
                continue;
            }
            let name = module.ident.to_string();
            let inside: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
            match &module.content {
                Some((_, items)) => self.add(inside, items.clone(), &folder.join(&name)),
                None => {
                    let file = file_of(folder, &name);
                    self.add(inside, parse(&file).items, &folder.join(&name));
                }
            }
        }
        self.0.insert(path, items);
    }
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    let flat = folder.join(format!("{name}.rs"));
    if flat.exists() { flat } else { folder.join(name).join("mod.rs") }
}

fn parse(file: &Path) -> syn::File {
    let source =
        std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    syn::parse_file(&source).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Whether an item is there for tests alone.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|a| a.path().is_ident("cfg")).any(|a| {
        let text = quote::quote!(#a).to_string();
        text.contains("test")
    })
}
