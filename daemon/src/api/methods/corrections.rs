//! `graphiti/corrections`: lists the corrections of facts, or stores new ones.

use graphiti_proto::{
    methods::corrections::{
        CorrectionRow, CorrectionsAnswer, CorrectionsRequest, MAX_CORRECTIONS, MAX_EPISODES,
    },
    rpc::{Error, code},
};
use serde_json::Value;

use super::write;
use crate::{
    api::{
        DaemonState,
        errors::{engine_error, store_error},
        tools::mark_fact,
    },
    clock,
    engine::corrections::CorrectionScope,
    model::{
        EpisodeId, Timestamp,
        graph::{CorrectedFact, Correction, CorrectionAuthor, FactId, Verdict},
    },
};

pub(super) async fn corrections(
    daemon: &DaemonState,
    request: CorrectionsRequest,
) -> Result<Value, Error> {
    if request.corrections.is_empty() {
        let stored = daemon.engine.store().corrections().map_err(store_error)?;
        let corrections = stored.iter().map(row).collect();
        return Ok(write(&CorrectionsAnswer { corrections, ..CorrectionsAnswer::default() }));
    }
    if request.corrections.len() > MAX_CORRECTIONS {
        let what = format!("one request can store at most {MAX_CORRECTIONS} corrections");
        return Err(Error::new(code::INVALID_PARAMS, what));
    }
    if request.episodes.len() > MAX_EPISODES {
        let what = format!("one request can name at most {MAX_EPISODES} episodes");
        return Err(Error::new(code::INVALID_PARAMS, what));
    }
    let mut corrected = Vec::new();
    let mut answer = CorrectionsAnswer::default();
    let mut scope = None;
    for given in &request.corrections {
        let one = parse(daemon, given, request.imported).map_err(|error| {
            let what = format!("the correction of the fact `{}`: {}", given.fact, error.message);
            if request.imported { Error::new(error.code, what) } else { error }
        })?;
        // A correction that is not imported always replaces an earlier correction.
        if !request.imported {
            corrected.push(one);
        } else if is_new(daemon, &one)? {
            match is_of_import(daemon, &one, &request.episodes, &mut scope)? {
                true => corrected.push(one),
                false => answer.skipped += 1,
            }
        }
    }
    if !request.dry_run {
        daemon.engine.correct(&corrected).await.map_err(engine_error)?;
        daemon.recall.clear();
    }
    answer.corrections = corrected.iter().map(row).collect();
    if !request.imported {
        for one in &corrected {
            answer.facts.extend(mark_fact::rows(daemon, one.fact)?);
        }
    }
    Ok(write(&answer))
}

/// Whether an imported correction changes what is stored.
fn is_new(daemon: &DaemonState, one: &CorrectedFact) -> Result<bool, Error> {
    let known = daemon.engine.store().correction(one.fact).map_err(store_error)?;
    Ok(known != Some(one.correction) && daemon.engine.may_correct(one).map_err(engine_error)?)
}

/// Whether an imported correction is about a fact of the import. `scope` is computed once, when
/// the first correction needs it.
fn is_of_import(
    daemon: &DaemonState,
    one: &CorrectedFact,
    episodes: &[String],
    scope: &mut Option<CorrectionScope>,
) -> Result<bool, Error> {
    let scope = match scope {
        Some(scope) => scope,
        None => {
            let ids: Vec<_> = episodes.iter().filter_map(|id| EpisodeId::parse(id)).collect();
            scope.insert(daemon.engine.correction_scope(&ids).map_err(engine_error)?)
        }
    };
    daemon.engine.is_in_scope(one.fact, scope).map_err(engine_error)
}

fn parse(
    daemon: &DaemonState,
    given: &CorrectionRow,
    is_imported: bool,
) -> Result<CorrectedFact, Error> {
    let wrong = |what: String| Error::new(code::INVALID_PARAMS, what);
    let fact = match FactId::parse(given.fact.trim()).filter(|_| is_imported) {
        Some(id) => id.key(),
        None => mark_fact::named(daemon, &given.fact)?,
    };
    let verdict = mark_fact::verdict(&given.verdict)?;
    let author = match given.by.as_str() {
        "" => CorrectionAuthor::User,
        by => CorrectionAuthor::parse(by)
            .ok_or_else(|| wrong(format!("`by` must be `user` or `agent`, not `{by}`")))?,
    };
    let at = match given.at.as_str() {
        "" => clock::now(),
        at => {
            Timestamp::parse(at).ok_or_else(|| wrong(format!("`at` must be a time, not `{at}`")))?
        }
    };
    Ok(CorrectedFact { fact, correction: Correction { verdict, author, at } })
}

fn row(one: &CorrectedFact) -> CorrectionRow {
    CorrectionRow {
        fact: one.fact.in_span(0).to_string(),
        verdict: Verdict::as_str(one.correction.verdict).to_owned(),
        by: one.correction.author.as_str().to_owned(),
        at: one.correction.at.to_string(),
    }
}
