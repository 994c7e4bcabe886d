//! The modules of a crate, read off its source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::{Attribute, ImplItem, Item, TraitItem};

/// Which part of a crate to read.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Part {
    /// What users have without the feature `unstable`.
    Stable,
    /// Everything.
    All,
}

/// Every module with its items, by its path inside of the crate.
pub(crate) struct Modules {
    items: BTreeMap<Vec<String>, Vec<Item>>,
    part: Part,
}

impl Modules {
    /// Reads a part of a crate from its root file on.
    pub(crate) fn read(root: &Path, part: Part) -> Self {
        let mut modules = Self { items: BTreeMap::new(), part };
        let file = parse(root);
        modules.add(Vec::new(), file.items, root.parent().unwrap());
        modules
    }

    pub(crate) fn items(&self, path: &[String]) -> &[Item] {
        self.items.get(path).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn contains(&self, path: &[String]) -> bool {
        self.items.contains_key(path)
    }

    /// All modules, for items that belong to a type wherever they are written.
    pub(crate) fn all(&self) -> impl Iterator<Item = &[Item]> {
        self.items.values().map(Vec::as_slice)
    }

    fn add(&mut self, path: Vec<String>, mut items: Vec<Item>, folder: &Path) {
        if self.part == Part::Stable {
            items.retain(|item| !is_unstable(attributes_of(item)));
            for item in &mut items {
                match item {
                    Item::Impl(block) => block.items.retain(|member| match member {
                        ImplItem::Fn(method) => !is_unstable(&method.attrs),
                        _ => true,
                    }),
                    Item::Struct(own) => {
                        if let syn::Fields::Named(fields) = &mut own.fields {
                            let all = std::mem::take(&mut fields.named).into_iter();
                            fields.named = all.filter(|field| !is_unstable(&field.attrs)).collect();
                        }
                    }
                    Item::Trait(own) => own.items.retain(|member| match member {
                        TraitItem::Fn(method) => !is_unstable(&method.attrs),
                        _ => true,
                    }),
                    _ => {}
                }
            }
        }
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
        self.items.insert(path, items);
    }
}

fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        _ => &[],
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

/// Whether an item is there with the feature `unstable` alone.
fn is_unstable(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|a| a.path().is_ident("cfg")).any(|a| {
        quote::quote!(#a).to_string().replace(' ', "").contains("cfg(feature=\"unstable\")")
    })
}

/// Whether an item is there for tests alone.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|a| a.path().is_ident("cfg")).any(|a| {
        let text = quote::quote!(#a).to_string();
        text.contains("test")
    })
}
