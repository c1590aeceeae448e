//! How a value stands in the file: what is read, what is written, what may stand there.
//!
//! A codec turns the file's notation (seconds as a number, a choice as a word) into the type that
//! a stage's `Config` has, and back.

mod content;
mod number;
mod place;
mod text;

use serde_json::Value as Json;

use crate::config::file::Node;

pub(super) use self::{
    content::{KeepCodec, PromptCodec, VectorCodec},
    number::{Bytes, Count, Days, Delays, Dollars, Millis, OffSeconds, Seconds, ShareCodec},
    place::{Path, Paths},
    text::{Choice, CommandCodec, EnvName, Flag, GroupCodec, Namespaces, Text, Url},
};

pub(super) trait Codec {
    /// What it is read as.
    type Item;

    fn read(&self, node: &Node, context: &mut CodecContext<'_>) -> Result<Self::Item, Wrong>;

    /// The notation of `item`.
    fn write(&self, item: &Self::Item) -> Json;

    /// What may stand in the file, for a message: "`key` must be …".
    fn allowed(&self) -> String;

    /// The same as JSON Schema.
    fn schema(&self) -> Json;
}

/// A value that may not stand there.
pub(super) struct Wrong {
    /// What to write instead, for a message.
    pub(super) remedy: String,
}

/// What codecs need beside the value, and what they have to say.
pub(super) struct CodecContext<'c> {
    /// The user's home folder, for `~/`.
    pub(super) user_home: Option<&'c std::path::Path>,
    /// A notice about a value that was read.
    pub(super) remarks: Vec<Remark>,
}

/// A notice about a value that was read.
pub(super) enum Remark {
    /// It is an older spelling of this one.
    Older(String),
    /// It is used in another form.
    Adjusted { used: String, reason: &'static str },
}

impl Wrong {
    pub(super) fn new(remedy: impl Into<String>) -> Wrong {
        Wrong { remedy: remedy.into() }
    }
}

impl CodecContext<'_> {
    fn older(&mut self, present: &Json) {
        self.remarks.push(Remark::Older(present.to_string()));
    }
}

/// `null` in the file for `None`, and all else by another codec.
pub(super) struct Optional<C> {
    /// For what is not `null`.
    pub(super) inner: C,
    /// What `null` means, for a message: "… or null for {meaning}".
    pub(super) null: &'static str,
}

impl<C: Codec> Codec for Optional<C> {
    type Item = Option<C::Item>;

    fn read(&self, node: &Node, context: &mut CodecContext<'_>) -> Result<Self::Item, Wrong> {
        match node.value {
            crate::config::file::Value::Null => Ok(None),
            _ => self.inner.read(node, context).map(Some),
        }
    }

    fn write(&self, item: &Self::Item) -> Json {
        item.as_ref().map_or(Json::Null, |item| self.inner.write(item))
    }

    fn allowed(&self) -> String {
        format!("{}, or null for {}", self.inner.allowed(), self.null)
    }

    fn schema(&self) -> Json {
        serde_json::json!({ "anyOf": [self.inner.schema(), { "type": "null" }] })
    }
}
