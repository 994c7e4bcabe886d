//! A built-in template, together with the columns that it was chosen for.

use super::attributes::Attributes;
use super::built_in::BuiltInTemplate;
use super::layout::{CONLLU_NAMES, Layout};
use super::reader::count;
use crate::format::Format;
use serde::{Deserialize, Serialize};

/// A built-in template for certain columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnRules {
    pub(super) name: BuiltInTemplate,
    pub(super) attributes: Attributes,
    pub(super) layout: Layout,
    /// The column of the label, from 0.
    pub(super) label: usize,
    /// The number of columns besides the label; in CoNLL-U, the number of those that are used.
    pub(super) features: usize,
    /// The names of the columns, if the file has them.
    pub(super) header: Vec<String>,
}

/// What a model stores of the rules, besides the lines and the number of columns.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredRules {
    name: BuiltInTemplate,
    layout: Layout,
    label: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    header: Vec<String>,
}

impl ColumnRules {
    /// Columns of CoNLL-U.
    pub(super) const FORM: usize = 1;
    pub(super) const UPOS: usize = 3;

    pub(crate) fn stored(&self) -> StoredRules {
        let Self { name, layout, label, ref header, .. } = *self;
        StoredRules { name, layout, label, header: header.clone() }
    }

    /// Restores the rules that a model has stored, or says what is wrong with them.
    pub(crate) fn restore(
        stored: StoredRules,
        lines: &[String],
        columns: usize,
    ) -> Result<Self, String> {
        let StoredRules { name, layout, label, header } = stored;
        let attributes = Attributes::parse(lines.iter().map(String::as_str))
            .map_err(|line| format!("the template has a line `{line}`"))?;
        let features = match layout {
            Layout::Conllu => attributes.columns(),
            _ => columns.saturating_sub(1),
        };
        let is_conllu = layout == Layout::Conllu && columns == CONLLU_NAMES.len();
        let is_known = is_conllu || layout != Layout::Conllu;
        if features == 0 || label >= columns || attributes.columns() > features || !is_known {
            return Err(format!("a template for {columns} columns, with the label in {label}"));
        }
        Ok(Self { name, attributes, layout, label, features, header })
    }

    /// The attributes in full.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.name.lines(self.features)
    }

    pub(crate) fn name(&self) -> BuiltInTemplate {
        self.name
    }

    pub(super) fn format(&self) -> Format {
        match self.layout {
            Layout::Conllu => Format::Conllu,
            Layout::Blanks | Layout::Tabs => Format::Conll,
        }
    }

    /// Whether these are the names of the columns, with or without that of the label.
    pub(super) fn is_header(&self, cells: &[&str]) -> bool {
        let all = || self.header.iter().enumerate();
        let without = all().filter(|(column, _)| *column != self.label).map(|(_, name)| name);
        !cells.is_empty() && (cells.iter().eq(&self.header) || cells.iter().eq(without))
    }

    /// The columns that data must have.
    pub(super) fn expected(&self) -> String {
        let (all, names) = (self.features + 1, self.names());
        let trained = match self.layout {
            Layout::Conllu => "the 10 columns of CoNLL-U, as in training".to_owned(),
            _ => format!("{} as in training ({names})", count(all)),
        };
        let either = match self.layout {
            Layout::Conllu if self.features == 1 => ", or words with or without a label".to_owned(),
            Layout::Conllu => String::new(),
            _ => format!(", or {} without the label", self.features),
        };
        trained + &either
    }

    /// The names of the columns, between spaces.
    fn names(&self) -> String {
        if !self.header.is_empty() {
            return self.header.join(" ");
        }
        let mut features = 0;
        let names = (0..=self.features).map(|column| {
            if column == self.label {
                return "label".to_owned();
            }
            features += 1;
            match features {
                1 => "word".to_owned(),
                2 if self.name != BuiltInTemplate::Words => "pos".to_owned(),
                _ => format!("column{}", column + 1),
            }
        });
        names.collect::<Vec<_>>().join(" ")
    }

    /// A description of the columns and the template, in one line.
    pub(crate) fn describe(&self) -> String {
        let data = match self.layout {
            Layout::Conllu => format!("CoNLL-U with the label {}", CONLLU_NAMES[self.label]),
            layout => format!("columns `{}` {}", self.names(), layout.between()),
        };
        format!("{data}; attributes by --template {}", self.name)
    }
}
