//! Removes the omitted texts of an item, so that they are in no summary and no fact either.
//!
//! [`Filter::keep`](crate::config::Filter::keep) selects the stored part of a message. A summary is
//! derived from the items themselves, so texts that must not be stored are removed before.

use serde_json::Value;

use crate::{
    config::{Filter, Keep},
    model::transcript::{Action, Item},
};

impl Filter {
    /// Empties the texts of `item` whose kind is omitted. Its existence, time and outcome stay.
    pub fn omit(&self, item: &mut Item<'_>) {
        let (user, agent) = (self.omits_user(), self.omits_agent());
        match item {
            Item::Prompt(text) if user => *text = "".into(),
            Item::Command { args, .. } if user => *args = "".into(),
            Item::Answer { question, answer, .. } => {
                if agent {
                    *question = "".into();
                }
                if user {
                    *answer = "".into();
                }
            }
            Item::Instruction(text) | Item::Reply { text, .. } if agent => *text = "".into(),
            // They quote both.
            Item::Recap { text, .. } | Item::Title { text, .. } if user || agent => {
                *text = "".into();
            }
            Item::ShellOutput(text) if user => *text = "".into(),
            Item::TaskEnded(ended) if agent => ended.text = "".into(),
            Item::Call(call) if !self.tool_calls => {
                call.input = Value::Null;
                call.action = Action::Other;
            }
            // The user's answers and the agent's plans and questions are also in calls.
            Item::Call(call) if agent && is_speech(&call.action) => {
                call.input = Value::Null;
                call.action = Action::Other;
            }
            _ => {}
        }
    }

    /// Whether nothing that the user wrote may be stored.
    pub fn omits_user(&self) -> bool {
        self.user_messages == Keep::Omit
    }

    fn omits_agent(&self) -> bool {
        self.agent_messages == Keep::Omit
    }
}

/// Whether the arguments of a call are what the agent said to the user.
fn is_speech(action: &Action) -> bool {
    matches!(action, Action::Ask(_) | Action::ProposePlan { .. })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::transcript::{Call, TitleSource};

    #[test]
    fn omitted_texts_are_removed_and_the_others_stay() {
        let user = Filter { user_messages: Keep::Omit, ..Filter::default() };
        let agent = Filter { agent_messages: Keep::Omit, ..Filter::default() };
        let prompt = || Item::Prompt("never delete backups".into());
        let reply = || Item::Reply { message: None, text: "I use lambda".into() };
        let title = || Item::Title { by: TitleSource::Model, text: "Backups".into() };
        for (filter, item, is_kept) in [
            (&user, prompt(), false),
            (&user, reply(), true),
            (&user, title(), false),
            (&agent, prompt(), true),
            (&agent, reply(), false),
            (&agent, title(), false),
            (&Filter::default(), title(), true),
        ] {
            let mut item = item;
            filter.omit(&mut item);
            let (Item::Prompt(text) | Item::Reply { text, .. } | Item::Title { text, .. }) = &item
            else {
                panic!("no text in {item:?}")
            };
            assert_eq!(!text.is_empty(), is_kept, "{item:?}");
        }
    }

    #[test]
    fn the_arguments_of_omitted_calls_are_removed() {
        let call = || {
            Item::Call(Call {
                id: "t1".into(),
                message: None,
                tool: "Bash".into(),
                input: json!({ "command": "cat theta.txt" }),
                action: Action::Run { command: "cat theta.txt".to_owned(), purpose: None },
            })
        };
        let (mut omitted, mut kept) = (call(), call());
        Filter { tool_calls: false, ..Filter::default() }.omit(&mut omitted);
        Filter::default().omit(&mut kept);
        assert!(!format!("{omitted:?}").contains("theta") && format!("{kept:?}").contains("theta"));
    }
}
