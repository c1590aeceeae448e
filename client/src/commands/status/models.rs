//! Prints the state of the model and of the embeddings, and the summaries that an older version
//! created.

use std::time::Duration;

use graphiti_proto::tools::health::{HealthAnswer, ModelHealth};

use super::{ASK_AGAIN, number};
use crate::screen::{Screen, instant, line, now, span};

pub(super) fn model(answer: &HealthAnswer, screen: &Screen) -> String {
    let model = &answer.model;
    let does = match (&model.outage, model.writes_summaries) {
        (Some(_), true) => "writes no summaries at present",
        (Some(_), false) => "classifies no tools at present",
        (None, true) => "writes summaries",
        (None, false) => "classifies tools",
    };
    let next = model.next_attempt.as_deref().and_then(instant);
    let next =
        next.map(|next| next.as_second() - now().as_second()).map_or(String::new(), |left| {
            let left = Duration::from_secs(u64::try_from(left).unwrap_or(0));
            format!(", next attempt in {}", span(left))
        });
    let awaiting = match model.awaiting {
        0 => String::new(),
        1 => format!(", 1 session waits for the model{next}"),
        count => format!(", {count} sessions wait for the model{next}"),
    };
    let mut text = format!("{does}{awaiting}");
    if let Some(error) = &model.outage {
        text.push_str(&format!(": {}", screen.warn(line(error))));
    } else if let Some(error) = &model.last_error {
        text.push_str(&format!("; last error: {}", screen.warn(line(error))));
    }
    if let Some(abandoned) = abandoned(model) {
        text.push_str(&format!("; {}", screen.warn(format!("{abandoned}; remedy: {ASK_AGAIN}"))));
    }
    text
}

/// Describes the sessions whose requests to the model failed and are not repeated.
pub(in crate::commands) fn abandoned(model: &ModelHealth) -> Option<String> {
    let count = match model.abandoned {
        0 => return None,
        1 => "1 session has no summary of the model".to_owned(),
        count => format!("{count} sessions have no summary of the model"),
    };
    let why = model.abandoned_error.as_ref().map(|error| format!(": {}", line(error)));
    Some(format!("{count}{}", why.unwrap_or_default()))
}

pub(super) fn vectors(answer: &HealthAnswer, screen: &Screen) -> String {
    let vectors = &answer.embeddings;
    let count = |count: usize| number(u64::try_from(count).unwrap_or(u64::MAX));
    let left = match vectors.left {
        0 => String::new(),
        left => format!(", {} to be computed", count(left)),
    };
    let made = format!("of {} sessions, entities and facts{left}", count(vectors.made));
    match &vectors.error {
        Some(error) => format!("{made}: {}", screen.warn(line(error))),
        None => made,
    }
}

/// Describes the summaries that an older version created.
pub(super) fn older(answer: &HealthAnswer) -> Vec<String> {
    let counts = [
        (answer.older_summaries, "summaries of an older version are being created again"),
        (
            answer.older_model_summaries,
            "summaries by a model are older; remedy: `graphiti close --again ID`, which calls the model",
        ),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let count = |count: usize| number(u64::try_from(count).unwrap_or(u64::MAX));
    counts.map(|(summaries, what)| format!("{} {what}", count(summaries))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    #[test]
    fn older_summaries_of_a_model_are_reported_with_the_remedy() {
        let mut answer = HealthAnswer { older_model_summaries: 3, ..HealthAnswer::default() };
        let shown = older(&answer);
        assert!(shown[0].starts_with("3 summaries by a model are older"), "{shown:?}");
        answer.older_summaries = 2;
        assert_eq!(older(&answer).len(), 2);
        assert!(older(&HealthAnswer::default()).is_empty());
    }

    #[test]
    fn summaries_that_the_model_did_not_write_are_reported_with_the_remedy() {
        let screen = Screen::new(cli::Color::Never);
        let writes = ModelHealth { writes_summaries: true, ..ModelHealth::default() };
        let mut answer = HealthAnswer { model: writes, ..HealthAnswer::default() };
        assert_eq!(model(&answer, &screen), "writes summaries");
        answer.model.awaiting = 1;
        answer.model.last_error = Some("busy".to_owned());
        assert_eq!(
            model(&answer, &screen),
            "writes summaries, 1 session waits for the model; last error: busy"
        );
        answer.model.next_attempt = Some("2000-01-01T00:00:00Z".to_owned());
        let waits = "1 session waits for the model, next attempt in 0 s; last error: busy";
        assert!(model(&answer, &screen).ends_with(waits), "{}", model(&answer, &screen));
        answer.model = ModelHealth { abandoned: 6, ..ModelHealth::default() };
        answer.model.abandoned_error = Some("no JSON".to_owned());
        let shown =
            "6 sessions have no summary of the model: no JSON; remedy: graphiti sync --again --run";
        assert!(model(&answer, &screen).ends_with(shown), "{}", model(&answer, &screen));
    }
}
