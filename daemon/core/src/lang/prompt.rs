//! Recognises prompts that are commands.

/// Returns a slash command without its slash; `None` for any other text, such as a text that begins
/// with a path.
pub fn slash_command(prompt: &str) -> Option<&str> {
    let command = prompt.strip_prefix('/')?;
    let name = command.split(char::is_whitespace).next()?;
    (name.starts_with(char::is_alphabetic) && !name.contains('/')).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_not_a_command() {
        assert_eq!(slash_command("/plan the list"), Some("plan the list"));
        for prompt in ["/app/list.rs fails", "/ is full", "plan", ""] {
            assert_eq!(slash_command(prompt), None, "{prompt}");
        }
    }
}
