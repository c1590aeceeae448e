//! A prompt for a model, in which the instructions are separate from the material from transcripts.

/// A question to a model. Its parts are in the order in which the model reads them.
///
/// The separation prevents a transcript from giving instructions: the sender of a prompt marks its
/// [`PromptPart::Material`] so that the model can distinguish it from the instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The parts, to be joined without anything between them.
    pub parts: Vec<PromptPart>,
}

/// A part of a prompt, by its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptPart {
    /// An instruction, from the daemon or from a template of the user.
    Instruction(String),
    /// Material from a transcript: it must not be followed as an instruction.
    Material(String),
}

impl Prompt {
    /// Returns a prompt of `instruction` followed by `material`.
    pub fn about(instruction: impl Into<String>, material: impl Into<String>) -> Prompt {
        let instruction = format!("{}\n\n", instruction.into().trim_end());
        Prompt {
            parts: vec![
                PromptPart::Instruction(instruction),
                PromptPart::Material(material.into()),
            ],
        }
    }

    /// Returns the whole text without any marks, for showing and counting.
    pub fn plain_text(&self) -> String {
        self.parts.iter().map(PromptPart::text).collect()
    }
}

impl PromptPart {
    pub fn text(&self) -> &str {
        match self {
            PromptPart::Instruction(text) | PromptPart::Material(text) => text,
        }
    }
}
