//! `find_fix`: finds earlier fixes of an error and of similar errors, findings that quote the
//! error, and commands that worked in another form.

use graphiti_proto::{
    rpc::{Error, code},
    tools::{
        find_fix::{FixAnswer, FixArguments, NAME},
        graph::FactRow,
    },
};

use super::{Effect, Tool, capped, errors, graph, input, output, store_error, typed, zero_limit};
use crate::{
    api::{
        DaemonState, catch_up,
        client_context::ClientContext,
        projects::{of_directory, searched_projects},
    },
    engine::{
        embedding::VectorSet,
        entities::{Graph, is_traceback_heading, mentions_error, words_of_error},
    },
    model::{Fact, Namespace, graph::Relation, wording},
};

/// Maximum number of errors in an answer.
const MAX_ERRORS: usize = 50;
/// Maximum number of lines of the given output whose words are searched for.
const MAX_LINES: usize = 3;
/// Maximum number of words of these lines.
const MAX_WORDS: usize = 40;
/// Words (or their beginnings) that any error may contain.
const ERROR_WORDS: [&str; 7] =
    ["error", "fail", "fatal", "panic", "exception", "cannot", "not found"];

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Find a fix",
    description: "Show how an error was solved before: its cause, its fix and what verified it. Give the message, or \
        the output that contains it.",
    effect: Effect::Reads,
    input: input::<FixArguments>,
    output: output::<FixAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: FixArguments,
) -> Result<FixAnswer, Error> {
    let error = arguments.error.trim();
    if error.is_empty() {
        return Err(Error::new(code::INVALID_PARAMS, "`error` must be the text of an error"));
    }
    let projects = searched_projects(daemon, client, arguments.project.as_deref())?;
    let indexed =
        catch_up::index_pending(daemon, client, projects.clone().unwrap_or_default()).await?;
    let limit = arguments.limit.min(MAX_ERRORS);
    let near = client.directory.as_deref().map_or_else(Vec::new, |one| of_directory(daemon, one));
    let mut same = errors::records(daemon, error, projects.as_deref())?;
    same.sort_by_key(|record| {
        let is_near = near.contains(&record.namespace);
        (!record.is_fixed, !is_near)
    });
    same.truncate(limit);
    let known: Vec<String> =
        same.iter().flat_map(|record| &record.facts).map(|fact| fact.id.to_string()).collect();
    let rows = same.into_iter().map(|record| errors::row(daemon, record));
    let errors = rows.collect::<Result<_, _>>().map_err(store_error)?;
    let mut similar = similar(daemon, error, projects, limit + known.len()).await?;
    similar.retain(|fact| !known.contains(&fact.uuid));
    similar.truncate(limit);
    let message = capped::explain(indexed.message(), arguments.limit, similar.len(), MAX_ERRORS);
    client.reply_budget.fit(&mut similar);
    let message = zero_limit::explain(message, client.reply_form, "limit", limit, MAX_ERRORS);
    Ok(FixAnswer { message, errors, similar })
}

/// Returns the fixes of similar errors, findings that quote the error, and commands that failed and
/// then worked in another form.
async fn similar(
    daemon: &DaemonState,
    error: &str,
    projects: Option<Vec<Namespace>>,
    limit: usize,
) -> Result<Vec<FactRow>, Error> {
    let words = words(error);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let search = graph::GraphSearch::new(daemon, &words, projects).await;
    let graph = graph::graph(daemon);
    let distinctive = distinctive_words(error);
    // Vectors also find the same error in other words. Then, a fact need not share words with the
    // error.
    let is_wanted = |fact: &Fact| {
        search.has_vector() || distinctive.iter().any(|words| mentions_error(&fact.sentence, words))
    };
    let fixes = |number: u64| {
        let mut found = fixes(daemon, &graph, number, &distinctive)?;
        found.retain(is_wanted);
        Ok(found)
    };
    let found = search.find(VectorSet::Facts, limit, &fixes)?;
    found.iter().map(|(fact, _)| graph::fact_row(daemon, fact)).collect()
}

/// Returns the latest period of a fact, if the fact is the fix of an error, a finding that quotes
/// the error with these words, or a command that worked in another form.
fn fixes(
    daemon: &DaemonState,
    graph: &Graph<'_>,
    number: u64,
    distinctive: &[Vec<u64>],
) -> Result<Vec<Fact>, Error> {
    let key = daemon.engine.store().fact_numbered(number).map_err(store_error)?;
    let Some(key) = key else { return Ok(Vec::new()) };
    let mut spans = graph.spans(key).map_err(store_error)?;
    spans.retain(|fact| match fact.relation {
        Relation::Resolved => true,
        Relation::FoundOut => {
            wording::is_retry(&fact.sentence) || quotes_error(&fact.sentence, distinctive)
        }
        _ => false,
    });
    Ok(spans.pop().into_iter().collect())
}

/// Whether code or a quotation in `sentence` is the message of the error with these words.
fn quotes_error(sentence: &str, distinctive: &[Vec<u64>]) -> bool {
    // The name of a function has no white space. Some languages are written without spaces.
    let is_message = |quoted: &&str| {
        has_error_word(quoted) && (quoted.contains(char::is_whitespace) || !quoted.is_ascii())
    };
    quotations(sentence).into_iter().filter(is_message).any(|quoted| {
        // One common word does not identify an error.
        distinctive.iter().any(|words| words.len() > 1 && mentions_error(quoted, words))
    })
}

/// Returns the texts in quotation marks and the code in `sentence`.
fn quotations(sentence: &str) -> Vec<&str> {
    let closing = |open: char| match open {
        '`' => Some(&['`'][..]),
        '"' => Some(&['"'][..]),
        '“' => Some(&['”'][..]),
        '„' => Some(&['“', '”'][..]),
        '«' => Some(&['»'][..]),
        _ => None,
    };
    let mut quotations = Vec::new();
    let mut rest = sentence.chars();
    while let Some(open) = rest.next() {
        let inside = rest.as_str();
        let Some(end) = closing(open).and_then(|close| inside.find(close)) else { continue };
        quotations.push(&inside[..end]);
        rest = inside[end..].chars();
        rest.next();
    }
    quotations
}

/// Returns the distinctive words of each of the [`lines`] of an error.
fn distinctive_words(error: &str) -> Vec<Vec<u64>> {
    let is_common = |word: &str| ERROR_WORDS.iter().any(|common| word.starts_with(common));
    lines(error).into_iter().map(|line| words_of_error(line, is_common)).collect()
}

/// Returns the words of the [`lines`] of an error. Leaves out the characters that have a meaning in
/// a query.
fn words(error: &str) -> String {
    let lines = lines(error);
    let words = lines.iter().flat_map(|line| line.split(is_sign)).filter(|word| word.len() > 1);
    words.take(MAX_WORDS).collect::<Vec<_>>().join(" ")
}

fn is_sign(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

/// Returns the lines that mention an error and, after a traceback, the last line. The last of these
/// lines comes first, because a traceback ends with its error. Without such lines, returns the
/// first lines.
fn lines(error: &str) -> Vec<&str> {
    let lines = || error.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut chosen: Vec<&str> = lines().filter(|line| has_error_word(line)).collect();
    if lines().any(is_traceback_heading) {
        chosen.extend(lines().next_back());
    }
    if chosen.is_empty() {
        chosen = lines().take(MAX_LINES).collect();
    } else if let Some(last) = chosen.pop() {
        chosen.retain(|line| *line != last);
        chosen.insert(0, last);
    }
    chosen.truncate(MAX_LINES);
    chosen
}

fn has_error_word(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ERROR_WORDS.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_come_from_the_lines_with_errors() {
        let output = "   Compiling app v0.1.0\nerror[E0308]: mismatched types\n --> src/a.rs:3:5\n";
        assert_eq!(words(output), "error E0308 mismatched types");
        let traceback = "Traceback (most recent call last):\n  File \"a.py\", line 3, in run\n    \
            raise Error(x)\n  File \"b.py\", line 5, in error\nrequests.Timeout: pool is full";
        let found = words(traceback);
        assert!(found.starts_with("requests Timeout pool is full"), "{found}");
        assert_eq!(words("\n  -x:\"a b\" role:user  \n"), "role user");
        assert_eq!(words("?! \n"), "");
    }

    #[test]
    fn a_finding_that_quotes_the_message_is_about_the_error() {
        let quotes = |error: &str, finding: &str| quotes_error(finding, &distinctive_words(error));
        let error = "TypeError: Cannot read properties of undefined (reading 'id')";
        for (finding, wanted) in [
            (
                "The page threw `TypeError: Cannot read properties of undefined`, because the user loads later.",
                true,
            ),
            ("The user loads later: \"cannot read properties of undefined (reading 'id')\".", true),
            // The same words without quotation marks, and other words of an error in quotation
            // marks.
            ("The properties of the id are read too early, which is an error.", false),
            ("The log has `TypeError: x is not a function` at the start.", false),
            // A command or a name that has the words of the error is no message.
            ("Run `lint --properties --undefined --reading`.", false),
            ("The script `read_properties_of_undefined.js` is old.", false),
        ] {
            assert_eq!(quotes(error, finding), wanted, "{finding}");
        }
        assert!(!quotes("fatal error: timeout", "The call ended with `error: timeout`."));
        let error = "error: failed to connect to the database pool";
        let finding = "The hook `on_connect_error(database)` is called twice.";
        assert!(!quotes(error, finding), "a name is no message");
    }

    #[test]
    fn quotation_marks_of_other_languages_enclose_a_message() {
        let error = "TypeError: Cannot read properties of undefined (reading 'id')";
        let distinctive = distinctive_words(error);
        let message = "TypeError: Cannot read properties of undefined";
        for (finding, wanted) in [
            (format!("Die Seite meldete „{message}“, weil der Nutzer später lädt."), true),
            (format!("Die Seite meldete „{message}”, weil der Nutzer später lädt."), true),
            (format!("La page affichait « {message} », car l'utilisateur manque."), true),
            (format!("The page showed “{message}”, because the user loads later."), true),
            (
                "Nach „Abbrechen“ endet read mit einem error, weil properties noch undefined ist."
                    .to_owned(),
                false,
            ),
            ("After `id` is read, an error says that properties are undefined.".to_owned(), false),
            ("The page has one \" mark, and reads undefined properties: error.".to_owned(), false),
        ] {
            assert_eq!(quotes_error(&finding, &distinctive), wanted, "{finding}");
        }
    }

    #[test]
    fn a_fact_about_a_similar_error_has_half_of_the_distinctive_words_of_a_line() {
        let is_similar = |error: &str, fact: &str| {
            distinctive_words(error).iter().any(|words| mentions_error(fact, words))
        };
        let error = "go: cannot write multiple packages to non-directory ./build/output";
        assert!(is_similar(
            error,
            "`go build` failed (cannot write multiple packages to a directory)"
        ));
        let other = "`a_test` failed: cannot find the tests. Verified by: 18 packages passed";
        assert!(!is_similar(error, other));
        let rustc = "error[E0308]: mismatched types\nerror: aborting due to previous error\n\
            error: could not compile `app`";
        assert!(is_similar(rustc, "Mismatched types in `a.rs`. Fix: Borrow the name."));
        assert!(is_similar("too many timeouts", "The timeout was too short."));
        let jest = "adds 1 + 2 to equal 3";
        assert!(!is_similar(
            jest,
            "adds failed: thread 'tests::adds' panicked. Fix: Changed `a.rs`"
        ));
        let chinese = "无法连接数据库";
        assert!(is_similar(chinese, "应用无法连接数据库，因为端口错误"));
        assert!(!is_similar(chinese, other));
    }
}
