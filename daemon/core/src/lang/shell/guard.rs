//! Protects the shell parser from input that makes the parser fail. brush-parser 0.3 panics on some
//! long numbers, takes exponential time for brackets that are never closed, recurses as deep as its
//! input is nested, and exhausts memory if a line ends after `<<''`. The parser also treats
//! quotation marks in a here document inside `$(...)` as shell quotes. Agents write commit messages
//! in such documents, so these documents are removed before the line is parsed.
//!
//! Fuzzing found these failures. The limits are far above what agents write.

use std::{
    borrow::Cow,
    panic::{self, AssertUnwindSafe},
};

use brush_parser::{ParserOptions, SourceInfo, Token, ast::Program};

/// Maximum length, in bytes, of a command line that is parsed. Here documents are part of a line.
pub(super) const LONGEST: usize = 256 * 1024;
/// Maximum number of brackets, `(` and `{`, that are open at one position of the text. Brackets in
/// quotes are counted, too.
const DEEPEST_TEXT: usize = 200;
/// Maximum nesting of compound commands.
const DEEPEST_COMMAND: usize = 16;
/// Maximum nesting of `case`. If the innermost `case` has a syntax error, each level doubles the
/// parser's time.
const DEEPEST_CASE: usize = 6;
/// Maximum number of words and operators of a line whose structure is parsed.
const MOST_TOKENS: usize = 20_000;

/// The result of parsing a command line.
pub(super) enum Reading {
    /// The structure of the line.
    Parsed(Program),
    /// Only words and operators, because the structure is broken or too complex for the parser.
    Tokens(Vec<Token>),
    /// Neither words nor structure, because the text is too long, is nested too deeply, or cannot
    /// be split into words (a quote never ends).
    Text,
}

/// Reads `line` as bash does.
pub(super) fn read(line: &str) -> Reading {
    if line.len() > LONGEST || deepest(line) > DEEPEST_TEXT {
        return Reading::Text;
    }
    let line = without_inner_documents(line);
    let line = without_long_numbers(&line);
    let line = with_final_line_feeds(&line);
    let options = options();
    let tokens = without_panic(|| {
        brush_parser::uncached_tokenize_str(&line, &options.tokenizer_options()).ok()
    });
    let Some(tokens) = tokens else { return Reading::Text };
    if tokens.len() > MOST_TOKENS || !is_balanced(&tokens) {
        return Reading::Tokens(tokens);
    }
    let parsed = without_panic(|| {
        brush_parser::parse_tokens(&tokens, &options, &SourceInfo::default()).ok()
    });
    parsed.map_or(Reading::Tokens(tokens), Reading::Parsed)
}

/// Runs a part of the parser, and returns `None` if it panics: a command line must not prevent its
/// session from being read.
fn without_panic<T>(parse: impl FnOnce() -> Option<T>) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(parse)).unwrap_or(None)
}

/// Returns the parser's options for bash.
fn options() -> ParserOptions {
    ParserOptions::default()
}

/// Returns the maximum number of brackets that are open at one position, without regard to quotes.
fn deepest(line: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    for byte in line.bytes() {
        match byte {
            b'(' | b'{' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b')' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Returns `line` without the here documents that begin inside a substitution.
fn without_inner_documents(line: &str) -> Cow<'_, str> {
    if !line.contains("<<") || !line.contains("$(") {
        return Cow::Borrowed(line);
    }
    let mut kept = String::with_capacity(line.len());
    let mut rest = line.split_inclusive('\n');
    while let Some(head) = rest.next() {
        let found = inner_document(head).and_then(|(before, end, after)| {
            let mut ahead = rest.clone();
            let last = ahead.find_map(|body| after_end(body, end))?;
            Some((before, after, last, ahead))
        });
        match found {
            Some((before, after, last, ahead)) => {
                [before, after, last].iter().for_each(|part| kept.push_str(part));
                rest = ahead;
            }
            None => kept.push_str(head),
        }
    }
    Cow::Owned(kept)
}

/// Returns the parts of a line that begins a here document inside `$(`: the text before `<<`, the
/// delimiter, and the text after the delimiter.
fn inner_document(head: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = head.split_once("<<")?;
    let inside = before.rfind("$(").is_some_and(|at| !before[at..].contains(')'));
    let word = after.trim_start_matches(['-', ' ', '\t', '\'', '"', '\\']);
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let length = word.find(|letter: char| !is_part(letter)).unwrap_or(word.len());
    let (word, after) = word.split_at(length);
    let after = after.strip_prefix(['\'', '"']).unwrap_or(after);
    (inside && !word.is_empty()).then_some((before, word, after))
}

/// Returns the rest of the line if the line ends a here document with the delimiter `end`.
fn after_end<'t>(line: &'t str, end: &str) -> Option<&'t str> {
    let after = line.trim_start().strip_prefix(end)?;
    (after.trim().is_empty() || after.starts_with(')')).then_some(after)
}

/// Adds two line feeds to `line` if it may contain a here document. Without a line feed, the parser
/// never finds the end of a document whose delimiter is empty (`<<''`). If `line` ends with a
/// backslash, the backslash escapes the first line feed, so the second is needed.
fn with_final_line_feeds(line: &str) -> Cow<'_, str> {
    if line.contains("<<") { Cow::Owned(format!("{line}\n\n")) } else { Cow::Borrowed(line) }
}

/// Shortens long runs of digits in `line` to the size of the parser's integers: nine digits before
/// a redirection, where they are a file descriptor, and seventeen at other places.
fn without_long_numbers(line: &str) -> Cow<'_, str> {
    const DESCRIPTOR: usize = 9;
    const NUMBER: usize = 17;
    let mut cut: Option<String> = None;
    let mut kept_to = 0;
    let mut run = 0;
    for (at, byte) in line.bytes().chain([b' ']).enumerate() {
        if byte.is_ascii_digit() {
            run += 1;
            continue;
        }
        let limit = if matches!(byte, b'<' | b'>') { DESCRIPTOR } else { NUMBER };
        if run > limit {
            let text = cut.get_or_insert_default();
            text.push_str(&line[kept_to..at - run + limit]);
            kept_to = at;
        }
        run = 0;
    }
    match cut {
        None => Cow::Borrowed(line),
        Some(mut text) => {
            text.push_str(&line[kept_to..]);
            Cow::Owned(text)
        }
    }
}

/// Whether every compound command is closed, and no compound command is nested too deeply.
fn is_balanced(tokens: &[Token]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut command_may_begin = true;
    for token in tokens {
        let text = token.to_str();
        let closes = match (token, text) {
            (Token::Operator(..), "(") => Opens(")"),
            (Token::Operator(..), ")") => Closes(")"),
            (Token::Word(..), _) if command_may_begin => reserved(text),
            _ => Neither,
        };
        match closes {
            Opens(end) => open.push(end),
            Closes(end) if open.last() == Some(&end) => {
                open.pop();
            }
            // A pattern of `case` may end with `)` without a `(` before it.
            Closes(_) | Neither => {}
        }
        if open.len() > DEEPEST_COMMAND
            || open.iter().filter(|end| **end == "esac").count() > DEEPEST_CASE
        {
            return false;
        }
        command_may_begin = match token {
            Token::Operator(..) => true,
            Token::Word(..) => command_may_begin && introduces_command(text),
        };
    }
    open.is_empty()
}

use Bracket::{Closes, Neither, Opens};

/// The effect of a token on the compound commands around it.
enum Bracket {
    /// Opens a compound command that ends with this word.
    Opens(&'static str),
    /// Ends a compound command.
    Closes(&'static str),
    Neither,
}

fn reserved(word: &str) -> Bracket {
    match word {
        "{" => Opens("}"),
        "if" => Opens("fi"),
        "case" => Opens("esac"),
        "for" | "while" | "until" | "select" => Opens("done"),
        "}" => Closes("}"),
        "fi" => Closes("fi"),
        "esac" => Closes("esac"),
        "done" => Closes("done"),
        _ => Neither,
    }
}

fn introduces_command(word: &str) -> bool {
    matches!(
        word,
        "if" | "then"
            | "else"
            | "elif"
            | "while"
            | "until"
            | "do"
            | "{"
            | "!"
            | "time"
            | "}"
            | "fi"
            | "done"
            | "esac"
    )
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn reads_as(line: &str) -> &'static str {
        match read(line) {
            Reading::Parsed(_) => "parsed",
            Reading::Tokens(_) => "tokens",
            Reading::Text => "text",
        }
    }

    #[test]
    fn ordinary_lines_are_parsed_and_invalid_lines_are_not() {
        for (line, how) in [
            ("ls -la", "parsed"),
            ("case $x in a) ls;; (b) pwd;; esac", "parsed"),
            ("if a; then { b; }; else (c); fi", "parsed"),
            ("for f in *; do echo $f; done", "parsed"),
            ("echo case for if { (( 1 )", "tokens"),
            ("cat <<'EOF'\n((( case { if\nEOF", "parsed"),
            ("ls && && pwd", "tokens"),
            ("( ls", "tokens"),
            ("echo 'never closed", "text"),
        ] {
            assert_eq!(reads_as(line), how, "{line}");
        }
    }

    #[test]
    fn numbers_that_make_the_parser_panic_are_shortened() {
        for line in [
            "ps -p 6078060790<&-",
            "echo 99999999999999999999999 ${99999999999999999999999}",
            "cd ~99999999999999999999999 ~+99999999999999999999999",
            "x=~-99999999999999999999999",
        ] {
            assert_ne!(reads_as(line), "text", "{line}");
        }
        assert_eq!(without_long_numbers("1 22 1234567890>x"), "1 22 123456789>x");
        assert_eq!(without_long_numbers("é 1234567890 é"), "é 1234567890 é");
    }

    #[test]
    fn only_here_documents_inside_substitutions_are_removed() {
        for (line, without) in [
            ("x \"$(cat <<'EOF'\nit's (1\nEOF\n)\" y", "x \"$(cat \n\n)\" y"),
            ("x $(cat <<-END | wc\n\tdon't\n\tEND\n)\ny", "x $(cat  | wc\n\n)\ny"),
            ("x $(cat <<EOF\na\nEOF)", "x $(cat \n)"),
            ("echo $(a) <<EOF\nb\nEOF", "echo $(a) <<EOF\nb\nEOF"),
            ("echo $((1<<2))\nls", "echo $((1<<2))\nls"),
            ("x $(cat <<EOF\nnever closed", "x $(cat <<EOF\nnever closed"),
        ] {
            assert_eq!(without_inner_documents(line), without);
        }
        assert_eq!(reads_as("git commit -m \"$(cat <<'EOF'\nfix: it's \"`x (\nEOF\n)\""), "parsed");
    }

    #[test]
    fn hostile_lines_are_parsed_quickly() {
        for count in [10, 18, 40, 190, 400, 4_000, 40_000] {
            for (open, close) in [
                ("(", ""),
                ("((", ""),
                ("$(", ""),
                ("`", ""),
                ("{ ", ""),
                ("${a:-", ""),
                ("\"$(echo ", ""),
                ("case x in a) ", ""),
                ("if x; then ", ""),
                ("<(", ""),
                ("@(", ""),
                ("[[ ( ", ""),
                ("( ", " )"),
                ("$(", ")"),
                ("{ ", "; }"),
                ("case x in a) ", ";; esac "),
                ("if x; then ", "; fi "),
                ("for i in a; do ", "; done "),
                ("f() { ", "; }"),
                ("a && ", "a"),
                ("<(cat ", ")"),
                ("cat <<A\nx\nA\n", ""),
                ("\"$(echo ", ")\""),
            ] {
                let line = format!("{}&&{}", open.repeat(count), close.repeat(count));
                let begun = Instant::now();
                read(&line);
                let taken = begun.elapsed();
                assert!(taken < Duration::from_secs(2), "{open} {count}: {taken:?}");
            }
        }
    }

    #[test]
    fn here_documents_that_end_with_an_empty_line_are_parsed() {
        // Found by fuzzing.
        for end in ["''", "\"\"", "\r", "\u{b}", "-''", "'' <<''", "'' `b`", "'' \\", "'' \\\n\\"] {
            for before in ["", "cat ", "a $(b ", "a ${b ", "a \"$(b ", "{ a; } "] {
                for after in ["", " ", "\t", "< ", " #c", ";", "\n", "\nx", "\nx\n\ny"] {
                    read(&format!("{before}<<{end}{after}"));
                }
            }
        }
        assert_eq!(reads_as("cat <<'' "), "parsed");
        assert_eq!(reads_as("cat <<''\na\n\nls"), "parsed");
    }
}
