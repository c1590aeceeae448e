//! A message on disk. Several messages are stored together in a block.

use serde::{Deserialize, Serialize};

use super::Unknown;
use crate::model::{Message, Role, Timestamp, transcript::Origin};

#[derive(Serialize, Deserialize)]
pub(crate) struct MessageRecord {
    seq: u32,
    source: u32,
    line: u64,
    uuid: Option<[u8; 16]>,
    role: u8,
    at: Option<i64>,
    text: String,
    tool: Option<String>,
    files: Vec<String>,
    branch: Option<String>,
}

impl From<&Message> for MessageRecord {
    fn from(message: &Message) -> MessageRecord {
        MessageRecord {
            seq: message.seq,
            source: message.origin.source,
            line: message.origin.line,
            uuid: message.uuid,
            role: match message.role {
                Role::User => 0,
                Role::Agent => 1,
                Role::Tool => 2,
                Role::Recap => 3,
            },
            at: message.at.map(Timestamp::micros),
            text: message.text.clone(),
            tool: message.tool.clone(),
            files: message.files.clone(),
            branch: message.branch.clone(),
        }
    }
}

impl TryFrom<MessageRecord> for Message {
    type Error = Unknown;

    fn try_from(record: MessageRecord) -> Result<Message, Unknown> {
        Ok(Message {
            seq: record.seq,
            origin: Origin { source: record.source, line: record.line },
            uuid: record.uuid,
            role: match record.role {
                0 => Role::User,
                1 => Role::Agent,
                2 => Role::Tool,
                3 => Role::Recap,
                other => return Err(format!("role {other}")),
            },
            at: record.at.map(super::time),
            text: record.text,
            tool: record.tool,
            files: record.files,
            branch: record.branch,
        })
    }
}
