//! Suggests a known key for an unknown one.

use crate::config::table;

/// The minimum similarity of two names for a suggestion, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.7;

/// Returns the known key whose last segment is most similar to the last segment of `key`; `None` if
/// no key is similar enough. Prefers keys of the same section.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
    let name = name.to_ascii_lowercase();
    let known = table::fields().iter().map(|field| field.key);
    let known = known.chain(table::SECTIONS.iter().map(|(section, _)| *section));
    known
        .map(|known| {
            let (known_section, known_name) = known.rsplit_once('.').unwrap_or(("", known));
            let similarity = strsim::normalized_damerau_levenshtein(&name, known_name);
            let bonus = if known_section == section { 0.2 } else { 0.0 };
            (similarity, similarity + bonus, known)
        })
        .filter(|(similarity, _, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|(_, first, _), (_, second, _)| first.total_cmp(second))
        .map(|(_, _, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_found() {
        for (key, wanted) in [
            ("session_tracking.inactivty_timeout", Some("session_tracking.inactivity_timeout")),
            ("session_tracking.socket_path", Some("session_tracking.hooks.socket_path")),
            ("session_tracking.hooks.enable", Some("session_tracking.hooks.enabled")),
            ("session_tracking.enable", Some("session_tracking.enabled")),
            ("session_tracking.hook", Some("session_tracking.hooks")),
            ("session_tracking.summarization.treshold", None),
            ("session_tracking.colour", None),
        ] {
            assert_eq!(nearest(key), wanted, "{key}");
        }
    }
}
