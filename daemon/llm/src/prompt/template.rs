//! Parses and fills templates.

use std::sync::LazyLock;

use regex::Regex;
use sha2::{Digest, Sha256};

use crate::{
    model::{Prompt, prompt::PromptPart},
    prompt::{
        kind::PromptKind,
        problem::{LONGEST, TemplateError},
    },
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    kind: PromptKind,
    text: String,
    pieces: Vec<TemplatePart>,
}

/// The values for the placeholders of a template. A placeholder without a value stays unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values<'v> {
    /// The text from a transcript, for `{content}` and `{tool_calls_json}`.
    pub content: &'v str,
    /// The origin of the content, such as `tool: Read`, for `{context}`. The origin is shortened to
    /// one line of at most 200 characters, because it may contain text from a transcript.
    pub context: Option<&'v str>,
    /// Maximum length of the answer, in characters: `{max_chars}`.
    pub max_chars: Option<u32>,
    /// The activity of the session: `{activity_profile}`.
    pub activity_profile: Option<&'v str>,
    /// The fields to extract: `{dynamic_extraction_instructions}`.
    pub extraction_instructions: Option<&'v str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    Content,
    /// `{tool_calls_json}`: the content of a request about tools.
    ToolCalls,
    Context,
    MaxChars,
    ActivityProfile,
    ExtractionInstructions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Placeholder(Placeholder),
}

/// Maximum length, in characters, of a context.
const CONTEXT: usize = 200;

impl Template {
    pub fn parse(kind: PromptKind, text: &str) -> Result<Template, TemplateError> {
        if text.len() > LONGEST {
            return Err(TemplateError::TooLong { bytes: text.len() });
        }
        let pieces = pieces_of(text);
        let holds_content = pieces.iter().any(
            |piece| matches!(piece, TemplatePart::Placeholder(place) if place.is_content() && place.is_in(kind)),
        );
        if !holds_content {
            return Err(TemplateError::NoContent);
        }
        Ok(Template { kind, text: text.to_owned(), pieces })
    }

    pub fn built_in(kind: PromptKind) -> Template {
        Template::parse(kind, kind.built_in()).expect("a test parses all built-in templates")
    }

    pub fn kind(&self) -> PromptKind {
        self.kind
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Fills the placeholders. Placeholders inside of a value are not filled.
    pub fn fill(&self, values: &Values<'_>) -> Prompt {
        let mut prompt = Prompt::default();
        let mut instruction = String::new();
        for piece in &self.pieces {
            match piece {
                TemplatePart::Text(text) => instruction.push_str(text),
                TemplatePart::Placeholder(place)
                    if place.is_content() && place.is_in(self.kind) =>
                {
                    if !instruction.is_empty() {
                        prompt
                            .parts
                            .push(PromptPart::Instruction(std::mem::take(&mut instruction)));
                    }
                    prompt.parts.push(PromptPart::Material(values.content.to_owned()));
                }
                TemplatePart::Placeholder(place) => match place.value(values) {
                    Some(value) => instruction.push_str(&value),
                    None => instruction.push_str(place.as_str()),
                },
            }
        }
        if !instruction.is_empty() {
            prompt.parts.push(PromptPart::Instruction(instruction));
        }
        prompt
    }

    /// Returns warnings about a valid template: placeholders that are unknown, or that templates of
    /// this kind do not have.
    pub fn warnings(&self) -> Vec<TemplateError> {
        let mut found: Vec<TemplateError> = Vec::new();
        for name in PLACE.find_iter(&self.text).map(|name| name.as_str()) {
            let known = Placeholder::parse(name).is_some_and(|place| place.is_in(self.kind));
            let problem = unknown_placeholder(name);
            if !known && !found.contains(&problem) {
                found.push(problem);
            }
        }
        found
    }

    /// Returns a hash that identifies the text of the template.
    pub(in crate::prompt) fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.text).into()
    }
}

impl Placeholder {
    pub const ALL: [Placeholder; 6] = [
        Placeholder::Content,
        Placeholder::ToolCalls,
        Placeholder::Context,
        Placeholder::MaxChars,
        Placeholder::ActivityProfile,
        Placeholder::ExtractionInstructions,
    ];

    /// Returns the placeholder as it is written in a template.
    pub fn as_str(self) -> &'static str {
        match self {
            Placeholder::Content => "{content}",
            Placeholder::ToolCalls => "{tool_calls_json}",
            Placeholder::Context => "{context}",
            Placeholder::MaxChars => "{max_chars}",
            Placeholder::ActivityProfile => "{activity_profile}",
            Placeholder::ExtractionInstructions => "{dynamic_extraction_instructions}",
        }
    }

    /// Whether a template of `kind` may contain the placeholder.
    pub fn is_in(self, kind: PromptKind) -> bool {
        match self {
            Placeholder::Content | Placeholder::Context | Placeholder::MaxChars => true,
            Placeholder::ToolCalls => kind == PromptKind::ToolClassification,
            Placeholder::ActivityProfile | Placeholder::ExtractionInstructions => {
                kind == PromptKind::SessionSummary
            }
        }
    }

    fn parse(text: &str) -> Option<Placeholder> {
        Placeholder::ALL.into_iter().find(|place| place.as_str() == text)
    }

    fn is_content(self) -> bool {
        matches!(self, Placeholder::Content | Placeholder::ToolCalls)
    }

    fn value(self, values: &Values<'_>) -> Option<String> {
        match self {
            Placeholder::Content | Placeholder::ToolCalls => None,
            Placeholder::Context => values.context.map(one_line),
            Placeholder::MaxChars => values.max_chars.map(|limit| limit.to_string()),
            Placeholder::ActivityProfile => values.activity_profile.map(str::to_owned),
            Placeholder::ExtractionInstructions => {
                values.extraction_instructions.map(str::to_owned)
            }
        }
    }
}

fn unknown_placeholder(name: &str) -> TemplateError {
    let known = Placeholder::ALL.map(Placeholder::as_str).to_vec();
    TemplateError::UnknownPlaceholder { name: name.to_owned(), known }
}

/// Text that looks like a placeholder.
static PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{[a-z][a-z_]*\}").expect("the pattern is valid"));

fn pieces_of(text: &str) -> Vec<TemplatePart> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for found in PLACE.find_iter(text) {
        let Some(place) = Placeholder::parse(found.as_str()) else { continue };
        if at < found.start() {
            pieces.push(TemplatePart::Text(text[at..found.start()].to_owned()));
        }
        pieces.push(TemplatePart::Placeholder(place));
        at = found.end();
    }
    if at < text.len() {
        pieces.push(TemplatePart::Text(text[at..].to_owned()));
    }
    pieces
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    words
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(CONTEXT)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(kind: PromptKind, text: &str) -> Template {
        Template::parse(kind, text).unwrap()
    }

    #[test]
    fn built_in_templates_are_valid_and_have_no_warnings() {
        for kind in PromptKind::ALL {
            assert_eq!(Template::built_in(kind).warnings(), [], "{}", kind.as_str());
        }
    }

    #[test]
    fn placeholders_are_filled_and_the_content_is_a_separate_part() {
        let template = template(
            PromptKind::ToolResults,
            "In {max_chars} on {context}:\n{content}\nEnd {\"a\": {b}}",
        );
        let values = Values {
            content: "text",
            context: Some("tool: Read"),
            max_chars: Some(500),
            ..Values::default()
        };
        assert_eq!(
            template.fill(&values).parts,
            [
                PromptPart::Instruction("In 500 on tool: Read:\n".to_owned()),
                PromptPart::Material("text".to_owned()),
                PromptPart::Instruction("\nEnd {\"a\": {b}}".to_owned()),
            ]
        );
    }

    #[test]
    fn placeholders_in_values_are_not_filled() {
        let template =
            template(PromptKind::SessionSummary, "{context} {activity_profile} {content}");
        let values = Values {
            content: "{max_chars} {context} {content}",
            context: Some("{content}"),
            max_chars: Some(9),
            activity_profile: Some("{max_chars}"),
            extraction_instructions: None,
        };
        let filled = template.fill(&values).plain_text();
        assert_eq!(filled, "{content} {max_chars} {max_chars} {context} {content}");
    }

    #[test]
    fn placeholders_without_a_value_are_unchanged() {
        let template =
            template(PromptKind::UserMessages, "{content}{max_chars}{activity_profile}{other}");
        let filled = template.fill(&Values { content: "c", ..Values::default() });
        assert_eq!(filled.plain_text(), "c{max_chars}{activity_profile}{other}");
    }

    #[test]
    fn a_template_needs_a_placeholder_for_the_content() {
        for (kind, text) in [
            (PromptKind::ToolResults, "Summarize this."),
            (PromptKind::ToolResults, ""),
            (PromptKind::ToolResults, "{tool_calls_json}"),
            (PromptKind::ToolResults, "{Content} { content }"),
        ] {
            assert_eq!(Template::parse(kind, text), Err(TemplateError::NoContent), "{text}");
        }
        assert!(Template::parse(PromptKind::ToolClassification, "{tool_calls_json}").is_ok());
        let long = format!("{{content}}{}", " ".repeat(LONGEST));
        assert!(matches!(
            Template::parse(PromptKind::ToolResults, &long),
            Err(TemplateError::TooLong { .. })
        ));
    }

    #[test]
    fn unknown_placeholders_are_reported_once() {
        let template = template(
            PromptKind::ToolResults,
            "{content} {contnet} {contnet} {activity_profile} {A}",
        );
        let names = ["{contnet}", "{activity_profile}"];
        let expected = names.map(unknown_placeholder);
        assert_eq!(template.warnings(), expected);
    }

    #[test]
    fn a_context_is_one_short_line() {
        let context = format!("tool: a\n\n# New task\u{7}{}", "x".repeat(500));
        let template = template(PromptKind::ToolResults, "{context}|{content}");
        let values = Values { content: "", context: Some(&context), ..Values::default() };
        let filled = template.fill(&values).plain_text();
        assert!(filled.starts_with("tool: a # New task x") && filled.len() == 201, "{filled}");
    }
}
