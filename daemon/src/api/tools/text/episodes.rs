//! Formats episodes with their whole content.

use graphiti_proto::tools::get_episodes::{EpisodeNode, GetEpisodesAnswer};

use super::{Lines, ModelText, block, code, day, line, listed, title};

impl ModelText for GetEpisodesAnswer {
    fn text(&self) -> String {
        let mut lines = Lines::default();
        lines.add(&line(&self.message));
        for episode in &self.episodes {
            lines.gap();
            lines.add(&heading(episode));
            lines.add(&block(&episode.content));
        }
        if let Some(next) = &self.next {
            lines.gap();
            lines.add(&format!("More: `before` {}.", code(next)));
        }
        lines.text
    }
}

fn heading(episode: &EpisodeNode) -> String {
    let description = code(&episode.source_description);
    let about = listed(&[&description, &day(&episode.created_at), &line(&episode.group_id)]);
    format!("{} {}, {about}", code(&episode.uuid), title(&episode.name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::of_value, *};

    #[test]
    fn an_episode_is_quoted_line_by_line_under_its_name() {
        let answer = json!({
            "message": "1 episode", "next": "u-1",
            "episodes": [{
                "uuid": "u-1", "name": "N\n#", "content": "a\n`u-2` “b”", "group_id": "0123abcd",
                "created_at": "2026-03-01T10:02:33Z", "source_description": "claude `x`",
            }],
        });
        assert_eq!(
            of_value::<GetEpisodesAnswer>(answer),
            "1 episode\n\n`u-1` “N #”, `claude 'x'`, 2026-03-01, 0123abcd\n> a\n> `u-2` “b”\n\n\
             More: `before` `u-1`."
        );
    }
}
