//! A question to a model, with what was written for it and what it is about kept apart.

/// A question to a model, in the order in which it reads it.
///
/// The difference between the parts is what keeps a transcript from giving orders: whoever sends
/// a prompt marks its [`PromptPart::Material`] so that the model can tell it from the question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The parts, to be joined without anything between them.
    pub parts: Vec<PromptPart>,
}

/// A part of a prompt, by who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptPart {
    /// Ours, or from a template of the user's: it says what to do.
    Instruction(String),
    /// From a transcript: it is read and never obeyed.
    Material(String),
}

impl Prompt {
    /// `instruction` and below it what it is about.
    pub fn about(instruction: impl Into<String>, material: impl Into<String>) -> Prompt {
        let instruction = format!("{}\n\n", instruction.into().trim_end());
        Prompt {
            parts: vec![
                PromptPart::Instruction(instruction),
                PromptPart::Material(material.into()),
            ],
        }
    }

    /// The whole text without any marks, for showing and counting.
    pub fn plain_text(&self) -> String {
        self.parts.iter().map(PromptPart::text).collect()
    }
}

impl PromptPart {
    /// Its text.
    pub fn text(&self) -> &str {
        match self {
            PromptPart::Instruction(text) | PromptPart::Material(text) => text,
        }
    }
}
