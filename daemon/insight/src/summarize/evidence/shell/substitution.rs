//! Finds the end of a command substitution, `$( … )`, in a command line.

/// Returns the length of the `$( … )` at the start of `rest`; `None` if it has no end. Ignores
/// brackets in quoted text; `quotes` contains the quote characters that count.
pub(super) fn length_outside_quotes(rest: &str, quotes: &[char]) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote: Option<char> = None;
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                chars.next();
            }
            (Some(_), _) => {}
            (None, _) if quotes.contains(&c) => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') if depth == 1 => return Some(at + 1),
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

/// Returns the length of `$(cat <<EOF … EOF)` at the start of `rest`. The document may contain
/// unbalanced quotes and brackets.
pub(super) fn document_length(rest: &str) -> Option<usize> {
    let (first, _) = rest.split_once('\n')?;
    let end = first.strip_prefix("$(cat <<")?.trim_start_matches('-');
    let end = end.trim().trim_matches(['\'', '"', '\\']);
    let mut length = first.len() + 1;
    for line in rest[length..].split_inclusive('\n') {
        length += line.len();
        let line = line.trim();
        if line == end {
            let bracket = rest[length..].find(')')?;
            return rest[length..length + bracket]
                .trim()
                .is_empty()
                .then_some(length + bracket + 1);
        }
        if line.strip_suffix(')').is_some_and(|line| line == end) {
            return Some(length - 1);
        }
    }
    None
}
