//! Specifications in files: an object whose `kind` says which specification it is.

use super::Spec;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The names of all kinds.
const KINDS: [&str; 9] = [
    "chain",
    "binary",
    "multiclass",
    "multilabel",
    "factor-graph",
    "graph",
    "tree",
    "matching",
    "segment",
];

/// Writes what `#[serde(tag = "kind")]` would, by way of a JSON value. All kinds with all their parts are then compiled
/// for one form of output, and not for every one that files, pages and programs need.
impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_object().map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// Reads the same, likewise.
impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_object(Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Spec {
    fn from_object(mut object: Map<String, Value>) -> Result<Self, serde_json::Error> {
        use serde::de::Error as ReadError;
        let kind = match object.remove("kind") {
            Some(Value::String(kind)) => kind,
            Some(_) => return Err(ReadError::custom("`kind` is not a text")),
            None => return Err(ReadError::missing_field("kind")),
        };
        let fields = Value::Object(object);
        Ok(match kind.as_str() {
            "chain" => Self::Chain(serde_json::from_value(fields)?),
            "binary" => Self::Binary(serde_json::from_value(fields)?),
            "multiclass" => Self::Multiclass(serde_json::from_value(fields)?),
            "multilabel" => Self::Multilabel(serde_json::from_value(fields)?),
            "factor-graph" => Self::FactorGraph(serde_json::from_value(fields)?),
            "graph" => Self::Potts(serde_json::from_value(fields)?),
            "tree" => Self::Tree(serde_json::from_value(fields)?),
            "matching" => Self::Matching(serde_json::from_value(fields)?),
            "segment" => Self::Segment(serde_json::from_value(fields)?),
            _ => return Err(ReadError::unknown_variant(&kind, &KINDS)),
        })
    }

    fn to_object(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let fields = match self {
            Self::Chain(own) => serde_json::to_value(own),
            Self::Binary(own) => serde_json::to_value(own),
            Self::Multiclass(own) => serde_json::to_value(own),
            Self::Multilabel(own) => serde_json::to_value(own),
            Self::FactorGraph(own) => serde_json::to_value(own),
            Self::Potts(own) => serde_json::to_value(own),
            Self::Tree(own) => serde_json::to_value(own),
            Self::Matching(own) => serde_json::to_value(own),
            Self::Segment(own) => serde_json::to_value(own),
        };
        let mut object = Map::from_iter([("kind".to_owned(), self.kind().into())]);
        if let Value::Object(fields) = fields? {
            object.extend(fields);
        }
        Ok(object)
    }
}
