//! Prints handoffs, and the lines that are added to prompts, so that readers can evaluate them.
//!
//! `cargo bench -p graphiti-tests --bench handoff -- pairs` draws pairs of consecutive sessions of
//! one project of the corpus. It prints the handoff that the second session gets, and the first
//! prompts of this session. `-- prompts` draws prompts and prints the lines that are added to them
//! from the earlier sessions of the project. `-- facts` prints all facts of each project.
//! `--built-on` uses only the sessions that may be used to develop rules. The same seed draws the
//! same items. The corpus is not part of this repository. `-- speed` measures how long the hook at
//! a prompt waits for a daemon that knows `--count` (10,000) sessions.

#![expect(clippy::print_stdout, reason = "the program prints its figures")]

mod speed;

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, ValueEnum};
use graphiti_tests::{
    Random,
    corpus::{self, Half},
    summarized::{self, MadeEpisode},
};
use graphitid::{
    graph::{StatementStates, is_listed},
    model::{Episode, SessionEnding},
    summarize::handoff::{self, recall::RecallMemory},
};

#[derive(Parser)]
struct HandoffOptions {
    #[arg(value_enum, default_value = "pairs")]
    what: Drawn,
    /// Number of pairs or prompts to draw
    #[arg(long)]
    count: Option<usize>,
    #[arg(long, default_value_t = 21)]
    seed: u64,
    /// Print only every second drawn item: 0 to develop rules, 1 to evaluate them
    #[arg(long)]
    half: Option<usize>,
    /// Use only sessions that may be used to develop rules
    #[arg(long)]
    built_on: bool,
    /// Print only prompts to which lines are added
    #[arg(long)]
    only_added: bool,
    /// Cargo adds this option
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Drawn {
    Pairs,
    Prompts,
    Facts,
    Speed,
}

/// Maximum length, in characters, of a handoff from a hook.
const MAX_CHARS: usize = 4_000;
/// Maximum number of sessions in a handoff from a hook.
const SESSIONS: usize = 5;

fn main() -> ExitCode {
    let options = HandoffOptions::parse();
    // `cargo test --all-targets` starts benchmarks, too.
    if !options.bench {
        return ExitCode::SUCCESS;
    }
    if let Drawn::Speed = options.what {
        speed::measure(options.count.unwrap_or(10_000));
        return ExitCode::SUCCESS;
    }
    let Some(corpus) = corpus::folder() else { return ExitCode::SUCCESS };
    let projects = projects(&corpus, &options);
    match options.what {
        Drawn::Prompts => prompts(&projects, &options),
        Drawn::Facts => facts(&projects),
        Drawn::Pairs | Drawn::Speed => pairs(&projects, &options),
    }
    ExitCode::SUCCESS
}

/// Returns the sessions of each project of the corpus, the earliest first.
fn projects(corpus: &Path, options: &HandoffOptions) -> Vec<Vec<MadeEpisode>> {
    let mut projects: BTreeMap<PathBuf, Vec<MadeEpisode>> = BTreeMap::new();
    // Older versions of Claude Code put the transcripts of sub-agents into the folder of sessions.
    let is_own = |path: &PathBuf| {
        !path.components().any(|part| {
            part.as_os_str() == "subagents"
                || part.as_os_str().as_encoded_bytes().starts_with(b"agent-")
        })
    };
    let is_wanted = |path: &PathBuf| !options.built_on || Half::of(path) == Half::Build;
    for path in corpus::transcripts(corpus).into_iter().filter(is_own).filter(is_wanted) {
        let folder = path.strip_prefix(corpus).expect("the file is in the corpus");
        // Some folders of the corpus have the folders that Claude Code makes for each project.
        let is_project = |(at, part): &(usize, Component<'_>)| {
            *at < 2 || part.as_os_str().as_encoded_bytes().starts_with(b"-")
        };
        let project =
            folder.components().enumerate().take_while(is_project).map(|(_, part)| part).collect();
        let Some(made) = summarized::episode_of(&path) else { continue };
        projects.entry(project).or_default().push(made);
    }
    let mut projects: Vec<Vec<MadeEpisode>> = projects.into_values().collect();
    projects.iter_mut().for_each(|all| all.sort_by_key(|made| made.episode.ended_at));
    projects
}

/// Returns the sessions of `project` that had ended when session number `at` began, the latest
/// first.
fn earlier(project: &[MadeEpisode], at: usize) -> impl Iterator<Item = &MadeEpisode> {
    let began = project[at].episode.started_at;
    project[..at].iter().rev().filter(move |made| made.episode.ended_at <= began)
}

fn pairs(projects: &[Vec<MadeEpisode>], options: &HandoffOptions) {
    let all = projects.iter().flat_map(|project| (0..project.len()).map(move |at| (project, at)));
    let all = all.filter(|(project, at)| earlier(project, *at).next().is_some());
    let mut lengths = Vec::new();
    for (project, at) in drawn(all.collect(), options, 25) {
        let episodes: Vec<_> = earlier(project, at)
            .map(|made| made.episode.clone())
            .filter(handoff::did_work)
            .take(SESSIONS)
            .collect();
        let validity = validity(project, at, &episodes);
        let wishes: Vec<String> = episodes
            .iter()
            .flat_map(|one| one.summary.preferences.clone().unwrap_or_default())
            .collect();
        let text =
            handoff::gather(&episodes, &wishes, &validity).to_text(MAX_CHARS).unwrap_or_default();
        let next = &project[at];
        println!(
            "=== {} -> {}",
            episodes.first().map_or("-", |one| one.file.as_str()),
            next.episode.file
        );
        println!("{} bytes\n{text}\n", text.len());
        for prompt in next.prompts.iter().take(2) {
            println!("NEXT: {}", shown(prompt));
        }
        println!();
        lengths.push(text.len());
    }
    lengths.sort_unstable();
    println!(
        "{} handoffs, median {} bytes",
        lengths.len(),
        lengths.get(lengths.len() / 2).unwrap_or(&0)
    );
}

/// Returns which statements of `episodes` are still true when session number `at` begins.
fn validity(project: &[MadeEpisode], at: usize, episodes: &[Episode]) -> DrawnValidity {
    let sessions: Vec<&MadeEpisode> = earlier(project, at).collect();
    let (facts, began) = (summarized::facts_of(&sessions), project[at].episode.started_at);
    let each = episodes.iter().map(|episode| StatementStates::of(&facts, episode.id, began));
    DrawnValidity(each.collect())
}

/// Which statements of each session of a handoff are still true, in the order of the sessions.
struct DrawnValidity(Vec<StatementStates>);

impl handoff::StatementValidity for DrawnValidity {
    fn holds(&self, session: usize, text: &str) -> Option<bool> {
        self.0[session].holds(text)
    }

    fn sentence(&self, session: usize, text: &str) -> Option<String> {
        self.0[session].sentence(text).map(str::to_owned)
    }

    fn ending(&self, session: usize) -> SessionEnding {
        self.0[session].ending().clone()
    }
}

fn facts(projects: &[Vec<MadeEpisode>]) {
    for project in projects {
        let sessions: Vec<&MadeEpisode> = project.iter().collect();
        for fact in summarized::facts_of(&sessions).into_iter().filter(is_listed) {
            let by = |made: &&&MadeEpisode| fact.episodes.contains(&made.episode.id);
            let session = sessions.iter().find(by).map_or("", |made| &made.episode.session_id.id);
            let line = fact.origins.first().map_or(0, |(_, origin)| origin.line);
            let end = fact.invalid_at.map_or(String::new(), |end| format!(" ended {end}"));
            println!(
                "{} {} {}{end} [{session}:{line}]\n    {}",
                fact.relation.as_str(),
                fact.certainty.as_str(),
                fact.valid_at,
                fact.sentence
            );
        }
    }
}

fn prompts(projects: &[Vec<MadeEpisode>], options: &HandoffOptions) {
    let mut all = Vec::new();
    for project in projects {
        for at in 0..project.len() {
            if earlier(project, at).next().is_some() {
                all.extend(project[at].prompts.iter().map(|prompt| (project, at, prompt)));
            }
        }
    }
    let mut added = 0;
    let drawn = drawn(all, options, 100);
    for (project, at, prompt) in &drawn {
        let mut memory = RecallMemory::default();
        let sessions: Vec<&MadeEpisode> = earlier(project, *at).collect();
        let facts = summarized::facts_of(&sessions);
        for made in sessions {
            let began = project[*at].episode.started_at;
            let states = StatementStates::of(&facts, made.episode.id, began);
            memory.add(&made.episode, &|text| states.sentence(text).map(str::to_owned));
        }
        let found = memory.matches(prompt, None);
        added += usize::from(!found.is_empty());
        if found.is_empty() && options.only_added {
            continue;
        }
        println!("=== {}\nPROMPT: {}", project[*at].episode.file, shown(prompt));
        found.iter().for_each(|entry| println!("{}", entry.line()));
        println!();
    }
    println!("{} prompts, {added} with added lines", drawn.len());
}

/// Draws from `all` without replacement.
fn drawn<T>(mut all: Vec<T>, options: &HandoffOptions, default_count: usize) -> Vec<T> {
    let mut random = Random::new(options.seed);
    let mut drawn = Vec::new();
    while drawn.len() < options.count.unwrap_or(default_count) && !all.is_empty() {
        drawn.push(all.swap_remove(random.below(all.len())));
    }
    let is_wanted = |at: usize| options.half.is_none_or(|half| at % 2 == half % 2);
    drawn.into_iter().enumerate().filter(|(at, _)| is_wanted(*at)).map(|(_, one)| one).collect()
}

fn shown(prompt: &str) -> String {
    prompt.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(600).collect()
}
