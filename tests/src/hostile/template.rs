//! Checks prompt templates: no text makes them fail, and inserted content is never interpreted as a
//! template.

use graphitid::{
    model::prompt::PromptPart,
    prompt::{
        kind::PromptKind,
        library::check as problems_of,
        limit::within,
        template::{Template, Values},
    },
};

pub(super) const WORDS: &[&str] = &[
    "{content}",
    "{context}",
    "{max_chars}",
    "{activity_profile}",
    "{tool_calls_json}",
    "{dynamic_extraction_instructions}",
    "{{",
    "}}",
    "{contents}",
    "{ content }",
    "{",
];

pub(super) fn check(bytes: &[u8]) {
    let text = super::text(bytes);
    for kind in PromptKind::ALL {
        for problem in problems_of(kind, &text) {
            assert!(!problem.to_string().is_empty());
        }
        let Ok(template) = Template::parse(kind, &text) else { continue };
        assert_eq!(template.text(), text);
        let content = "{context} <material> {content}";
        let values = Values {
            content,
            context: Some("tool: {content}\nx"),
            max_chars: Some(7),
            ..Values::default()
        };
        let prompt = template.fill(&values);
        let materials =
            prompt.parts.iter().filter(|part| matches!(part, PromptPart::Material(_))).count();
        assert!(materials >= 1, "the content is missing");
        for part in &prompt.parts {
            match part {
                PromptPart::Material(material) => assert_eq!(material, content),
                PromptPart::Instruction(text) => {
                    assert!(!text.contains("<material>") || template.text().contains("<material>"));
                }
            }
        }
    }
    for limit in [0, 1, 2, 17, 200] {
        let cut = within(&text, limit);
        assert!(cut.chars().count() <= limit as usize, "{cut:?} is longer than {limit}");
    }
}
