//! The colours of labels: the same label has the same colour everywhere on a page.

use crate::palette::SERIES;

/// Ways to draw the line under a label; more colours than we have are told apart by it.
const LINES: usize = 4;

/// Which colour each label has.
///
/// The tags of chunks, `B-X` and `I-X`, share the colour of `X`, and `O` has none.
///
/// ```
/// use maxmargin_report::LabelColours;
///
/// let colours = LabelColours::new(["B-NP", "O", "I-NP", "B-VP"]);
/// assert_eq!(colours.number("B-NP"), colours.number("NP"));
/// assert_ne!(colours.number("NP"), colours.number("VP"));
/// assert_eq!(colours.number("O"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LabelColours {
    /// What has a colour, in the order of colours.
    pub subjects: Vec<String>,
    /// Whether labels are tags of chunks.
    pub are_tags: bool,
}

/// What the tag of a chunk is about, if it is one.
fn chunk(label: &str) -> Option<&str> {
    ["B-", "I-", "E-", "S-"].iter().find_map(|start| label.strip_prefix(start))
}

impl LabelColours {
    /// Gives colours to labels, in this order.
    ///
    /// ```
    /// let colours = maxmargin_report::LabelColours::new(["cat", "dog"]);
    /// assert_eq!(colours.subjects, ["cat", "dog"]);
    /// ```
    pub fn new<L: AsRef<str>>(labels: impl IntoIterator<Item = L>) -> Self {
        let labels: Vec<L> = labels.into_iter().collect();
        let is_tag = |label: &L| label.as_ref() == "O" || chunk(label.as_ref()).is_some();
        let are_tags = labels.iter().all(is_tag);
        let mut colours = Self { subjects: Vec::new(), are_tags };
        for label in &labels {
            if let Some(subject) = colours.subject(label.as_ref()).map(str::to_owned)
                && !colours.subjects.contains(&subject)
            {
                colours.subjects.push(subject);
            }
        }
        colours
    }

    /// What a label is about; nothing for `O`.
    fn subject<'a>(&self, label: &'a str) -> Option<&'a str> {
        match label {
            "O" if self.are_tags => None,
            _ if self.are_tags => chunk(label).or(Some(label)),
            _ => Some(label),
        }
    }

    /// The number of a label's colour; none for labels without a colour.
    ///
    /// ```
    /// let colours = maxmargin_report::LabelColours::new(["cat", "dog"]);
    /// assert_eq!((colours.number("dog"), colours.number("cow")), (Some(1), None));
    /// ```
    pub fn number(&self, label: &str) -> Option<usize> {
        let place = |name: &str| self.subjects.iter().position(|known| known == name);
        // Pages of segments have colours for labels, and show tags.
        place(self.subject(label)?).or_else(|| place(chunk(label)?))
    }

    /// Whether no label has a colour.
    ///
    /// ```
    /// assert!(maxmargin_report::LabelColours::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.subjects.is_empty()
    }

    /// The classes of a label's colour; empty for labels without one.
    pub(crate) fn class(&self, label: &str) -> String {
        self.number(label).map_or_else(String::new, class)
    }
}

/// The classes of a colour by its number: one for the colour, and one for how its line is drawn.
pub(crate) fn class(number: usize) -> String {
    match number / SERIES.len() % LINES {
        0 => format!("k{}", number % SERIES.len()),
        line => format!("k{} d{line}", number % SERIES.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_two_labels_look_different() {
        let names: Vec<String> = (0..40).map(|at| format!("l{at}")).collect();
        let colours = LabelColours::new(&names);
        let mut classes: Vec<String> = names.iter().map(|name| colours.class(name)).collect();
        assert_eq!((classes[0].as_str(), classes[9].as_str()), ("k0", "k1 d1"));
        classes.sort();
        classes.dedup();
        assert_eq!(classes.len(), 32);
    }

    #[test]
    fn labels_that_only_look_like_tags_keep_their_own_colours() {
        let planes = LabelColours::new(["B-52", "I-16", "Spitfire", "O"]);
        assert_eq!(planes.subjects, ["B-52", "I-16", "Spitfire", "O"]);
        assert_eq!(LabelColours::new(["O", "S-LOC", "E-PER"]).subjects, ["LOC", "PER"]);
        assert_eq!(LabelColours::new([""; 0]).class("x"), "");
        assert_eq!(LabelColours::new(["NP", "VP", "O"]).number("I-VP"), Some(1));
    }
}
