//! `graphitid config try`: shows what the daemon would read from a file, or why it would read
//! nothing.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    sync::{Arc, Mutex},
};

use anyhow::{Context, bail};
use graphiti_proto::clean;

use super::{DaemonOptions, folders::transcript_folders, search};
use crate::{
    activity::classify::ClassificationCache,
    capture::{
        format::{FormatHandle, Formats, mapped::MappedFormat},
        storage,
    },
    config::{self, Config},
    engine::{
        parse_context::ParseContext,
        trial::{self, FileTrial},
    },
    model::{Message, Role, Timestamp},
    redact::Redactor,
};

pub struct TrialReport {
    pub text: String,
    /// Whether a format can read the file.
    pub is_read: bool,
}

/// Maximum number of records in which the members of a `watch_formats` entry are counted.
const MAX_RECORDS: u64 = 1_000;
/// Maximum number of characters of a value, so that a line fits in 80 columns.
const MAX_VALUE_CHARS: usize = 62;

/// Reads `file` with the format of `agent` or, if `agent` is `None`, with the first format that
/// claims the file and can read it.
///
/// # Errors
///
/// If the configuration is invalid, the file cannot be read, or the format does not exist.
pub fn try_file(
    options: &DaemonOptions,
    file: &Path,
    agent: Option<&str>,
) -> anyhow::Result<TrialReport> {
    let config = config::load(&search(options))?.config;
    let formats = Formats::new(&config.capture.watch_formats);
    // Resolves links, because watched paths have none. This fails for a session in a database,
    // because the path of such a session is not the path of a file.
    let file = file.canonicalize().or_else(|_| std::path::absolute(file))?;
    storage::stamp(&file).with_context(|| format!("read {}", file.display()))?;
    let candidates: Vec<FormatHandle> = match agent {
        Some(agent) => vec![format_of_agent(&formats, agent)?],
        None => formats.iter().filter(|format| format.claims(&file)).collect(),
    };
    let parse_context = ParseContext {
        filter: config.capture.filter.clone(),
        redactor: Redactor::new(),
        learned: Arc::new(Mutex::new(ClassificationCache::default())),
        formats: formats.clone(),
        summarize: config.summarize.clone(),
        makes_episodes: false,
    };
    let mut text = format!("{}\n", file.display());
    for format in &candidates {
        let read = trial::read(&file, &**format, &parse_context);
        if let Some(trial) = read.with_context(|| format!("read {}", file.display()))? {
            push_trial(&mut text, format, &trial);
            push_members(&mut text, format, &file)?;
            push_messages(&mut text, &trial);
            let directory = trial.identity.directory.as_deref().map(Path::new);
            push_unwatched(&mut text, &config, &file, format, directory);
            return Ok(TrialReport { text, is_read: true });
        }
    }
    push_reasons(&mut text, &formats, &candidates);
    for format in &candidates {
        push_members(&mut text, format, &file)?;
    }
    Ok(TrialReport { text, is_read: false })
}

fn format_of_agent(formats: &Formats, agent: &str) -> anyhow::Result<FormatHandle> {
    if let Some(format) = formats.of_agent(agent) {
        return Ok(format);
    }
    let known: Vec<String> = formats.iter().map(|format| format.agent().to_owned()).collect();
    bail!(
        "there is no format `{agent}`; there are {}; `session_tracking.watch_formats` adds more",
        known.join(", ")
    )
}

fn push_trial(text: &mut String, format: &FormatHandle, trial: &FileTrial) {
    let FileTrial { identity, tally, evidence, messages, .. } = trial;
    let origin = match format {
        FormatHandle::BuiltIn(_) => "",
        FormatHandle::Mapped(_) => " (session_tracking.watch_formats)",
    };
    push_row(text, "format", &format!("{}{origin}", format.agent()));
    push_row(text, "session", &identity.session);
    if let Some(sub_agent) = &identity.sub_agent {
        push_row(text, "sub-agent", sub_agent);
    }
    let directory = evidence.directories.first().or(identity.directory.as_ref());
    push_row(
        text,
        "project",
        directory.map_or("unknown: no record contains a directory", |path| path),
    );
    for (name, values) in [
        ("branch", &evidence.branches),
        ("model", &evidence.models),
        ("version", &evidence.agent_versions),
    ] {
        if !values.is_empty() {
            push_row(text, name, &values.join(", "));
        }
    }
    let at = |time: Option<Timestamp>| time.map(|time| time.to_string());
    if let (Some(first), Some(last)) = (at(evidence.span.first), at(evidence.span.last)) {
        push_row(text, "time", &format!("{} to {}", &first[..19], &last[..19]));
    }
    let count = |role| messages.get(&role).copied().unwrap_or(0);
    push_row(
        text,
        "messages",
        &format!(
            "{} of the user, {} of the agent, {} of tools",
            count(Role::User),
            count(Role::Agent),
            count(Role::Tool)
        ),
    );
    let skipped: u64 = tally.skipped.values().sum();
    push_row(
        text,
        "records",
        &format!("{} read, {skipped} skipped, {} unreadable", tally.read, tally.broken),
    );
    let mut types: Vec<(&String, &u64)> = tally.skipped.iter().collect();
    types.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (record_type, count) in types {
        push_row(text, "skipped", &format!("{count} {record_type}"));
    }
}

/// Shows how many records contain each member that an entry of `watch_formats` reads.
fn push_members(text: &mut String, format: &FormatHandle, file: &Path) -> anyhow::Result<()> {
    let FormatHandle::Mapped(format) = format else { return Ok(()) };
    let (records, members) = members(format, file)?;
    text.push_str(&format!("\nMembers in the first {records} records\n"));
    for (key, pointer, count) in members {
        let row = format!("{pointer:<30} {count} of {records}");
        push_row(
            text,
            key,
            if count == 0 { format!("{row}: no record has this member") } else { row }.as_str(),
        );
    }
    Ok(())
}

type MemberCounts<'f> = Vec<(&'static str, &'f str, u64)>;

fn members<'f>(format: &'f MappedFormat, file: &Path) -> anyhow::Result<(u64, MemberCounts<'f>)> {
    let mut counts: MemberCounts<'f> =
        format.mapping().pointers().map(|(key, pointer)| (key, pointer.as_str(), 0)).collect();
    let mut records = 0;
    for line in BufReader::new(storage::open(file)?).split(b'\n') {
        let line = line.with_context(|| format!("read {}", file.display()))?;
        let Some(present) = format.members_of(&String::from_utf8_lossy(&line)) else { continue };
        records += 1;
        counts
            .iter_mut()
            .zip(present)
            .for_each(|(member, is_present)| member.2 += u64::from(is_present));
        if records == MAX_RECORDS {
            break;
        }
    }
    Ok((records, counts))
}

fn push_messages(text: &mut String, trial: &FileTrial) {
    if trial.first.is_empty() {
        return;
    }
    text.push_str("\nMessages\n");
    trial.first.iter().for_each(|message| push_message(text, message));
    let total: usize = trial.messages.values().sum();
    if total > trial.first.len() + trial.last.len() {
        text.push_str("  …\n");
    }
    trial.last.iter().for_each(|message| push_message(text, message));
}

fn push_message(text: &mut String, message: &Message) {
    let role = match message.role {
        Role::User => "user",
        Role::Agent => "agent",
        Role::Tool => "tool",
        Role::Recap => "recap",
    };
    push_row(text, role, &message.text);
}

/// Explains why the daemon would not follow the file although a format can read it.
/// `directory` is the working directory of the session.
fn push_unwatched(
    text: &mut String,
    config: &Config,
    file: &Path,
    format: &FormatHandle,
    directory: Option<&Path>,
) {
    let is_excluded =
        |path: &Path| config.capture.excluded_paths.iter().any(|folder| path.starts_with(folder));
    let problem = if !config.capture.enabled {
        "`session_tracking.enabled` is false".to_owned()
    } else if !format.claims(file) {
        format!("`{}` does not claim the path, so this file is not followed", format.agent())
    } else if !transcript_folders(config).roots.iter().any(|root| file.starts_with(root)) {
        "no watched folder contains the file; list its folder, and all others to follow, in \
         `session_tracking.watch_directories`"
            .to_owned()
    } else if is_excluded(file) {
        "`session_tracking.excluded_paths` excludes the file".to_owned()
    } else if directory.is_some_and(is_excluded) {
        "`session_tracking.excluded_paths` excludes the directory of the session".to_owned()
    } else {
        return;
    };
    text.push_str(&format!("\nNot followed: {problem}\n"));
}

/// Explains why no format can read the file.
fn push_reasons(text: &mut String, formats: &Formats, candidates: &[FormatHandle]) {
    if candidates.is_empty() {
        text.push_str("No format claims this path.\n");
        for format in formats.iter() {
            if let FormatHandle::Mapped(mapped) = &format {
                let paths =
                    mapped.mapping().paths.iter().map(|path| path.as_path().display().to_string());
                let paths: Vec<String> = paths.collect();
                push_row(text, format.agent(), &format!("reads {}", paths.join(", ")));
            }
        }
        text.push_str(
            "Add an entry to `session_tracking.watch_formats`, or try a format with --format NAME.\n",
        );
        return;
    }
    for format in candidates {
        text.push_str(&format!(
            "`{}` finds no session in the first records of the file.\n",
            format.agent()
        ));
    }
}

/// Adds a line with a name and a value. In the value, each run of white space becomes one space,
/// and characters that are unsafe to display are removed. A long value is cut.
fn push_row(text: &mut String, name: &str, value: &str) {
    let mut words = clean::single_spaced(value);
    words.retain(|c| !clean::is_unsafe_to_display(c));
    if let Some((at, _)) = words.char_indices().nth(MAX_VALUE_CHARS) {
        words.truncate(at);
        words.push('…');
    }
    text.push_str(&format!("  {name:<9} {words}\n"));
}
