//! Recognises texts with the role `user` that Codex added.

/// The starts of added texts that are not enclosed in a tag, with the types of the texts.
const STARTS: &[(&str, &str)] = &[
    ("# AGENTS.md instructions", "agents_md"),
    ("Warning: apply_patch was requested via ", "warning"),
    ("Warning: The maximum number of unified exec processes", "warning"),
    ("Warning: Your account was flagged", "warning"),
];

/// Headings after which an editor's extension puts the user's prompt.
const REQUEST_HEADINGS: &[&str] = &["## My request for Codex:\n"];

/// Returns the type of an added text; `None` for a text that the user may have typed.
pub(super) fn kind(text: &str) -> Option<&str> {
    let text = text.trim();
    let start = STARTS.iter().find(|(start, _)| text.starts_with(start));
    start.map(|(_, kind)| *kind).or_else(|| enclosing_tag(text))
}

/// Returns the tag that encloses the whole text.
fn enclosing_tag(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('<')?;
    let name = &rest[..rest.find(['>', ' ', '\n'])?];
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || !name.bytes().all(is_name) || !text.ends_with('>') {
        return None;
    }
    let (_, close) = text.rsplit_once("</")?;
    close.strip_prefix(name)?.starts_with(['>', ' ']).then_some(name)
}

/// Returns the user's part of a prompt to which an editor added its state.
pub(super) fn without_editor_state(text: &str) -> &str {
    let request = REQUEST_HEADINGS.iter().find_map(|heading| text.split_once(heading));
    request.map_or(text, |(_, request)| request).trim()
}

/// Returns the text between `<tag>` and `</tag>`.
pub(super) fn inside<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.rsplit_once(&format!("</{tag}>")).map(|(inside, _)| inside.trim())
}
