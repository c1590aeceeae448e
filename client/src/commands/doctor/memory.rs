//! Examines what the daemon reads and stores, the models and the shared graph that it uses, and the
//! disk and the clock of the machine.

use graphiti_proto::methods::files::FileCheckReport;
use jiff::Timestamp;

use super::{
    Finding,
    observations::{DaemonAnswers, Folder, Observations},
};
use crate::{
    commands::status::{
        ASK_AGAIN, QuotaUse, REDACT_AGAIN, TRACKING_IS_OFF, abandoned, bytes, evicted, number,
        quota_uses, redaction, remedies, short_path,
    },
    screen::{instant, span},
};

/// Minimum number of free bytes with which the database can be opened safely. Opening it writes a
/// segment and a log.
const NO_SPACE: u64 = 256 << 20;
/// Number of bytes that about a year of sessions needs.
const LITTLE_SPACE: u64 = 1 << 30;
/// Maximum number of seconds by which two machines with synchronised clocks differ.
const CLOCK_TOLERANCE: i64 = 300;
/// A clock that shows an earlier time is wrong, because this program is newer.
const EARLIEST_TIME: &str = "2026-01-01T00:00:00Z";
/// Maximum number of problems that are shown. Older problems are omitted.
const SHOWN_PROBLEMS: usize = 3;

pub(super) fn examine(seen: &Observations) -> Vec<Finding> {
    // Most users have one or two agents. The empty folders of other agents are not reported.
    // Without an answer of the daemon, the folders are not known to be complete.
    let omits_empty =
        seen.answers().is_none() || seen.folders.iter().any(|folder| folder.transcripts > 0);
    let is_reported =
        |folder: &&Folder| !omits_empty || folder.transcripts > 0 || folder.error.is_some();
    let mut findings: Vec<Finding> =
        seen.folders.iter().filter(is_reported).map(transcripts).collect();
    findings.extend(unwatched(seen));
    findings.extend(seen.answers().map(|answers| watching(seen, answers)));
    findings.extend(seen.answers().and_then(model));
    findings.extend(seen.answers().and_then(vectors));
    findings.extend(seen.answers().into_iter().flat_map(shared));
    findings.extend(seen.answers().and_then(files));
    findings.extend(disk(seen));
    findings.extend(seen.answers().and_then(limits));
    findings.extend(seen.answers().map(|answers| store(seen, answers)));
    findings.extend(seen.answers().and_then(secrets));
    findings.extend(seen.answers().map(index));
    findings.push(clock(seen));
    findings
}

fn index(answers: &DaemonAnswers) -> Finding {
    const ABOUT: &str = "index";
    let index = answers.health.index;
    let behind = format!("{} changes behind the database", number(index.changes_behind));
    match (index.stalled, index.changes_behind) {
        (true, _) => Finding::bad(
            ABOUT,
            format!("the search index is {behind} and makes no progress: new text is not found"),
            "see the end of the log; graphiti stop, then graphiti up",
        ),
        (false, 0) => Finding::ok(ABOUT, "the index is up to date"),
        (false, _) => Finding::ok(ABOUT, format!("{behind}, and catching up")),
    }
}

fn transcripts(folder: &Folder) -> Finding {
    const ABOUT: &str = "transcripts";
    let path = short_path(&folder.path.to_string_lossy());
    if let Some(error) = &folder.error {
        return Finding::warn(
            ABOUT,
            format!("{path} cannot be read: {error}"),
            "give yourself access to it, or set watch_directories in graphiti.config.json",
        );
    }
    match folder.transcripts {
        0 => Finding::warn(
            ABOUT,
            format!("no transcripts in {path}"),
            "work with an agent; if it stores transcripts in another folder, list all folders with \
             transcripts in watch_directories",
        ),
        // A path without folders is the database of an agent.
        _ if folder.folders == 0 => Finding::ok(ABOUT, format!("{path} can be read")),
        count => {
            let folders = number(folder.folders);
            Finding::ok(ABOUT, format!("{} in {path} ({folders} folders)", number(count)))
        }
    }
}

/// Warns about unwatched folders of agents that contain transcripts.
fn unwatched(seen: &Observations) -> Option<Finding> {
    let used = seen.unwatched.iter().filter(|folder| folder.transcripts > 0);
    let used: Vec<String> = used.map(|folder| short_path(&folder.path.to_string_lossy())).collect();
    (!used.is_empty()).then(|| {
        Finding::warn(
            "unwatched",
            format!(
                "not followed, because watch_directories selects other folders: {}",
                used.join(", ")
            ),
            "list these folders in watch_directories in graphiti.config.json, too, or remove the \
             setting, then graphiti reload",
        )
    })
}

fn watching(seen: &Observations, answers: &DaemonAnswers) -> Finding {
    const ABOUT: &str = "watching";
    const RAISE: &str = "echo fs.inotify.max_user_watches=524288 | sudo tee \
                         /etc/sysctl.d/50-inotify.conf && sudo sysctl --system, then graphiti \
                         stop and graphiti up";
    let folders: u64 = seen.folders.iter().map(|folder| folder.folders).sum();
    if answers.health.watched.is_empty() {
        return Finding::warn(
            ABOUT,
            TRACKING_IS_OFF,
            "set enabled to true in graphiti.config.json, then graphiti reload",
        );
    }
    let mode = answers.health.watch_mode.as_str();
    if mode.contains("max_user_watches") {
        return Finding::warn(
            ABOUT,
            format!("{mode}; this is slower than events and uses more processor time"),
            RAISE,
        );
    }
    if mode.starts_with("polling") && !mode.contains("as configured") {
        return Finding::warn(
            ABOUT,
            format!("{mode}; this is slower than events and uses more processor time"),
            "keep the agents' folders on a local disk if you can",
        );
    }
    let Some(limit) = seen.watch_limit else { return Finding::ok(ABOUT, mode) };
    let noun = if folders == 1 { "folder" } else { "folders" };
    let watched = format!("{} {noun} of {} that may be watched", number(folders), number(limit));
    // The limit applies to all programs of a user together.
    if mode == "events" && folders > limit / 2 {
        return Finding::warn(
            ABOUT,
            format!("{watched}; other programs use some of them, too"),
            RAISE,
        );
    }
    Finding::ok(ABOUT, format!("{mode}; {watched}"))
}

fn model(answers: &DaemonAnswers) -> Option<Finding> {
    const ABOUT: &str = "model";
    let model = &answers.health.model;
    if !model.on {
        return None;
    }
    let found = answers.reach.as_ref().and_then(|reach| reach.model.as_ref());
    let waiting = match model.awaiting {
        0 => String::new(),
        count => format!("; sessions that wait for the model: {count}"),
    };
    let abandoned = abandoned(model);
    let failed = model.outage.as_ref().or(model.last_error.as_ref());
    let warn = |what: String| {
        Finding::warn(
            ABOUT,
            what,
            "check its key, address and budget in graphiti.config.json, then graphiti reload; \
             until then, summaries are created without a model",
        )
    };
    Some(match (found, failed) {
        (Some(found), _) if !found.is_there => warn(format!("{}{waiting}", found.what)),
        (_, Some(why)) => warn(format!("the model does not answer correctly: {why}{waiting}")),
        (found, None) if abandoned.is_some() => {
            let found = found.map(|found| format!("; {}", found.what)).unwrap_or_default();
            let what = format!("{}{waiting}{found}", abandoned.unwrap_or_default());
            Finding::warn(ABOUT, what, ASK_AGAIN)
        }
        (Some(found), None) => Finding::ok(ABOUT, format!("{}{waiting}", found.what)),
        (None, None) => Finding::ok(ABOUT, format!("no errors were reported{waiting}")),
    })
}

fn vectors(answers: &DaemonAnswers) -> Option<Finding> {
    const ABOUT: &str = "vectors";
    let vectors = &answers.health.embeddings;
    if !vectors.on {
        return None;
    }
    let found = answers.reach.as_ref().and_then(|reach| reach.embeddings.as_ref());
    let missing = found.filter(|found| !found.is_there).map(|found| &found.what);
    Some(match missing.or(vectors.error.as_ref()) {
        None => {
            let found = found.map_or(String::new(), |found| format!("; {}", found.what));
            let (made, left) = (vectors.made, vectors.left);
            Finding::ok(ABOUT, format!("{made} computed, {left} left{found}"))
        }
        Some(why) => Finding::warn(
            ABOUT,
            format!("no vectors are computed at present ({} exist): {why}", vectors.made),
            "check `embeddings` in graphiti.config.json, then graphiti reload; until then, \
             searches use full text only",
        ),
    })
}

/// Returns a finding for each check of the shared graph. If nothing is shared, there are no checks.
fn shared(answers: &DaemonAnswers) -> Vec<Finding> {
    const ABOUT: &str = "sharing";
    let checks = answers.share.iter().flat_map(|share| &share.checks);
    let findings = checks.map(|check| match check.is_good {
        true => Finding::ok(ABOUT, &check.what),
        // Work on this machine continues without the graph, and nothing is lost.
        false => Finding::warn(ABOUT, &check.what, &check.remedy),
    });
    findings.collect()
}

fn files(answers: &DaemonAnswers) -> Option<Finding> {
    const ABOUT: &str = "files";
    let FileCheckReport { files, twice, behind, examples } = answers.files.as_ref()?;
    let examples = examples.iter().map(|one| short_path(one)).collect::<Vec<_>>().join(" · ");
    Some(if *twice > 0 {
        Finding::bad(
            ABOUT,
            format!("registered more than once: {twice} of {} ({examples})", number(*files)),
            "for each session of these files: graphiti forget ID --run, then graphiti forget ID \
             --undo, so that it is read again; please report this defect",
        )
    } else if *behind > 0 {
        Finding::warn(
            ABOUT,
            format!("files with unread lines: {behind} of {} ({examples})", number(*files)),
            match answers.health.history.refused {
                Some(_) => {
                    "the lines are read when new text is stored again: see the finding `memory`"
                }
                None => "graphiti stop, then graphiti up: unread lines are read at the start",
            },
        )
    } else {
        // Transcripts without messages are not registered, so the finding about `transcripts` may
        // count more files.
        let broken = match answers.health.records.broken {
            0 => String::new(),
            broken => format!("; broken lines, which are left out: {}", number(broken)),
        };
        let restarts = match answers.health.records.restarts {
            0 => String::new(),
            restarts => format!(
                "; truncated or replaced since they were read: {} (messages of truncated files are kept)",
                number(restarts)
            ),
        };
        let what = format!(
            "{} with sessions, all registered once and read to their ends{broken}{restarts}; transcripts \
             that are not counted have no messages or are excluded",
            number(*files)
        );
        Finding::ok(ABOUT, what)
    })
}

fn disk(seen: &Observations) -> Option<Finding> {
    const ABOUT: &str = "disk";
    let free = seen.free_bytes?;
    let kept = seen.answers().map_or(0, |answers| {
        answers.health.kept.database_bytes.saturating_add(answers.health.kept.index_bytes)
    });
    let what = format!("{} are free", bytes(free));
    let remedy = "free space on the disk of the home, or move the home and set GRAPHITI_HOME";
    // Compacting writes a copy of the database, so the free space must be at least as large as the
    // stored data.
    Some(if free < NO_SPACE {
        Finding::bad(ABOUT, format!("only {what}"), remedy)
    } else if free < LITTLE_SPACE.max(kept) {
        Finding::warn(ABOUT, format!("only {what}, {} are used", bytes(kept)), remedy)
    } else {
        Finding::ok(ABOUT, what)
    })
}

fn limits(answers: &DaemonAnswers) -> Option<Finding> {
    const ABOUT: &str = "limits";
    let health = &answers.health;
    let uses = quota_uses(health);
    let near: Vec<QuotaUse> = uses.iter().copied().filter(QuotaUse::is_near).collect();
    let shown = if near.is_empty() { &uses } else { &near };
    if shown.is_empty() {
        return None;
    }
    let shown: Vec<String> = shown.iter().map(QuotaUse::to_string).collect();
    let gone = evicted(health).map(|gone| format!("; evicted so far: {gone}")).unwrap_or_default();
    let what = format!("{}{gone}", shown.join(", "));
    Some(match near.as_slice() {
        [] => Finding::ok(ABOUT, what),
        near => Finding::warn(ABOUT, what, remedies(near)),
    })
}

fn store(seen: &Observations, answers: &DaemonAnswers) -> Finding {
    const ABOUT: &str = "memory";
    let health = &answers.health;
    let kept = &health.kept;
    if !health.problems.is_empty() {
        let first = health.problems.len().saturating_sub(SHOWN_PROBLEMS);
        let what = format!("problems, the latest last: {}", health.problems[first..].join(" · "));
        return Finding::warn(
            ABOUT,
            what,
            "graphiti status shows all of them, and the log has details",
        );
    }
    if let Some(damaged) = seen.damaged.first() {
        return Finding::warn(
            ABOUT,
            format!("a damaged database was set aside: {}", damaged.display()),
            "graphiti repair recovers its readable records",
        );
    }
    if health.sessions.failed > 0 {
        let what = format!("sessions that could not be summarized: {}", health.sessions.failed);
        return Finding::warn(ABOUT, what, "graphiti list --state failed, then graphiti close ID");
    }
    let importing = match health.history.left {
        0 => String::new(),
        left => format!("; {left} sessions are still to be imported"),
    };
    Finding::ok(
        ABOUT,
        format!(
            "{} messages, {} summaries and remembered texts, database {}, index {}{importing}",
            number(kept.messages),
            number(kept.episodes),
            bytes(kept.database_bytes),
            bytes(kept.index_bytes)
        ),
    )
}

fn secrets(answers: &DaemonAnswers) -> Option<Finding> {
    let what = redaction(&answers.health)?;
    Some(Finding::warn("secrets", what, REDACT_AGAIN))
}

fn clock(seen: &Observations) -> Finding {
    const ABOUT: &str = "clock";
    let earliest: Timestamp = EARLIEST_TIME.parse().expect("EARLIEST_TIME is a valid timestamp");
    if seen.now < earliest {
        return Finding::bad(
            ABOUT,
            format!("the clock shows {}, which is in the past", seen.now.strftime("%Y-%m-%d")),
            "set the clock of this machine: timeouts and dates follow it",
        );
    }
    let latest =
        seen.answers().and_then(|answers| instant(&answers.latest.as_ref()?.last_activity));
    let ahead = latest.map_or(0, |latest| latest.as_second() - seen.now.as_second());
    if ahead > CLOCK_TOLERANCE {
        let ahead = std::time::Duration::from_secs(ahead.unsigned_abs());
        return Finding::warn(
            ABOUT,
            format!("the latest session is dated {} in the future", span(ahead)),
            "set the clock of this machine, or of the machine that wrote the transcript",
        );
    }
    Finding::ok(ABOUT, format!("the clock shows {}", seen.now.strftime("%Y-%m-%d %H:%M UTC")))
}
