//! One line for every public item, field, variant and method.

use crate::modules::Modules;
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

/// What is public, by the path under which users find it.
#[derive(Default)]
pub(crate) struct Listing {
    lines: BTreeMap<String, BTreeSet<String>>,
    /// Where items are defined: those under two paths count once.
    defined: BTreeSet<(Vec<String>, String)>,
}

impl Listing {
    /// Lists a crate under its name.
    pub(crate) fn of(modules: &Modules, name: &str) -> Self {
        let mut listing = Self::default();
        listing.add_module(modules, &[], name);
        listing
    }

    /// Number of modules, types, traits, functions and macros.
    pub(crate) fn items(&self) -> usize {
        self.defined.len()
    }

    /// The names of all items, without their paths.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        self.defined.iter().map(|(_, name)| name.as_str()).collect()
    }

    /// The paths under which users find items.
    pub(crate) fn paths(&self) -> BTreeSet<String> {
        let path = |line: &String| {
            let at = line.find("maxmargin")?;
            let own: String = line[at..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || "_:".contains(*c))
                .collect();
            Some(own)
        };
        self.lines.keys().filter_map(path).collect()
    }

    /// The types of all fields, variants and methods, each with the item.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&str, &str)> {
        let lines = self.lines.iter().flat_map(|(item, own)| own.iter().map(move |m| (item, m)));
        lines.flat_map(|(item, member)| {
            // The name of a field, a variant or a method comes before its types.
            let start = member.find([':', '{', '(']).unwrap_or(member.len());
            let words = member[start..].split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words.map(move |word| (item.as_str(), word))
        })
    }

    /// What this listing has and `other` has not. Items of both have only the members that are new.
    pub(crate) fn without(mut self, other: &Self) -> Self {
        self.lines.retain(|item, members| {
            let Some(known) = other.lines.get(item) else { return true };
            members.retain(|member| !known.contains(member));
            !members.is_empty()
        });
        self
    }

    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        for (item, members) in &self.lines {
            text.push_str(item);
            text.push('\n');
            for member in members {
                text.push_str("    ");
                text.push_str(member);
                text.push('\n');
            }
        }
        text
    }

    fn add_module(&mut self, modules: &Modules, path: &[String], public: &str) {
        for item in modules.items(path) {
            match item {
                Item::Use(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                    self.add_use(modules, path, Vec::new(), &item.tree, public);
                }
                _ => self.add_item(modules, path, item, public, None),
            }
        }
    }

    /// Adds what a `pub use` names, found where it is defined.
    fn add_use(
        &mut self,
        modules: &Modules,
        from: &[String],
        mut prefix: Vec<String>,
        tree: &UseTree,
        public: &str,
    ) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.add_use(modules, from, prefix, &path.tree, public);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(modules, from, prefix.clone(), tree, public);
                }
            }
            UseTree::Name(name) => {
                self.add_named(modules, from, &prefix, &name.ident.to_string(), None, public);
            }
            UseTree::Rename(name) => {
                let renamed = name.rename.to_string();
                let own = name.ident.to_string();
                self.add_named(modules, from, &prefix, &own, Some(&renamed), public);
            }
            UseTree::Glob(_) => panic!("a glob in a public use of {from:?}"),
        }
    }

    fn add_named(
        &mut self,
        modules: &Modules,
        from: &[String],
        prefix: &[String],
        name: &str,
        renamed: Option<&str>,
        public: &str,
    ) {
        let mut path = match prefix.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("super") => from[..from.len() - 1].to_vec(),
            _ => from.to_vec(),
        };
        let skip = usize::from(matches!(
            prefix.first().map(String::as_str),
            Some("crate" | "self" | "super")
        ));
        path.extend_from_slice(&prefix[skip..]);
        assert!(modules.contains(&path), "{path:?} is not a module of this crate");
        for item in modules.items(&path) {
            if name_of(item).is_some_and(|own| own == name) {
                self.add_item(modules, &path, item, public, renamed);
                return;
            }
            if let Item::Use(item) = item
                && let Some(prefix) = leads_to(&item.tree, name)
            {
                self.add_named(modules, &path, &prefix, name, renamed, public);
                return;
            }
        }
        panic!("`{name}` was not found in {path:?}");
    }

    fn add_item(
        &mut self,
        modules: &Modules,
        path: &[String],
        item: &Item,
        public: &str,
        renamed: Option<&str>,
    ) {
        let Some((kind, visibility, attributes)) = kind_of(item) else { return };
        let exported = matches!(item, Item::Macro(_)) && has(attributes, "macro_export");
        if !(visibility.is_none_or(is_public)
            && (visibility.is_some() || exported || is_named(item)))
            || is_hidden(attributes)
        {
            return;
        }
        let name = name_of(item).unwrap();
        let place = format!("{public}::{}", renamed.unwrap_or(&name));
        self.defined.insert((path.to_vec(), name.clone()));
        if let Item::Mod(_) = item {
            self.lines.insert(format!("mod {place}"), BTreeSet::new());
            let inside: Vec<String> = path.iter().cloned().chain([name]).collect();
            return self.add_module(modules, &inside, &place);
        }
        // The attributes of a named enum are inside the macro.
        let inside = |item: &syn::ItemMacro| text(&item.mac.tokens).contains("non_exhaustive");
        let is_open = has(attributes, "non_exhaustive")
            || matches!(item, Item::Macro(item) if is_named_macro(item) && inside(item));
        let open = if is_open { "non-exhaustive " } else { "" };
        let mut members = members_of(item);
        members.extend(methods_of(modules, &name));
        let mut line = format!("{open}{kind} {place}");
        if let Item::Fn(function) = item {
            line = format!("{kind} {public}::{}", text(&function.sig).trim_start_matches("fn "));
        }
        self.lines.insert(line, members);
    }
}

/// The path before `name` in a use, if it leads there.
fn leads_to(tree: &UseTree, name: &str) -> Option<Vec<String>> {
    match tree {
        UseTree::Path(path) => {
            let rest = leads_to(&path.tree, name)?;
            Some([path.ident.to_string()].into_iter().chain(rest).collect())
        }
        UseTree::Group(group) => group.items.iter().find_map(|tree| leads_to(tree, name)),
        UseTree::Name(own) => (own.ident == name).then(Vec::new),
        _ => None,
    }
}

/// An enum that the macro `named_enum!` makes.
fn is_named(item: &Item) -> bool {
    matches!(item, Item::Macro(item) if item.mac.path.is_ident("named_enum"))
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Struct(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Mod(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Const(item) => item.ident.to_string(),
        Item::Macro(item) if is_named_macro(item) => {
            // `Name("name") { … }` after documentation and attributes.
            let text = item.mac.tokens.to_string();
            let open = text.rfind("(\"")?;
            text[..open].split_whitespace().last()?.to_owned()
        }
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        _ => return None,
    })
}

fn is_named_macro(item: &syn::ItemMacro) -> bool {
    item.mac.path.is_ident("named_enum")
}

type Described<'a> = (&'static str, Option<&'a Visibility>, &'a [Attribute]);

fn kind_of(item: &Item) -> Option<Described<'_>> {
    Some(match item {
        Item::Struct(item) => ("struct", Some(&item.vis), &item.attrs),
        Item::Enum(item) => ("enum", Some(&item.vis), &item.attrs),
        Item::Trait(item) => ("trait", Some(&item.vis), &item.attrs),
        Item::Fn(item) => ("fn", Some(&item.vis), &item.attrs),
        Item::Mod(item) => ("mod", Some(&item.vis), &item.attrs),
        Item::Type(item) => ("type", Some(&item.vis), &item.attrs),
        Item::Const(item) => ("const", Some(&item.vis), &item.attrs),
        Item::Macro(item) if is_named_macro(item) => ("enum", None, &item.attrs),
        Item::Macro(item) => ("macro", None, &item.attrs),
        _ => return None,
    })
}

/// Fields, variants and the methods of traits.
fn members_of(item: &Item) -> BTreeSet<String> {
    match item {
        Item::Struct(item) => fields(&item.fields).collect(),
        Item::Enum(item) => item
            .variants
            .iter()
            .map(|variant| {
                let inside: Vec<String> = variant.fields.iter().map(field).collect();
                let inside = if inside.is_empty() {
                    String::new()
                } else {
                    format!(" {{ {} }}", inside.join(", "))
                };
                format!("{}{inside}", variant.ident)
            })
            .collect(),
        Item::Trait(item) => item
            .items
            .iter()
            .filter_map(|member| match member {
                TraitItem::Fn(method) if !is_hidden(&method.attrs) => {
                    let is_required = method.default.is_none();
                    let mark = if is_required { "required " } else { "" };
                    Some(format!("{mark}{}", text(&method.sig)))
                }
                TraitItem::Type(own) => Some(format!("type {}", own.ident)),
                TraitItem::Const(own) => Some(format!("const {}", own.ident)),
                _ => None,
            })
            .collect(),
        Item::Macro(item) if is_named_macro(item) => {
            let tokens = item.mac.tokens.to_string();
            let body = tokens.rsplit_once(") {").map_or("", |(_, body)| body);
            let variants =
                body.split(" = \"").filter_map(|before| before.split_whitespace().last());
            let is_name = |v: &&str| v.chars().all(char::is_alphanumeric);
            let variants: Vec<&str> = variants.collect();
            let variants = &variants[..variants.len().saturating_sub(1)];
            variants.iter().copied().filter(is_name).map(str::to_owned).collect()
        }
        _ => BTreeSet::new(),
    }
}

fn fields(fields: &Fields) -> impl Iterator<Item = String> {
    fields.iter().filter(|field| is_public(&field.vis)).map(field)
}

fn field(field: &syn::Field) -> String {
    let own = text(&field.ty);
    field.ident.as_ref().map_or(own.clone(), |name| format!("{name}: {own}"))
}

/// The public methods of a type, wherever they are written.
fn methods_of(modules: &Modules, name: &str) -> BTreeSet<String> {
    let mut methods = BTreeSet::new();
    for item in modules.all().flatten() {
        let Item::Impl(block) = item else { continue };
        let syn::Type::Path(own) = &*block.self_ty else { continue };
        let is_it = own.path.segments.last().is_some_and(|last| last.ident == name);
        if block.trait_.is_some() || !is_it || crate::modules::is_for_tests(&block.attrs) {
            continue;
        }
        for member in &block.items {
            match member {
                ImplItem::Fn(method) if is_public(&method.vis) && !is_hidden(&method.attrs) => {
                    methods.insert(text(&method.sig));
                }
                ImplItem::Const(own) if is_public(&own.vis) => {
                    methods.insert(format!("const {}", own.ident));
                }
                _ => {}
            }
        }
    }
    methods
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    let own = |a: &Attribute| a.path().is_ident(name);
    let inside = |a: &Attribute| a.path().is_ident("cfg_attr") && text(a).contains(name);
    attributes.iter().any(|a| own(a) || inside(a))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let hidden = |a: &Attribute| a.path().is_ident("doc") && text(a).contains("hidden");
    attributes.iter().any(hidden) || crate::modules::is_for_tests(attributes)
}

/// Tokens as people would write them, near enough.
fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (from, to) in [
        (" ,", ","),
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        ("& ", "&"),
        ("( ", "("),
        (" )", ")"),
        (" (", "("),
        (" :", ":"),
        ("[ ", "["),
        (" ]", "]"),
        ("< ", "<"),
        (" ;", ";"),
        (" <", "<"),
        ("' ", "'"),
    ] {
        text = text.replace(from, to);
    }
    text.replace("->", " -> ").replace("  ", " ")
}
