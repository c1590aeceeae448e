//! Summarises a transcript with the library, without a daemon.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use graphitid::{
    activity::classify::ClassificationCache,
    capture::{
        filter::Filter,
        format::{FORMATS, Format, Formats},
    },
    engine::{
        parse_context::ParseContext,
        pipeline::{LineContext, LinePosition, SourceState},
    },
    graph::{self, fact_validity},
    model::{
        CloseReason, Episode, EpisodeId, Evidence, Fact, Project, SessionId, SessionKey,
        episode::Author,
        graph::{Attributed, FactKey, Statements},
        session::ContentHash,
        transcript::Origin,
    },
    redact::Redactor,
    store::Tally,
    summarize,
};

/// Number of bytes at the start of a file that are read to recognise its format.
const HEAD: usize = 256 * 1024;

pub struct Summarized {
    /// The page that `graphiti show` prints.
    pub page: String,
    /// The last reply of the agent.
    pub last_words: String,
    /// The preferences of the user.
    pub wishes: Vec<String>,
}

/// An episode of a transcript, and the prompts of its session.
pub struct MadeEpisode {
    pub episode: Episode,
    pub prompts: Vec<String>,
    pub statements: Statements,
}

/// Returns the facts that follow from these sessions alone, the latest first.
pub fn facts_of(sessions: &[&MadeEpisode]) -> Vec<Fact> {
    let attributed = |made: &MadeEpisode| (made.episode.id, made.statements.created_at);
    let mut claims: BTreeMap<FactKey, Vec<Attributed<_>>> = BTreeMap::new();
    let mut marks: Vec<Attributed<_>> = Vec::new();
    for made in sessions {
        let (episode, created_at) = attributed(made);
        for claim in &made.statements.claims {
            let claim = Attributed { episode, created_at, what: claim.clone() };
            claims.entry(claim.what.key).or_default().push(claim);
        }
        let all = made.statements.marks.iter().cloned();
        marks.extend(all.map(|what| Attributed { episode, created_at, what }));
    }
    let mut facts = Vec::new();
    for (key, claims) in claims {
        let since = claims.iter().map(|claim| claim.what.at).min().expect("each key has a claim");
        let watched = |mark: &&Attributed<graphitid::model::graph::Mark>| {
            let mut watches = claims.iter().flat_map(|claim| &claim.what.watches);
            mark.what.at >= since && watches.any(|watch| watch.subject == mark.what.subject)
        };
        let marks: Vec<Attributed<_>> = marks.iter().filter(watched).cloned().collect();
        facts.extend(fact_validity::facts(key, &claims, &marks, None));
    }
    facts.sort_by_key(|fact| (std::cmp::Reverse(fact.valid_at), fact.id));
    facts
}

/// Creates the episode of the session whose own file is `path`; `None` if no record has a time, or
/// no record has a directory.
pub fn episode_of(path: &Path) -> Option<MadeEpisode> {
    let (evidence, own) = evidence_of(path);
    let (started_at, ended_at) = (evidence.span.first?, evidence.span.last?);
    let project = Project::new(evidence.directories.first()?);
    let context = summarize::Context { project: Some(&project), ..Default::default() };
    let stem = path.file_stem()?.to_str()?;
    let mut unique = [0; 10];
    unique.iter_mut().zip(stem.bytes()).for_each(|(byte, of_name)| *byte = of_name);
    let episode = Episode {
        id: EpisodeId::new(ended_at, unique),
        session: SessionKey(0),
        session_id: SessionId { agent: "claude".to_owned(), id: stem.to_owned() },
        name: summarize::name(&evidence, &context),
        summary: summarize::summarize(&evidence, &context, own.detector.vector()),
        project,
        author: Author::Evidence,
        file: path.display().to_string(),
        content_hash: ContentHash([0; 32]),
        reason: CloseReason::HistorySync,
        branches: evidence.branches.clone(),
        started_at,
        ended_at,
        created_at: ended_at,
        external: None,
        rules: summarize::RULES_VERSION,
    };
    let statements = graph::extract(&episode, &evidence);
    let prompts = evidence.prompts.into_iter().map(|prompt| prompt.text).collect();
    Some(MadeEpisode { episode, prompts, statements })
}

/// Summarises the session whose own file is `path`, with its sub-agents in the folder next to it.
pub fn of_transcript(path: &Path) -> Summarized {
    let (evidence, own) = evidence_of(path);
    let project = evidence.directories.first().map(|directory| Project::new(directory));
    let context = summarize::Context { project: project.as_ref(), ..Default::default() };
    let summary = summarize::summarize(&evidence, &context, own.detector.vector());
    let name = summarize::name(&evidence, &context);
    let page = format!("{name}\n\n{}", summarize::markdown::to_page(&summary, &name));
    let last_words = evidence.last_reply.map_or_else(String::new, |reply| reply.text);
    let wishes = summary.preferences.unwrap_or_default();
    Summarized { page, last_words, wishes }
}

/// Returns the evidence of a session with its sub-agents, and the state of its own file.
fn evidence_of(path: &Path) -> (Evidence, SourceState) {
    let parse_context = ParseContext {
        filter: Filter::default(),
        redactor: Redactor::new(),
        learned: Arc::new(Mutex::new(ClassificationCache::default())),
        formats: Formats::default(),
        summarize: summarize::config::Config::default(),
        makes_episodes: true,
    };
    let own = read(path, 0, &parse_context);
    let mut evidence = own.evidence().clone();
    for (number, sub_agent) in (1..).zip(sub_agents(path)) {
        let state = read(&sub_agent, number, &parse_context);
        let stem = sub_agent.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let id = stem.strip_prefix("agent-");
        summarize::evidence::absorb(&mut evidence, state.evidence(), id);
    }
    (evidence, own)
}

fn read(path: &Path, source: u32, parse_context: &ParseContext) -> SourceState {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let format = format_of(path, &String::from_utf8_lossy(&bytes));
    let mut state = SourceState::new(source);
    let (mut messages, mut tally, mut at) = (Vec::new(), Tally::default(), 0);
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let place = LinePosition { origin: Origin { source, line: number }, at };
        let context = LineContext { format, parse_context, now: graphitid::clock::now() };
        state.take_line(context, line, place, &mut tally, &mut messages);
        messages.clear();
        at += line.len() as u64 + 1;
    }
    state
}

/// Returns the format that identifies the records, or else a format that claims the path.
fn format_of(path: &Path, text: &str) -> &'static dyn Format {
    let head = &text[..text.floor_char_boundary(HEAD)];
    let identifies = |format: &&&'static dyn Format| format.identify(path, head).is_some();
    let known = FORMATS.iter().find(identifies);
    let claims = || FORMATS.iter().find(|format| format.claims(path));
    *known.or_else(claims).expect("a format claims the file")
}

fn sub_agents(path: &Path) -> Vec<PathBuf> {
    let folder = path.with_extension("").join("subagents");
    if !folder.is_dir() { Vec::new() } else { crate::corpus::transcripts(&folder) }
}
