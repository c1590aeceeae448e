//! Parses the description and the content of an episode of the shared graph.

/// The parts of an episode's description: `claude session ID, by NAME on MACHINE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EpisodeOrigin<'d> {
    pub(super) agent: &'d str,
    pub(super) session_id: &'d str,
    pub(super) name: &'d str,
    pub(super) machine: &'d str,
}

impl EpisodeOrigin<'_> {
    pub(super) fn of(description: &str) -> EpisodeOrigin<'_> {
        let (what, by) = description.rsplit_once(", by ").unwrap_or((description, ""));
        // The name of a machine contains no spaces.
        let (name, machine) = by.rsplit_once(" on ").unwrap_or((by, ""));
        let (agent, session_id) = what.split_once(" session ").unwrap_or_default();
        EpisodeOrigin { agent, session_id, name, machine }
    }
}

/// Returns the content of an episode without its front matter.
pub(super) fn without_front_matter(content: &str) -> &str {
    let rest = content.strip_prefix("---").and_then(|rest| rest.split_once("\n---"));
    rest.map_or(content, |(_, body)| body).trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_parsed_into_its_parts() {
        let of = |text| {
            let EpisodeOrigin { agent, session_id, name, machine } = EpisodeOrigin::of(text);
            [agent, session_id, name, machine]
        };
        let usual = "claude session 3f2a-1, by Ann on Call on laptop";
        assert_eq!(of(usual), ["claude", "3f2a-1", "Ann on Call", "laptop"]);
        assert_eq!(of("a note"), [""; 4]);
        assert_eq!(of(", by  on "), [""; 4]);
    }

    #[test]
    fn the_summary_follows_the_front_matter() {
        let content =
            "--- \ngraphiti_session_metadata: \n  version: \"1\" \n--- \n \n# Title \ntext";
        assert_eq!(without_front_matter(content), "# Title \ntext");
        assert_eq!(without_front_matter("text\n---\nmore"), "text\n---\nmore");
    }
}
