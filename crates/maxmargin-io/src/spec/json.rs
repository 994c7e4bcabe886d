//! Specifications in files: an object whose `kind` states the kind of specification.

use super::{KINDS, Spec};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Writes the same as `#[serde(tag = "kind")]`, but by way of a JSON value. So all kinds with all their parts are
/// compiled for one form of output, and not for each form that files, pages and programs need.
impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_object().map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// Reads the same form, also by way of a JSON value.
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
        Self::from_fields(&kind, Value::Object(object))
            .unwrap_or_else(|| Err(ReadError::unknown_variant(&kind, KINDS)))
    }

    fn to_object(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let mut object = Map::from_iter([("kind".to_owned(), self.kind().into())]);
        if let Value::Object(fields) = self.to_fields()? {
            object.extend(fields);
        }
        Ok(object)
    }
}
