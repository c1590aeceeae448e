//! Formats the results of tools that change data.

use graphiti_proto::tools::{
    add_memory::AddMemoryAnswer, close::CloseAnswer, delete_episode::DeleteEpisodeAnswer,
};

use super::{ModelText, code, line};

impl ModelText for CloseAnswer {
    fn text(&self) -> String {
        let message = line(&self.message);
        let episode = match &self.episode_uuid {
            Some(uuid) => format!(", episode {}", code(uuid)),
            None => String::new(),
        };
        format!("{message} Session {}{episode}.", code(&self.session_id))
    }
}

impl ModelText for AddMemoryAnswer {
    fn text(&self) -> String {
        let fact = match &self.fact {
            Some(fact) => format!(", fact {}", code(fact)),
            None => String::new(),
        };
        format!("{} Episode {}{fact}.", line(&self.message), code(&self.uuid))
    }
}

impl ModelText for DeleteEpisodeAnswer {
    fn text(&self) -> String {
        line(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::of_value, *};

    #[test]
    fn a_result_is_one_line() {
        let closed = json!({ "message": "Indexed.", "session_id": "a\n-", "episode_uuid": "u" });
        assert_eq!(of_value::<CloseAnswer>(closed), "Indexed. Session `a -`, episode `u`.");
        let added = json!({ "message": "Remembered 'x\n#'.", "uuid": "u", "fact": "f" });
        assert_eq!(of_value::<AddMemoryAnswer>(added), "Remembered 'x #'. Episode `u`, fact `f`.");
        assert_eq!(of_value::<DeleteEpisodeAnswer>(json!({ "message": "a\nb" })), "a b");
    }
}
