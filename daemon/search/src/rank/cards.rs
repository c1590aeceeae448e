//! Decides which sessions match the filters on their cards.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    index::{
        attributes,
        view::{SessionRow, View},
    },
    model::{Namespace, Project},
    query::{Filter, FilterClause, Query},
    rank::scope::Scope,
    text,
};

/// Returns the sessions that match the filters on project and agent, and that belong to the
/// projects of the scope; `None` if all sessions are allowed.
pub(crate) fn allowed(
    query: &Query,
    scope: &Scope,
    view: &View<'_>,
) -> tantivy::Result<Option<FxHashSet<u64>>> {
    let conditions = query.conditions.iter();
    let conditions: Vec<&FilterClause> =
        conditions.filter(|condition| is_about_cards(condition)).collect();
    if conditions.is_empty() && scope.namespaces.is_none() {
        return Ok(None);
    }
    let mut card_filter = CardFilter { conditions, scope, known: FxHashMap::default() };
    let mut allowed = FxHashSet::default();
    view.each_session(&mut |row| {
        if card_filter.admits(&row) {
            allowed.insert(row.session);
        }
    })?;
    Ok(Some(allowed))
}

fn is_about_cards(condition: &FilterClause) -> bool {
    matches!(condition.filter, Filter::Project(_) | Filter::Agent(_))
}

struct CardFilter<'j> {
    conditions: Vec<&'j FilterClause>,
    scope: &'j Scope,
    /// The last decision for each namespace, with the project and the agent of the session. Many
    /// sessions have equal values.
    known: FxHashMap<u32, (Option<String>, String, bool)>,
}

impl CardFilter<'_> {
    fn admits(&mut self, row: &SessionRow<'_>) -> bool {
        if let Some((project, agent, verdict)) = self.known.get(&row.namespace)
            && project.as_deref() == row.project
            && agent == row.agent
        {
            return *verdict;
        }
        let verdict = self.is_in_scope(row) && self.passes(row);
        let about = (row.project.map(str::to_owned), row.agent.to_owned(), verdict);
        self.known.insert(row.namespace, about);
        verdict
    }

    fn is_in_scope(&self, row: &SessionRow<'_>) -> bool {
        self.scope.namespaces.as_ref().is_none_or(|namespaces| {
            namespaces.iter().any(|namespace| namespace.number() == row.namespace)
        })
    }

    /// Whether a session has one of the wanted projects and one of the wanted agents, and matches
    /// no negated filter.
    fn passes(&self, row: &SessionRow<'_>) -> bool {
        let mut projects = AnyOf::default();
        let mut agents = AnyOf::default();
        for condition in &self.conditions {
            let (wanted, is_met) = match &condition.filter {
                Filter::Project(name) => {
                    (&mut projects, denotes_project(name, row.namespace, row.project))
                }
                Filter::Agent(name) => (&mut agents, row.agent.eq_ignore_ascii_case(name)),
                _ => continue,
            };
            match condition.is_negated {
                true if is_met => return false,
                true => {}
                false => wanted.note(is_met),
            }
        }
        projects.is_met() && agents.is_met()
    }
}

/// Whether one of the wanted values matches, or no value is wanted.
#[derive(Default)]
pub(crate) struct AnyOf {
    any: bool,
    met: bool,
}

impl AnyOf {
    pub(crate) fn note(&mut self, is_met: bool) {
        self.any = true;
        self.met |= is_met;
    }

    pub(crate) fn is_met(&self) -> bool {
        self.met || !self.any
    }
}

/// Whether `wanted` is the namespace of a project, the end of its path, or a word of its name.
pub(crate) fn denotes_project(wanted: &str, namespace: u32, path: Option<&str>) -> bool {
    if Namespace::parse(wanted).is_some_and(|wanted| wanted.number() == namespace) {
        return true;
    }
    let Some(path) = path else { return false };
    let (wanted, folded) = (attributes::file(wanted), attributes::file(path));
    let is_end = folded == wanted || folded.ends_with(&format!("/{wanted}"));
    is_end || text::words(Project::new(path).name()).iter().any(|word| word.text == wanted)
}
