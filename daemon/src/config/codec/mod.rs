//! Converts values between the notation in the file and the types of the configuration.
//!
//! A codec reads the notation of the file (such as a number of seconds, or a word for a choice)
//! into the type of the setting, writes it back, and describes the valid values.

mod content;
mod formats;
mod number;
mod place;
mod text;
mod tools;

use serde_json::Value as Json;

use crate::config::file::Node;

pub(super) use self::{
    content::{KeepCodec, PromptCodec, VectorCodec},
    formats::FormatsCodec,
    number::{Bytes, Count, DAYS, DOLLARS, Delays, Millis, OffSeconds, SECONDS, SHARE},
    place::{Path, Paths},
    text::{Choice, CommandCodec, ENV_NAME, Flag, GroupCodec, Namespaces, Text, Texts, URL},
    tools::ToolsCodec,
};

pub(super) trait Codec {
    /// The type of the setting.
    type Item;

    fn read(&self, node: &Node, context: &mut CodecContext<'_>)
    -> Result<Self::Item, InvalidValue>;

    /// Writes `item` in the notation of the file.
    fn write(&self, item: &Self::Item) -> Json;

    /// Describes the valid values, for the message "`key` must be …".
    fn allowed(&self) -> String;

    /// Describes the valid values as JSON Schema.
    fn schema(&self) -> Json;
}

pub(super) struct InvalidValue {
    /// What the message tells the user to write instead.
    pub(super) remedy: String,
}

/// Additional input of codecs, and the notices that codecs return.
pub(super) struct CodecContext<'c> {
    /// The user's home folder, which replaces `~/`.
    pub(super) user_home: Option<&'c std::path::Path>,
    /// The notices about the values that were read.
    pub(super) remarks: Vec<Remark>,
}

pub(super) enum Remark {
    /// The value is deprecated. Contains the current spelling.
    Older(String),
    /// Another value is used instead.
    Adjusted { used: String, reason: &'static str },
}

impl InvalidValue {
    pub(super) fn new(remedy: impl Into<String>) -> InvalidValue {
        InvalidValue { remedy: remedy.into() }
    }
}

impl CodecContext<'_> {
    fn note_deprecated(&mut self, current: &Json) {
        self.remarks.push(Remark::Older(current.to_string()));
    }
}

/// Reads `null` as `None`, and any other value with the inner codec.
pub(super) struct Optional<C> {
    /// The codec for values other than `null`.
    pub(super) inner: C,
    /// The meaning of `null`, for the message "… or null for {meaning}".
    pub(super) null: &'static str,
}

impl<C: Codec> Codec for Optional<C> {
    type Item = Option<C::Item>;

    fn read(
        &self,
        node: &Node,
        context: &mut CodecContext<'_>,
    ) -> Result<Self::Item, InvalidValue> {
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
