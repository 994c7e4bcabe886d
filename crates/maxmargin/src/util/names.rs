//! Enumerations with names: one declaration serves Rust, files, the command line and Python.

use thiserror::Error;

/// A name that a setting does not have. The message lists the names that it has.
///
/// ```
/// let error = "random".parse::<maxmargin::Order>().unwrap_err();
/// assert_eq!((error.what, error.found.as_str()), ("order", "random"));
/// assert!(error.to_string().starts_with(r#"unknown order "random"; known are uniform, "#));
/// ```
#[derive(Debug, Error, Clone, PartialEq)]
#[error("unknown {what} {found:?}; known are {}", known.join(", "))]
#[non_exhaustive]
pub struct UnknownName {
    /// What the name was for.
    pub what: &'static str,
    /// The name as it was given.
    pub found: String,
    /// All known names.
    pub known: &'static [&'static str],
}

/// Declares an enumeration whose variants have names, with `NAMES`, `Display`, `FromStr` and serde.
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $name:ident ($what:literal) {
            $( $(#[$vmeta:meta])* $variant:ident = $text:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(into = "&'static str", try_from = "String"))]
        pub enum $name { $( $(#[$vmeta])* $variant, )+ }

        impl $name {
            /// The names of all variants, as files and the command line spell them, in the order
            /// of their declaration.
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            /// The name of this variant: one of [`NAMES`](Self::NAMES). `Display` prints the same.
            pub fn name(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::util::names::UnknownName;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $( $text => Ok(Self::$variant), )+
                    _ => Err($crate::util::names::UnknownName {
                        what: $what,
                        found: text.to_owned(),
                        known: Self::NAMES,
                    }),
                }
            }
        }

        impl From<$name> for &'static str {
            fn from(value: $name) -> Self { value.name() }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::util::names::UnknownName;
            fn try_from(text: String) -> Result<Self, Self::Error> { text.parse() }
        }
    };
}

pub(crate) use named_enum;
