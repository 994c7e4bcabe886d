//! Names of the templates of factor graphs and of their attributes, as model files store them.

use super::FactorGraphSpec;
use crate::factor_graph::FactorGraphNames;
use crate::names::Names;

impl FactorGraphSpec {
    /// The names of templates and of their attributes, from the names in a model file.
    ///
    /// ```
    /// use maxmargin::inference::Inference;
    /// use maxmargin::model::factor_graph::StateLoss;
    /// use maxmargin_io::{FactorGraphSpec, FactorGraphReader, Lines, Origin, read_factor_graphs};
    ///
    /// let text = r#"{"variables": [{"states": 2, "truth": 1}], "factors": [{"template": "unary", "variables": [0], "attributes": {"x": 2}}]}"#;
    /// let lines = Lines::from_reader("pets.jsonl", text.as_bytes())?;
    /// let data = read_factor_graphs(FactorGraphReader::new(lines))?;
    /// let spec = FactorGraphSpec {
    ///     shape: data.names.shape(),
    ///     loss: StateLoss::default(),
    ///     inference: Inference::Auto,
    ///     training: Default::default(),
    ///     rescaling: Default::default(),
    ///     states: Vec::new(),
    ///     labels: Vec::new(),
    /// };
    /// let origin = Origin::from(&data);
    /// assert_eq!(origin.attributes.name(0), "unary:x");
    /// assert_eq!(spec.names(&origin.labels, &origin.attributes), Some(data.names));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn names(&self, templates: &Names, attributes: &Names) -> Option<FactorGraphNames> {
        let mut all = attributes.iter();
        let mut own = Vec::new();
        for (name, template) in templates.iter().zip(&self.shape.templates) {
            let strip =
                |full: &str| Some(full.strip_prefix(name)?.strip_prefix(SEPARATOR)?.to_owned());
            let names: Option<Vec<String>> =
                all.by_ref().take(template.attributes).map(strip).collect();
            own.push(Names::from_iter(names?));
        }
        let states = self.shape.templates.iter().map(|template| template.states.clone()).collect();
        let patterns = self.shape.templates.iter().map(|template| template.patterns).collect();
        Some(FactorGraphNames { templates: templates.clone(), attributes: own, states, patterns })
    }
}

/// Between the name of a template and that of its attribute.
const SEPARATOR: char = ':';

impl FactorGraphNames {
    /// The names of all attributes. The name of its template stands before each.
    pub(crate) fn full_names(&self) -> Names {
        let own = self.templates.iter().zip(&self.attributes);
        own.flat_map(|(t, names)| names.iter().map(move |a| format!("{t}{SEPARATOR}{a}"))).collect()
    }
}
