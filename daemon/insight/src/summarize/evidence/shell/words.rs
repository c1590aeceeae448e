//! Splits a shell command line into simple commands and words.
//!
//! The shell's expansions are not carried out. A word that the shell would expand is marked, so
//! that `$OUT/*.rs` is not mistaken for a path.

use crate::{
    lang::shell::parse::{ShellCommand, SubshellMarks},
    summarize::evidence::shell::substitution,
    text::pattern,
};

/// Maximum number of simple commands that are read in one command line; the rest is ignored.
pub(super) const COMMANDS: usize = 40;
/// Maximum length, in bytes, of the part of a command line that is read.
pub(super) const BYTES: usize = 16 * 1024;

/// One simple command: a program with its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SimpleCommand {
    /// The words without quotes, and without variable assignments and words such as `then` before
    /// the program.
    pub(super) words: Vec<Word>,
    /// The files to which the output of the command is written.
    pub(super) writes: Vec<Word>,
    /// The text of the here-document.
    pub(super) document: String,
    /// Number of lines of the here-document.
    pub(super) document_lines: u32,
    pub(super) subshells: SubshellMarks,
    /// The operator before the next command.
    pub(super) joint: Operator,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Word {
    /// The text without quotes.
    pub(super) text: String,
    /// Whether the shell would expand a part of the word.
    pub(super) expands: bool,
}

impl Word {
    /// Whether the command receives the word as it is written.
    pub(super) fn is_plain(&self) -> bool {
        !self.expands && !self.text.is_empty() && !self.text.starts_with('$')
    }
}

/// The operator between two commands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Operator {
    /// `;`, `&`, a bracket, a new line, or the end of the command line.
    #[default]
    Next,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `|`.
    Pipe,
}

impl SimpleCommand {
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.text.as_str())
    }
}

impl From<&ShellCommand> for SimpleCommand {
    /// Copies the words and the marks of subshells. Operators and redirections are lost.
    fn from(command: &ShellCommand) -> SimpleCommand {
        let word = |text: &String| {
            let expands = text.contains(['$', '*', '?', '{']);
            Word { text: text.clone(), expands }
        };
        let words = command.words.iter().map(word).collect();
        SimpleCommand { words, subshells: command.subshells, ..SimpleCommand::default() }
    }
}

pub(super) fn simple_commands(line: &str) -> Vec<SimpleCommand> {
    let line = &line[..line.floor_char_boundary(BYTES)];
    let mut lexer = Lexer { rest: line, ..Lexer::default() };
    while lexer.found.len() < COMMANDS && lexer.step() {}
    lexer.end_command(Operator::Next);
    lexer.found
}

#[derive(Default)]
struct Lexer<'l> {
    rest: &'l str,
    found: Vec<SimpleCommand>,
    command: SimpleCommand,
    word: Word,
    in_word: bool,
    /// The brackets since the last command.
    subshells: SubshellMarks,
    /// The kind of the redirection whose target is the next word.
    redirect: Option<Redirect>,
    /// The here-documents of the line, whose texts begin after the end of the line.
    documents: Vec<HereDocument>,
}

/// A here-document whose text was not read yet.
struct HereDocument {
    /// The line that ends the document.
    end: String,
    /// The index of the command that reads the document.
    command: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Redirect {
    Output,
    Input,
    Document,
}

impl<'l> Lexer<'l> {
    /// Reads the next token; returns false at the end of the command line.
    fn step(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else { return false };
        match c {
            '\'' => {
                self.take(1);
                let inside = self.until("'");
                self.add(inside, false);
            }
            '"' => self.double_quoted(),
            '\\' => {
                self.take(1);
                let escaped = self.rest.chars().next().map_or(0, char::len_utf8);
                let text = self.take(escaped);
                if self.word.text.get(1..2) == Some(":") {
                    self.add("\\", false);
                }
                if text != "\n" {
                    self.add(text, false);
                }
            }
            '$' if self.rest.starts_with("$(") => self.substitution(),
            '$' if self.rest.starts_with("$'") => self.escape_quoted(),
            '`' => {
                self.take(1);
                let inside = self.until("`");
                self.add(inside, true);
            }
            '#' if !self.in_word => self.comment(),
            '\n' => {
                self.take(1);
                self.end_command(Operator::Next);
                self.skip_documents();
            }
            ' ' | '\t' | '\r' => {
                self.take(1);
                self.end_word();
            }
            '&' if self.rest.starts_with("&>") => self.redirection(),
            ';' | '&' | '|' => self.operator(),
            '(' | ')' => self.bracket(c),
            '<' | '>' => self.redirection(),
            _ => {
                let expands = matches!(c, '$' | '*' | '?' | '{') || begins_set(self.rest);
                let text = self.take(c.len_utf8());
                self.add(text, expands);
            }
        }
        true
    }

    fn take(&mut self, bytes: usize) -> &'l str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Reads the text up to `end`, and `end` itself. Returns the text without `end`. Reads all of
    /// the rest if there is no `end`.
    fn until(&mut self, end: &str) -> &'l str {
        let at = self.rest.find(end).unwrap_or(self.rest.len());
        let text = self.take(at);
        self.take(end.len().min(self.rest.len()));
        text
    }

    fn add(&mut self, text: &str, expands: bool) {
        self.word.text.push_str(text);
        self.word.expands |= expands;
        self.in_word = true;
    }

    fn double_quoted(&mut self) {
        self.take(1);
        self.add("", false);
        while let Some(c) = self.rest.chars().next() {
            match c {
                '"' => {
                    self.take(1);
                    return;
                }
                '\\' => {
                    self.take(1);
                    let escaped = self.rest.chars().next().map_or(0, char::len_utf8);
                    let text = self.take(escaped);
                    if !["$", "`", "\"", "\\", "\n"].contains(&text) {
                        self.add("\\", false);
                    }
                    self.add(if text == "\n" { "" } else { text }, false);
                }
                '$' if self.rest.starts_with("$(") => self.substitution(),
                _ => {
                    let text = self.take(c.len_utf8());
                    self.add(text, c == '$' || c == '`');
                }
            }
        }
    }

    /// Reads `$'…'`, in which a backslash escapes the quote.
    fn escape_quoted(&mut self) {
        self.take(2);
        self.add("", false);
        while let Some(c) = self.rest.chars().next() {
            self.take(c.len_utf8());
            match c {
                '\'' => return,
                '\\' => {
                    let escaped = self.rest.chars().next().map_or(0, char::len_utf8);
                    match self.take(escaped) {
                        "n" => self.add("\n", false),
                        "t" => self.add("\t", false),
                        text @ ("'" | "\"" | "\\" | "?") => self.add(text, false),
                        // Escapes such as `\x41` are not decoded.
                        text => self.add(&format!("\\{text}"), false),
                    }
                }
                _ => self.add(c.encode_utf8(&mut [0; 4]), false),
            }
        }
    }

    /// Reads `$( … )` with everything in it, including nested substitutions and quoted texts.
    fn substitution(&mut self) {
        if let Some(length) = substitution::document_length(self.rest) {
            let text = self.take(length);
            self.add(text, true);
            return;
        }
        // An apostrophe in a here-document within the substitution is not a quote.
        let length = substitution::length_outside_quotes(self.rest, &['"', '\''])
            .or_else(|| substitution::length_outside_quotes(self.rest, &['"']));
        let text = self.take(length.unwrap_or(self.rest.len()));
        self.add(text, true);
    }

    fn comment(&mut self) {
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        self.take(length);
    }

    fn operator(&mut self) {
        for (sign, joint) in [
            ("&&", Operator::And),
            ("||", Operator::Or),
            ("|&", Operator::Pipe),
            ("|", Operator::Pipe),
        ] {
            if self.rest.starts_with(sign) {
                self.take(sign.len());
                self.end_command(joint);
                return;
            }
        }
        self.take(1);
        self.end_command(Operator::Next);
    }

    fn bracket(&mut self, bracket: char) {
        self.take(1);
        self.end_command(Operator::Next);
        match bracket {
            '(' => self.subshells.begin(),
            _ => self.subshells.end(),
        }
    }

    /// Reads a redirection: `&>`, `>`, `>>`, `2>&1`, `<`, `<<WORD`, `<<<`.
    fn redirection(&mut self) {
        // A number directly before the operator is a file descriptor, not an argument.
        if self.in_word && self.word.text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.word = Word::default();
            self.in_word = false;
        }
        self.end_word();
        let sign = ["&>>", "&>", "<<<", "<<-", "<<", ">>", ">&", "<&", "<(", ">(", ">|", ">", "<"]
            .into_iter()
            .find(|sign| self.rest.starts_with(sign))
            .unwrap_or(">");
        self.take(sign.len());
        self.redirect = match sign {
            "<<" | "<<-" => Some(Redirect::Document),
            ">" | ">>" | ">|" | "&>" | "&>>" => Some(Redirect::Output),
            _ => Some(Redirect::Input),
        };
        if self.redirect == Some(Redirect::Output) && self.rest.starts_with('&') {
            self.take(1);
            self.redirect = Some(Redirect::Input);
        }
    }

    fn end_word(&mut self) {
        if !std::mem::take(&mut self.in_word) {
            return;
        }
        let word = std::mem::take(&mut self.word);
        match self.redirect.take() {
            Some(Redirect::Output) => self.command.writes.push(word),
            Some(Redirect::Document) => {
                let command = self.found.len();
                self.documents.push(HereDocument { end: word.text, command });
            }
            Some(Redirect::Input) => {}
            None if self.command.words.is_empty() && is_prefix(&word.text) => {}
            None => self.command.words.push(word),
        }
    }

    fn end_command(&mut self, joint: Operator) {
        self.end_word();
        self.redirect = None;
        let mut command = std::mem::take(&mut self.command);
        if !command.words.is_empty() || !command.writes.is_empty() {
            command.joint = joint;
            command.subshells = std::mem::take(&mut self.subshells);
            self.found.push(command);
        } else if let Some(last) = self.found.last_mut()
            && last.joint == Operator::Next
            && joint != Operator::Next
        {
            last.joint = joint;
        }
    }

    fn skip_documents(&mut self) {
        for HereDocument { end, command } in std::mem::take(&mut self.documents) {
            let whole = self.rest;
            let mut text = whole;
            while !self.rest.is_empty() {
                let length = whole.len() - self.rest.len();
                if self.until("\n").trim() == end {
                    text = &whole[..length];
                    break;
                }
            }
            if let Some(command) = self.found.get_mut(command) {
                command.document_lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
                text.clone_into(&mut command.document);
            }
        }
    }
}

/// Whether a text begins with a set of characters: `[a-z]`, `[!x]`, `[12]`. Names such as `[id]` do
/// not count: they are frequent in web projects, and the shell leaves them as they are if no file
/// matches.
fn begins_set(text: &str) -> bool {
    text.starts_with('[') && pattern!(r"^\[(?:[!^]\S|(?:.-.)+\]|\d+\])").is_match(text)
}

/// Whether a word is `NAME=value` before a program, or a word of the shell that introduces a
/// command.
fn is_prefix(word: &str) -> bool {
    const INTRODUCTIONS: [&str; 10] =
        ["then", "do", "else", "if", "while", "until", "!", "{", "}", "time"];
    INTRODUCTIONS.contains(&word)
        || word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_escapes_a_quote_after_a_dollar_sign() {
        let commands = simple_commands(r"git commit -m $'It\'s; rm \\ done\n\x41' && cat $'open");
        let texts: Vec<Vec<&str>> = commands.iter().map(|one| one.texts().collect()).collect();
        let first = vec!["git", "commit", "-m", "It's; rm \\ done\n\\x41"];
        assert_eq!(texts, [first, vec!["cat", "open"]]);
    }

    #[test]
    fn a_line_is_split_into_commands() {
        let commands = simple_commands(
            "cd /app && FOO=1 npm run 'a b' 2>&1 | tail -5; echo \"x $Y\" >> out.txt || true",
        );
        let texts: Vec<Vec<&str>> = commands.iter().map(|one| one.texts().collect()).collect();
        assert_eq!(
            texts,
            [
                vec!["cd", "/app"],
                vec!["npm", "run", "a b"],
                vec!["tail", "-5"],
                vec!["echo", "x $Y"],
                vec!["true"],
            ]
        );
        let joints: Vec<Operator> = commands.iter().map(|one| one.joint).collect();
        assert_eq!(
            joints,
            [Operator::And, Operator::Pipe, Operator::Next, Operator::Or, Operator::Next]
        );
        assert!(commands[3].words[1].expands);
        assert_eq!(commands[3].writes[0].text, "out.txt");
    }

    #[test]
    fn a_set_of_characters_expands_and_a_name_in_brackets_does_not() {
        for (word, expands) in [
            ("[a-c].log", true),
            ("[!a].log", true),
            ("a[12].log", true),
            ("app/[id]/page.tsx", false),
            ("[...slug].ts", false),
            ("[user-id].ts", false),
        ] {
            let commands = simple_commands(&format!("rm {word}"));
            assert_eq!(commands[0].words[1].expands, expands, "{word}");
        }
    }

    #[test]
    fn a_here_document_is_not_a_command() {
        let commands = simple_commands("cat > a.sh <<'EOF'\nrm -rf x\nmv a b\nEOF\nchmod +x a.sh");
        assert_eq!(commands.len(), 2);
        assert_eq!(commands[0].writes[0].text, "a.sh");
        assert_eq!(commands[0].document_lines, 2);
        assert_eq!(commands[0].document, "rm -rf x\nmv a b\n");
        assert_eq!(commands[1].words[0].text, "chmod");
    }

    #[test]
    fn a_substitution_is_one_word() {
        let line = "git commit -m \"$(cat <<'EOF'\nFix (it); now\n\nbody\nEOF\n)\" && git push";
        let commands = simple_commands(line);
        assert_eq!(commands.len(), 2, "{commands:?}");
        assert!(commands[0].words[3].text.contains("Fix (it); now"));
        assert_eq!(commands[1].texts().collect::<Vec<_>>(), ["git", "push"]);
    }

    #[test]
    fn quoted_brackets_do_not_end_a_substitution() {
        for (substitution, is_whole) in [
            ("$(printf 'a) b')", true),
            ("$(printf \"a) b\")", true),
            ("$(printf a\\)b)", true),
            ("$(a \"it's\" (b))", true),
            ("$(python - <<E\n# it's\nE\n)", true),
            ("$(a 'b", false),
        ] {
            let commands = simple_commands(&format!("echo {substitution} && git push"));
            let text = &commands[0].words[1].text;
            assert_eq!((text == substitution, commands.len() == 2), (is_whole, is_whole), "{text}");
        }
    }

    #[test]
    fn a_document_in_a_substitution_may_contain_quotes_and_brackets() {
        let line = "git commit -m \"$(cat <<'EOF'\nFix: it's 1) \"here\n\nb)\nEOF\n)\" && git push";
        let commands = simple_commands(line);
        assert_eq!(commands.len(), 2, "{commands:?}");
        assert!(commands[0].words[3].text.ends_with("b)\nEOF\n)"));
    }

    #[test]
    fn windows_paths_keep_their_backslashes() {
        let commands = simple_commands("type \"D:\\a\\b.txt\" C:\\x\\y.txt \"a\\\"b\" a\\ b");
        let texts: Vec<&str> = commands[0].texts().collect();
        assert_eq!(texts, ["type", "D:\\a\\b.txt", "C:\\x\\y.txt", "a\"b", "a b"]);
    }

    #[test]
    fn unterminated_lines_are_read_without_a_panic() {
        for line in [
            "'",
            "\"$(",
            "<<",
            "a <<X\nb",
            "$(((",
            "`",
            "\\",
            "&&&& ||| ;;",
            "é\\é",
            "a $(cat <<E\nE",
            "a $(cat <<E\nE)",
        ] {
            simple_commands(line);
        }
    }
}
