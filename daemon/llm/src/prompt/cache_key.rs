//! Identifies requests whose summary can be reused.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{
    model::hex,
    prompt::template::{Template, Values},
};

/// Identifies a content and a template. An earlier summary with an equal key is reused.
///
/// The values of the other placeholders are treated as part of the template.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SummaryKey {
    content: [u8; 16],
    template: [u8; 16],
}

impl SummaryKey {
    /// Returns the key of `template` filled with `values`.
    pub fn of(template: &Template, values: &Values<'_>) -> SummaryKey {
        let mut hasher = Sha256::new();
        hasher.update(template.hash());
        let max_chars = values.max_chars.map(|limit| limit.to_string());
        let others = [
            values.context,
            max_chars.as_deref(),
            values.activity_profile,
            values.extraction_instructions,
        ];
        for value in others {
            hasher.update([u8::from(value.is_some())]);
            hasher.update(value.map_or(0, str::len).to_le_bytes());
            hasher.update(value.unwrap_or_default());
        }
        SummaryKey {
            content: half(Sha256::digest(values.content).into()),
            template: half(hasher.finalize().into()),
        }
    }

    /// Returns the key on disk. The half of the content comes first, so that all summaries of one
    /// content are adjacent.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&self.content);
        bytes[16..].copy_from_slice(&self.template);
        bytes
    }

    /// Reads a key that [`SummaryKey::to_bytes`] wrote.
    pub fn from_bytes(bytes: [u8; 32]) -> SummaryKey {
        let mut key = SummaryKey { content: [0; 16], template: [0; 16] };
        key.content.copy_from_slice(&bytes[..16]);
        key.template.copy_from_slice(&bytes[16..]);
        key
    }
}

impl fmt::Display for SummaryKey {
    /// Writes both halves in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.to_bytes()))
    }
}

impl fmt::Debug for SummaryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SummaryKey({self})")
    }
}

fn half(hash: [u8; 32]) -> [u8; 16] {
    *hash.first_chunk().expect("16 bytes are less than 32")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::prompt::kind::PromptKind;

    #[test]
    fn each_change_of_the_prompt_changes_the_key() {
        let plain = Template::built_in(PromptKind::ToolResults);
        let other = Template::parse(PromptKind::ToolResults, "Shorten: {content}").unwrap();
        let values =
            Values { content: "a", context: Some("b"), max_chars: Some(5), ..Values::default() };
        let keys = [
            SummaryKey::of(&plain, &values),
            SummaryKey::of(&other, &values),
            SummaryKey::of(&plain, &Values { content: "b", ..values }),
            SummaryKey::of(&plain, &Values { context: Some("c"), ..values }),
            SummaryKey::of(&plain, &Values { context: None, ..values }),
            SummaryKey::of(&plain, &Values { max_chars: Some(6), ..values }),
            SummaryKey::of(&plain, &Values { activity_profile: Some(""), ..values }),
        ];
        assert_eq!(BTreeSet::from(keys).len(), keys.len());
        assert_eq!(keys[0], SummaryKey::of(&plain.clone(), &values));
        assert_eq!(keys[0].to_bytes()[..16], keys[1].to_bytes()[..16]);
    }

    #[test]
    fn a_key_is_restored_from_its_bytes() {
        let values = Values { content: "text", ..Values::default() };
        let key = SummaryKey::of(&Template::built_in(PromptKind::UserMessages), &values);
        assert_eq!(SummaryKey::from_bytes(key.to_bytes()), key);
        assert_eq!(key.to_string().len(), 64);
    }
}
