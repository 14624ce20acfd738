//! JSON objects without duplicate keys: otherwise one of the two values would be dropped silently.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// An object whose keys are unique.
pub(crate) struct Keys(pub(crate) Map<String, Value>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Keys, D::Error> {
        from.deserialize_map(Object).map(Keys)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Map<String, Value>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = from.next_entry::<String, Value>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key '{key}' is there twice")));
            }
            object.insert(key, value);
        }
        Ok(object)
    }
}
