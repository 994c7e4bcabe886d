//! Reading factor graphs, one line at a time.

use super::json::Json;
use super::raw::{RawFactor, RawFactorGraph, RawVariable, Wrong};
use crate::error::{DataError, quote};
use crate::lines::Lines;
use maxmargin::model::factor_graph::{Counting, Patterns};
use std::collections::HashMap;

/// Reads factor graphs from JSON lines: one object per line and graph.
///
/// ```text
/// {"variables": [{"states": 2, "truth": 1}, {"states": 3, "truth": 0, "cost": 2}],
///  "factors": [{"template": "pixel", "variables": [0], "attributes": {"brightness": 0.7}},
///              {"template": "edge", "variables": [0, 1], "attributes": {"bias": 1}}],
///  "weight": 1}
/// ```
///
/// (on one line). `truth`, `cost` and `weight` may be left out. The truth is then not known, and cost and weight
/// are 1. A factor may have `patterns` instead of a table. Blank lines are skipped. Unknown fields and repeated
/// fields are refused. The whole format is described in `docs/reference/factor-graph-format.md`.
///
/// ```
/// use maxmargin_io::{FactorGraphReader, Lines, RawFactorGraph};
///
/// let text = r#"{"variables": [{"states": 2, "truth": 1}], "factors": []}"#;
/// let mut reader = FactorGraphReader::new(Lines::from_reader("example", text.as_bytes())?);
/// let mut graph = RawFactorGraph::default();
/// assert!(reader.read(&mut graph)?);
/// assert_eq!(graph.variables[0].truth, Some(1));
/// assert!(!reader.read(&mut graph)?);
/// # Ok::<(), maxmargin_io::DataError>(())
/// ```
#[derive(Debug)]
pub struct FactorGraphReader {
    lines: Lines,
    known: KnownPatterns,
}

/// The states of pattern rows, and those of the variables.
type Rows = (Vec<usize>, Vec<Vec<Option<u32>>>, bool);

/// The patterns that were read so far. Many factors have equal patterns, which share their memory.
#[derive(Debug, Default)]
struct KnownPatterns(HashMap<Rows, Patterns>);

/// The largest number of patterns that are remembered.
const MOST_KNOWN: usize = 4096;

impl KnownPatterns {
    fn get(
        &mut self,
        states: Vec<usize>,
        rows: Vec<Vec<Option<u32>>>,
        counting: Counting,
    ) -> Result<Patterns, String> {
        let key = (states, rows, counting == Counting::First);
        if let Some(known) = self.0.get(&key) {
            return Ok(known.clone());
        }
        let patterns =
            Patterns::new(&key.0, &key.1, counting).map_err(|error| error.to_string())?;
        if self.0.len() >= MOST_KNOWN {
            self.0.clear();
        }
        self.0.insert(key, patterns.clone());
        Ok(patterns)
    }
}

impl FactorGraphReader {
    /// A reader of the rest of `lines`.
    pub fn new(lines: Lines) -> Self {
        Self { lines, known: KnownPatterns::default() }
    }

    /// The input as messages name it.
    pub fn file(&self) -> &str {
        self.lines.file()
    }

    /// Number of the line that was read last, from 1; 0 before the first.
    pub fn line_number(&self) -> u64 {
        self.lines.number()
    }

    /// Replaces `into` by the next graph. Returns `false` at the end of the input.
    ///
    /// ```
    /// use maxmargin_io::{FactorGraphReader, Lines, RawFactorGraph};
    ///
    /// let lines = Lines::from_reader("g.jsonl", r#"{"variables": [{"states": 0}]}"#.as_bytes())?;
    /// let error = FactorGraphReader::new(lines).read(&mut RawFactorGraph::default()).unwrap_err();
    /// assert_eq!(error.to_string(), "g.jsonl:1: factors: expected a list of factors, found nothing");
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    ///
    /// # Errors
    /// If the input is wrong. The error names file, line, and column or field. `into` is then not changed.
    pub fn read(&mut self, into: &mut RawFactorGraph) -> Result<bool, DataError> {
        while self.lines.advance()? {
            let line = self.lines.line();
            if line.trim().is_empty() {
                continue;
            }
            let json: Json = serde_json::from_str(line).map_err(|error| self.syntax(&error))?;
            let graph = graph(json, &mut self.known);
            let graph = graph.and_then(|graph| graph.check().map(|()| graph));
            *into = graph.map_err(|wrong| self.wrong(wrong))?;
            return Ok(true);
        }
        Ok(false)
    }

    /// An error about a field of the line that was read last.
    pub(super) fn wrong(&self, Wrong { field, expected, found }: Wrong) -> DataError {
        let (file, line) = (self.file().to_owned(), self.line_number());
        DataError::Field { file, line, field, expected, found }
    }

    fn syntax(&self, error: &serde_json::Error) -> DataError {
        // The message of the parser ends with its own line and column.
        let text = error.to_string();
        let why = text.split(" at line ").next().unwrap_or(&text).to_owned();
        let byte = error.column().saturating_sub(1).min(self.lines.line().len());
        DataError::Json { place: self.lines.place(byte), why }
    }
}

/// The fields of an object. Each can be taken once.
struct Fields {
    place: String,
    known: &'static str,
    fields: Vec<(String, Json)>,
}

impl Fields {
    fn new(place: &str, known: &'static str, json: Json) -> Result<Self, Wrong> {
        match json {
            Json::Object(fields) => Ok(Self { place: place.to_owned(), known, fields }),
            other => Err(Wrong::new(place, "an object", other.describe())),
        }
    }

    fn name(&self, field: &str) -> String {
        if self.place.is_empty() { field.to_owned() } else { format!("{}.{field}", self.place) }
    }

    fn take(&mut self, field: &str) -> Option<Json> {
        let at = self.fields.iter().position(|(name, _)| name == field)?;
        Some(self.fields.swap_remove(at).1)
    }

    fn need(&mut self, field: &str, expected: &str) -> Result<Json, Wrong> {
        let missing = Wrong::new(self.name(field), expected, "nothing");
        self.take(field).ok_or(missing)
    }

    /// Refuses the fields that were not taken.
    fn end(self) -> Result<(), Wrong> {
        match self.fields.first() {
            None => Ok(()),
            Some((name, _)) => {
                let expected = format!("no fields but {}", self.known);
                Err(Wrong::new(self.place, expected, quote(name)))
            }
        }
    }
}

fn graph(json: Json, known: &mut KnownPatterns) -> Result<RawFactorGraph, Wrong> {
    let mut fields = Fields::new("", "`variables`, `factors` and `weight`", json)?;
    let mut graph = RawFactorGraph::default();
    for (v, item) in list(&mut fields, "variables", "a list of variables")?.into_iter().enumerate()
    {
        graph.variables.push(variable(&format!("variables[{v}]"), item)?);
    }
    for (c, item) in list(&mut fields, "factors", "a list of factors")?.into_iter().enumerate() {
        let place = format!("factors[{c}]");
        graph.factors.push(factor(&place, item, &graph.variables, known)?);
    }
    if let Some(weight) = fields.take("weight") {
        graph.weight = real("weight", weight)?;
    }
    fields.end()?;
    Ok(graph)
}

fn variable(place: &str, json: Json) -> Result<RawVariable, Wrong> {
    let mut fields = Fields::new(place, "`states`, `truth` and `cost`", json)?;
    let states = fields.need("states", "a number of states")?;
    let states = whole(&fields.name("states"), states)?;
    let truth = match fields.take("truth") {
        None => None,
        Some(truth) => Some(whole(&fields.name("truth"), truth)?),
    };
    let cost = match fields.take("cost") {
        None => 1.0,
        Some(cost) => real(&fields.name("cost"), cost)?,
    };
    fields.end()?;
    Ok(RawVariable { states, truth, cost })
}

fn factor(
    place: &str,
    json: Json,
    all: &[RawVariable],
    known: &mut KnownPatterns,
) -> Result<RawFactor, Wrong> {
    let names = "`template`, `variables`, `attributes`, `patterns` and `counting`";
    let mut fields = Fields::new(place, names, json)?;
    let template = match fields.need("template", "the name of a template")? {
        Json::Text(text) => text,
        other => {
            let expected = "the name of a template";
            return Err(Wrong::new(fields.name("template"), expected, other.describe()));
        }
    };
    let name = fields.name("variables");
    let variables = list(&mut fields, "variables", "a list of variables")?;
    let variables = variables.into_iter().enumerate();
    let variables = variables.map(|(slot, item)| whole(&format!("{name}[{slot}]"), item));
    let variables = variables.collect::<Result<Vec<u32>, Wrong>>()?;
    let place = fields.name("attributes");
    let attributes = match fields.need("attributes", "an object of names and numbers")? {
        Json::Object(attributes) => attributes,
        other => {
            return Err(Wrong::new(place, "an object of names and numbers", other.describe()));
        }
    };
    let value = |(name, json): (String, Json)| {
        let value = real(&format!("{place}.{}", quote(&name)), json)?;
        Ok((name, value))
    };
    let attributes = attributes.into_iter().map(value).collect::<Result<_, Wrong>>()?;
    let patterns = patterns(&mut fields, &variables, all, known)?;
    fields.end()?;
    Ok(RawFactor { template, variables, attributes, patterns })
}

/// The patterns of a factor over some of all variables, if it has any.
fn patterns(
    fields: &mut Fields,
    variables: &[u32],
    all: &[RawVariable],
    known: &mut KnownPatterns,
) -> Result<Option<Patterns>, Wrong> {
    let place = fields.name("patterns");
    let counting = match fields.take("counting") {
        None => None,
        Some(Json::Text(name)) if name == "all" => Some(Counting::All),
        Some(Json::Text(name)) if name == "first" => Some(Counting::First),
        Some(other) => {
            let expected = "\"all\" or \"first\"";
            return Err(Wrong::new(fields.name("counting"), expected, other.describe()));
        }
    };
    let rows = match (fields.take("patterns"), counting) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            return Err(Wrong::new(place, "patterns, of which `counting` speaks", "nothing"));
        }
        (Some(Json::List(rows)), _) => rows.into_iter().enumerate(),
        (Some(other), _) => return Err(Wrong::new(place, "a list of patterns", other.describe())),
    };
    let rows = rows.map(|(p, row)| pattern(&format!("{place}[{p}]"), row));
    let rows = rows.collect::<Result<Vec<_>, Wrong>>()?;
    let states = variables.iter().map(|&v| Some(all.get(v as usize)?.states as usize));
    // A variable that does not exist is refused with the other fields.
    let Some(states) = states.collect::<Option<Vec<usize>>>() else { return Ok(None) };
    if states.is_empty() {
        return Ok(None);
    }
    let found = known.get(states, rows, counting.unwrap_or_default());
    found.map(Some).map_err(|why| Wrong::new(place, "patterns for its variables", why))
}

/// The states of one pattern; null stands for any state.
fn pattern(place: &str, json: Json) -> Result<Vec<Option<u32>>, Wrong> {
    let Json::List(states) = json else {
        return Err(Wrong::new(place, "a list of states", json.describe()));
    };
    let state = |(slot, state): (usize, Json)| match state {
        Json::Null => Ok(None),
        state => whole(&format!("{place}[{slot}]"), state).map(Some),
    };
    states.into_iter().enumerate().map(state).collect()
}

fn list(fields: &mut Fields, field: &str, expected: &str) -> Result<Vec<Json>, Wrong> {
    match fields.need(field, expected)? {
        Json::List(items) => Ok(items),
        other => Err(Wrong::new(fields.name(field), expected, other.describe())),
    }
}

fn whole(field: &str, json: Json) -> Result<u32, Wrong> {
    let number = match json {
        Json::Whole(number) => u32::try_from(number).ok(),
        _ => None,
    };
    number.ok_or_else(|| Wrong::new(field, "a whole number from 0", json.describe()))
}

fn real(field: &str, json: Json) -> Result<f64, Wrong> {
    match json {
        Json::Whole(number) => Ok(number as f64),
        Json::Real(number) => Ok(number),
        other => Err(Wrong::new(field, "a number", other.describe())),
    }
}
