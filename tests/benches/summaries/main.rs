//! Measures which part of the required information the summaries of recorded sessions contain.
//!
//! `cargo bench -p graphiti-tests --bench summaries` summarises each session of the gold lists in
//! `tests/gold`. For each session and for all sessions, it prints how many items and how many
//! forbidden statements the summaries contain, and their length. The sessions are in the corpus,
//! which is not part of this repository. `-- --help` lists the options.

#![expect(clippy::print_stdout, reason = "the program prints its figures")]

mod gold;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use graphiti_tests::{corpus, summarized};

use crate::gold::{Gold, SummaryScore};

#[derive(Parser)]
struct SummaryOptions {
    /// Gold lists; default: all files of tests/gold
    #[arg(long)]
    gold: Vec<PathBuf>,
    /// Use the lists that are only used to evaluate rules; print only totals
    #[arg(long, conflicts_with_all = ["gold", "verbose", "only"])]
    held: bool,
    /// Only sessions whose id begins with this text
    #[arg(long)]
    only: Option<String>,
    /// Print each item and whether it is present
    #[arg(short, long)]
    verbose: bool,
    /// Write each summary to a file of this folder
    #[arg(long)]
    out: Option<PathBuf>,
    /// Write the summaries of these transcripts of any agent, without a score
    #[arg(long, num_args = 1.., requires = "out", conflicts_with_all = ["gold", "held", "only"])]
    files: Vec<PathBuf>,
    /// Score the last reply of the agent instead of the summary
    #[arg(long)]
    last_words: bool,
    /// Cargo adds this option
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let options = SummaryOptions::parse();
    if !options.files.is_empty() {
        options.files.iter().for_each(|file| write_page(file, options.out.as_deref()));
        return ExitCode::SUCCESS;
    }
    let Some(corpus) = corpus::folder() else { return ExitCode::SUCCESS };
    let files: BTreeMap<String, PathBuf> = corpus::transcripts(&corpus)
        .into_iter()
        .filter(|path| !path.components().any(|part| part.as_os_str() == "subagents"))
        .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path)))
        .collect();
    let mut total = SummaryScore::default();
    let lists = if options.held { gold::in_folder("gold/held") } else { options.gold.clone() };
    for gold in gold::load(&lists) {
        if options.only.as_ref().is_some_and(|only| !gold.session.starts_with(only)) {
            continue;
        }
        // The names of some files have a date before the session's id.
        let file = files.iter().find(|(stem, _)| stem.ends_with(&gold.session));
        let Some((_, file)) = file else {
            println!("{}: no transcript", gold.session);
            continue;
        };
        let summary = summarized::of_transcript(file);
        let text = if options.last_words { summary.last_words } else { summary.page };
        if let Some(folder) = &options.out {
            fs::create_dir_all(folder).expect("the folder can be made");
            fs::write(folder.join(format!("{}.txt", gold.session)), &text).expect("write a file");
        }
        let score = gold.score(&text);
        if !options.held {
            report(&gold, &score, &text, options.verbose);
        }
        total.add(&score);
    }
    println!("{total}");
    ExitCode::SUCCESS
}

/// Writes the page of a transcript that is not in the gold lists.
fn write_page(file: &Path, folder: Option<&Path>) {
    let page = summarized::of_transcript(file).page;
    // Copilot uses a folder for each session, and the same file name in each folder.
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let parent = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let name = if stem == "events" { parent.unwrap_or(stem) } else { stem };
    println!("{name} LINES {} BYTES {}", page.lines().count(), page.len());
    if let Some(folder) = folder {
        fs::create_dir_all(folder).expect("the folder can be made");
        fs::write(folder.join(format!("{name}.txt")), page).expect("write a file");
    }
}

fn report(gold: &Gold, score: &SummaryScore, text: &str, verbose: bool) {
    println!(
        "{} MUST {} NICE {} FORBIDDEN {} LINES {} BYTES {}",
        &gold.session[..8],
        score.must(),
        score.nice,
        score.forbidden.len(),
        text.lines().count(),
        text.len()
    );
    for forbidden in &score.forbidden {
        println!("    forbidden: {forbidden}");
    }
    if verbose {
        score.items.iter().for_each(|item| println!("    {item}"));
    }
}
