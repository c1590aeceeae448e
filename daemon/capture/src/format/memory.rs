//! The state that a format keeps while it reads the records of one file. This state is saved with
//! the file's cursor.

use std::{any::Any, fmt};

use serde::{Deserialize, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Map, Value};

/// The state of a file after the records that were read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The last working directory.
    pub cwd: String,
    /// The last branch.
    pub branch: String,
    /// The last version of the agent.
    pub version: String,
    /// The last model.
    pub model: String,
    /// The format's own state.
    #[serde(flatten)]
    pub(super) own: OwnMemory,
}

/// The state of one format. The size of its members must be bounded, and each member must have a
/// default, so that other versions of the format can read the state.
pub(crate) trait FormatMemory:
    Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<T> FormatMemory for T where
    T: Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl Memory {
    /// Replaces `noted` by `seen` unless `seen` is empty; returns whether `noted` changed.
    pub(crate) fn note(noted: &mut String, seen: &str) -> bool {
        if seen.is_empty() || noted == seen {
            return false;
        }
        seen.clone_into(noted);
        true
    }

    /// Returns the format's own state; the default if the saved state cannot be read.
    pub(crate) fn own<T: FormatMemory>(&mut self) -> &mut T {
        if let OwnMemory::Saved(members) = &mut self.own {
            let saved = Value::Object(std::mem::take(members));
            let value: T = serde_json::from_value(saved).unwrap_or_default();
            self.own = OwnMemory::InUse(Box::new(value));
        }
        match &mut self.own {
            OwnMemory::InUse(value) => value.as_any().downcast_mut(),
            OwnMemory::Saved(_) => None,
        }
        .expect("a file is read by one format, whose memory has one type")
    }
}

/// The format's own state. It is saved as members of the object of [`Memory`].
#[derive(Clone, Deserialize)]
#[serde(from = "Map<String, Value>")]
pub(super) enum OwnMemory {
    /// The saved members, which the format has not used since they were loaded.
    Saved(Map<String, Value>),
    InUse(Box<dyn AnyMemory>),
}

pub(super) trait AnyMemory: Send + Sync {
    fn as_any(&mut self) -> &mut dyn Any;
    fn boxed(&self) -> Box<dyn AnyMemory>;
    fn to_value(&self) -> Value;
}

impl<T: FormatMemory> AnyMemory for T {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn boxed(&self) -> Box<dyn AnyMemory> {
        Box::new(self.clone())
    }

    fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("a format's memory is plain data")
    }
}

impl Clone for Box<dyn AnyMemory> {
    fn clone(&self) -> Box<dyn AnyMemory> {
        self.as_ref().boxed()
    }
}

impl Default for OwnMemory {
    fn default() -> OwnMemory {
        OwnMemory::Saved(Map::new())
    }
}

impl From<Map<String, Value>> for OwnMemory {
    fn from(members: Map<String, Value>) -> OwnMemory {
        OwnMemory::Saved(members)
    }
}

impl OwnMemory {
    fn to_value(&self) -> Value {
        match self {
            OwnMemory::Saved(members) => Value::Object(members.clone()),
            OwnMemory::InUse(value) => value.as_ref().to_value(),
        }
    }
}

impl Serialize for OwnMemory {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(to)
    }
}

impl PartialEq for OwnMemory {
    fn eq(&self, other: &OwnMemory) -> bool {
        self.to_value() == other.to_value()
    }
}

impl fmt::Debug for OwnMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Counted {
        calls: u64,
        names: Vec<String>,
    }

    #[test]
    fn the_state_of_a_format_survives_saving() {
        let mut memory = Memory { cwd: "/p".to_owned(), ..Memory::default() };
        memory.own::<Counted>().calls += 2;
        memory.own::<Counted>().names.push("a".to_owned());
        let saved = serde_json::to_string(&memory).unwrap();
        let mut loaded: Memory = serde_json::from_str(&saved).unwrap();
        assert_eq!((&loaded, &loaded.clone()), (&memory, &memory));
        assert_eq!(loaded.own::<Counted>(), memory.own::<Counted>());
        assert_eq!(serde_json::to_string(&loaded).unwrap(), saved);
    }

    /// Earlier versions saved the members of all formats in one object.
    #[test]
    fn a_memory_of_an_earlier_version_is_read() {
        let saved = r#"{"cwd":"/p","branch":"main","version":"2","model":"m","calls":3,"tasks":[],
            "queue":{"waiting":["x"]},"is_sub_agent":false,"seen":[7]}"#;
        let mut memory: Memory = serde_json::from_str(saved).unwrap();
        assert_eq!((memory.own::<Counted>().calls, memory.cwd.as_str()), (3, "/p"));
    }

    #[test]
    fn an_invalid_state_is_replaced_by_the_default() {
        let mut memory: Memory = serde_json::from_str(r#"{"cwd":"/p","calls":"many"}"#).unwrap();
        assert_eq!((memory.own::<Counted>().calls, memory.cwd.as_str()), (0, "/p"));
    }
}
