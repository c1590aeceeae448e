//! Parses a command line into simple commands: separates pipelines, lists, subshells, loops and
//! functions, removes quotes, and finds the commands inside `$(...)`.

use brush_parser::{
    Token,
    ast::{
        AndOr, AndOrList, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList,
        IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, Program, RedirectList,
        SimpleCommand, Word as RawWord,
    },
};

use crate::lang::shell::{
    guard::{self, Reading},
    word,
};

/// Maximum number of commands of one line.
const MOST_COMMANDS: usize = 200;
/// Maximum nesting of substitutions and of scripts in arguments (`bash -c`).
const DEEPEST_SCRIPT: usize = 4;
/// Maximum length, in bytes, of [`ShellCommand::raw`], without the `…` after a cut.
const RAW_KEPT: usize = 300;

/// A simple command and its context: `A=1 git log > out`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShellCommand {
    /// The program and its arguments; empty for assignments and redirections alone.
    pub words: Vec<String>,
    /// The sources of the command's input and the targets of its output.
    pub redirects: Vec<Redirect>,
    /// The position in the line.
    pub place: CommandPosition,
    /// The subshells that end and begin before the command.
    pub subshells: SubshellMarks,
    /// The command with its quotes, but with the spaces that the parser prints. Cut when it is
    /// long. Without the quotes if the parser rejected the line.
    pub raw: String,
}

/// The position of a command in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CommandPosition {
    /// Whether the command is inside `$(...)`, backquotes or `<(...)`.
    pub nested: bool,
    /// Whether the command is the right side of `||`, or a part of the right side.
    pub alternative: bool,
    /// The number of the command's pipeline in the line, counted from 1. In a script that is an
    /// argument (`bash -c`), the numbers continue from the pipeline that runs the script.
    pub pipeline: usize,
    /// The number of commands before the command in its pipeline, plus the same number for each
    /// pipeline that contains this pipeline.
    pub in_pipeline: usize,
    /// The number of `$(...)`, backquotes and scripts in arguments that contain the command.
    depth: usize,
}

/// The brackets of subshells between the previous command and this command. `$(...)` is a subshell,
/// too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SubshellMarks {
    /// Number of subshells that end before the command.
    pub ended: usize,
    /// Number of subshells that begin with the command.
    pub begun: usize,
}

impl SubshellMarks {
    /// Records that a subshell begins.
    pub fn begin(&mut self) {
        self.begun += 1;
    }

    /// Records that a subshell ends. A subshell without commands leaves no mark.
    pub fn end(&mut self) {
        match self.begun {
            0 => self.ended += 1,
            _ => self.begun -= 1,
        }
    }
}

/// A file or text to which a command's input or output is connected.
#[derive(Clone, Debug, PartialEq)]
pub enum Redirect {
    /// Output replaces the file.
    Written(String),
    /// Output is added to the file.
    Appended(String),
    /// The input is read from the file.
    Read(String),
    /// The input is this text, from a here document or a here string.
    Text(String),
}

/// Returns the simple commands of `line`, in the order in which they are written; a command inside
/// a substitution precedes the command that contains it.
pub fn commands(line: &str) -> Vec<ShellCommand> {
    let mut found = CommandCollector::default();
    found.script(line, CommandPosition::default());
    found.commands
}

/// Returns the simple commands of a script that the command at `of` runs, as `bash -c` does.
pub fn commands_of_script(script: &str, of: CommandPosition) -> Vec<ShellCommand> {
    let mut found = CommandCollector { pipelines: of.pipeline, ..CommandCollector::default() };
    found.script(script, CommandPosition { depth: of.depth + 1, ..of });
    found.commands
}

#[derive(Default)]
struct CommandCollector {
    commands: Vec<ShellCommand>,
    pipelines: usize,
    /// The brackets since the last command.
    subshells: SubshellMarks,
}

impl CommandCollector {
    fn script(&mut self, text: &str, place: CommandPosition) {
        if place.depth > DEEPEST_SCRIPT {
            return;
        }
        match guard::read(text) {
            Reading::Parsed(program) => self.program(&program, place),
            Reading::Tokens(tokens) => self.tokens(&tokens, place),
            Reading::Text => self.text(text, place),
        }
    }

    fn program(&mut self, program: &Program, place: CommandPosition) {
        for list in &program.complete_commands {
            self.list(list, place);
        }
    }

    fn list(&mut self, list: &CompoundList, place: CommandPosition) {
        for item in &list.0 {
            self.and_or(&item.0, place);
        }
    }

    fn subshell(&mut self, list: &CompoundList, place: CommandPosition) {
        self.subshells.begin();
        self.list(list, place);
        self.subshells.end();
    }

    fn and_or(&mut self, list: &AndOrList, place: CommandPosition) {
        self.pipeline(&list.first, place);
        for next in &list.additional {
            match next {
                AndOr::And(pipeline) => self.pipeline(pipeline, place),
                AndOr::Or(pipeline) => {
                    self.pipeline(pipeline, CommandPosition { alternative: true, ..place });
                }
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, place: CommandPosition) {
        self.pipelines += 1;
        let place = CommandPosition { pipeline: self.pipelines, ..place };
        for (at, command) in pipeline.seq.iter().enumerate() {
            self.command(command, CommandPosition { in_pipeline: place.in_pipeline + at, ..place });
        }
    }

    fn command(&mut self, command: &Command, place: CommandPosition) {
        match command {
            Command::Simple(simple) => self.simple(simple, place),
            Command::Compound(compound, redirects) => {
                self.compound(compound, place);
                self.compound_redirects(redirects.as_ref(), place);
            }
            Command::Function(function) => {
                self.compound(&function.body.0, place);
                self.compound_redirects(function.body.1.as_ref(), place);
            }
            Command::ExtendedTest(_) => {}
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, place: CommandPosition) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list, place),
            CompoundCommand::Subshell(subshell) => self.subshell(&subshell.list, place),
            CompoundCommand::ForClause(clause) => {
                for word in clause.values.iter().flatten() {
                    self.word(word, place);
                }
                self.list(&clause.body.list, place);
            }
            CompoundCommand::ArithmeticForClause(clause) => self.list(&clause.body.list, place),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0, place);
                self.list(&clause.1.list, place);
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, place);
                self.list(&clause.then, place);
                for branch in clause.elses.iter().flatten() {
                    branch.condition.iter().for_each(|condition| self.list(condition, place));
                    self.list(&branch.body, place);
                }
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value, place);
                clause
                    .cases
                    .iter()
                    .filter_map(|case| case.cmd.as_ref())
                    .for_each(|list| self.list(list, place));
            }
            CompoundCommand::Arithmetic(_) => {}
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, place: CommandPosition) {
        let mut redirects = Vec::new();
        // Assignments precede the program and are not its arguments.
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, place, &mut redirects);
        }
        let mut words: Vec<String> =
            simple.word_or_name.iter().map(|word| self.word(word, place)).collect();
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            words.extend(self.item(item, place, &mut redirects));
        }
        // The parser prints `2>&1` as `2>& 1`.
        let raw = cut(simple.to_string().replace(">& ", ">&"));
        self.add(ShellCommand { words, redirects, place, raw, ..ShellCommand::default() });
    }

    /// Adds the item's redirections to `redirects`, or returns its word.
    fn item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        place: CommandPosition,
        redirects: &mut Vec<Redirect>,
    ) -> Option<String> {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                redirects.extend(self.redirect(redirect, place));
                None
            }
            CommandPrefixOrSuffixItem::AssignmentWord(_, word)
            | CommandPrefixOrSuffixItem::Word(word) => Some(self.word(word, place)),
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.subshell(&subshell.list, CommandPosition { nested: true, ..place });
                None
            }
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect, place: CommandPosition) -> Option<Redirect> {
        match redirect {
            IoRedirect::File(descriptor, kind, IoFileRedirectTarget::Filename(word)) => {
                let path = self.word(word, place);
                let to_output = descriptor.is_none_or(|descriptor| descriptor == 1);
                match kind {
                    IoFileRedirectKind::Read => Some(Redirect::Read(path)),
                    IoFileRedirectKind::Append if to_output => Some(Redirect::Appended(path)),
                    IoFileRedirectKind::Write | IoFileRedirectKind::Clobber if to_output => {
                        Some(Redirect::Written(path))
                    }
                    _ => None,
                }
            }
            IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => {
                self.subshell(&subshell.list, CommandPosition { nested: true, ..place });
                None
            }
            IoRedirect::File(..) => None,
            IoRedirect::OutputAndError(word, append) => {
                let path = self.word(word, place);
                Some(if *append { Redirect::Appended(path) } else { Redirect::Written(path) })
            }
            IoRedirect::HereString(_, word) => Some(Redirect::Text(self.word(word, place))),
            IoRedirect::HereDocument(_, document) => {
                let text = &document.doc.value;
                if document.requires_expansion && (text.contains("$(") || text.contains('`')) {
                    let unquoted = word::document(text).unwrap_or_default();
                    self.scripts(&unquoted.scripts, place);
                }
                Some(Redirect::Text(text.clone()))
            }
        }
    }

    fn compound_redirects(&mut self, redirects: Option<&RedirectList>, place: CommandPosition) {
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, place);
        }
    }

    /// Returns the text of the [`word::UnquotedWord`], and adds the commands in its scripts to
    /// `commands`. Returns the word as written if a quote or a substitution in it never ends.
    fn word(&mut self, word: &RawWord, place: CommandPosition) -> String {
        let raw = &word.value;
        if !raw.contains(['\'', '"', '\\', '$', '`']) {
            return raw.clone();
        }
        match word::word(raw) {
            Some(unquoted) => {
                self.scripts(&unquoted.scripts, place);
                unquoted.text
            }
            None => raw.clone(),
        }
    }

    fn scripts(&mut self, scripts: &[String], place: CommandPosition) {
        for script in scripts {
            self.subshells.begin();
            self.script(script, CommandPosition { nested: true, depth: place.depth + 1, ..place });
            self.subshells.end();
        }
    }

    /// Collects the words between operators as commands, because the structure is not known.
    fn tokens(&mut self, tokens: &[Token], place: CommandPosition) {
        for words in tokens.split(|token| matches!(token, Token::Operator(..))) {
            let words: Vec<String> = words
                .iter()
                .map(|token| self.word(&RawWord::new(token.to_str()), place))
                .skip_while(|word| is_reserved(word) || is_assignment(word))
                .collect();
            self.bare(words, place);
        }
    }

    /// Collects the first words of each of the first lines, because the text cannot be parsed.
    fn text(&mut self, text: &str, place: CommandPosition) {
        const LINES: usize = 3;
        for line in text.lines().filter(|line| !line.trim().is_empty()).take(LINES) {
            let words = line.split(['|', ';', '&']).next().unwrap_or_default().split_whitespace();
            self.bare(
                words.skip_while(|word| is_assignment(word)).map(str::to_owned).take(8).collect(),
                place,
            );
        }
    }

    fn bare(&mut self, words: Vec<String>, place: CommandPosition) {
        if words.is_empty() {
            return;
        }
        self.pipelines += 1;
        let raw = cut(words.join(" "));
        let place = CommandPosition { pipeline: self.pipelines, ..place };
        self.add(ShellCommand { words, place, raw, ..ShellCommand::default() });
    }

    fn add(&mut self, mut command: ShellCommand) {
        if self.commands.len() < MOST_COMMANDS {
            command.subshells = std::mem::take(&mut self.subshells);
            self.commands.push(command);
        }
    }
}

fn is_reserved(word: &str) -> bool {
    const WORDS: [&str; 18] = [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "in", "{", "}", "!", "time", "function",
    ];
    WORDS.contains(&word)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    })
}

fn cut(mut text: String) -> String {
    if text.len() > RAW_KEPT {
        text.truncate(text.floor_char_boundary(RAW_KEPT));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the commands of a line, with `$` before nested commands and `?` before alternatives.
    fn shown(line: &str) -> String {
        let show = |command: ShellCommand| {
            let mark = if command.place.nested { "$" } else { "" };
            let other = if command.place.alternative { "?" } else { "" };
            format!("{mark}{other}{}", command.words.join(" "))
        };
        commands(line).into_iter().map(show).collect::<Vec<_>>().join(" ; ")
    }

    #[test]
    fn every_form_of_command_is_parsed() {
        for (line, found) in [
            ("ls -la | grep x && pwd || echo no", "ls -la ; grep x ; pwd ; ?echo no"),
            ("cd /tmp && (make; ./run) &", "cd /tmp ; make ; ./run"),
            ("{ a; b; } 2>&1", "a ; b"),
            ("A=1 B=\"$(date)\" cmd x", "$date ; cmd x"),
            ("V=$(git describe)", "$git describe ; "),
            ("echo \"a $(ls `pwd`) b\" 'c d' e\\ f", "$pwd ; $ls $(...) ; echo a $(...) b c d e f"),
            ("for f in $(ls); do cat \"$f\"; done", "$ls ; cat $f"),
            ("while ! curl -sf x; do sleep 1; done", "curl -sf x ; sleep 1"),
            ("if [ -f a ]; then b; elif c; then d; else e; fi", "[ -f a ] ; b ; c ; d ; e"),
            ("case $x in a) b;; *) c;; esac", "b ; c"),
            ("f() { make test; }; f", "make test ; f"),
            ("diff <(sort a) <(sort b)", "$sort a ; $sort b ; diff"),
            ("[[ -n $x ]] && go test", "go test"),
            ("cat <<'EOF'\nrm -rf $(x)\nEOF\nls", "cat ; ls"),
            ("cat <<EOF\nnow $(date)\nEOF", "$date ; cat"),
            (
                "git commit -m \"$(cat <<'EOF'\nfix: a thing\n\n- it's done\nEOF\n)\"",
                "$cat ; git commit -m $(...)",
            ),
            ("a \\\n  b", "a b"),
            ("# only a comment\nls # and another", "ls"),
            ("time (go test)", "go test"),
            ("ls && && pwd", "ls ; pwd"),
            ("if true; then X=1 make all", "true ; make all"),
            ("don't do this", "don't do this"),
            ("", ""),
        ] {
            assert_eq!(shown(line), found, "{line}");
        }
    }

    #[test]
    fn the_ends_of_subshells_are_marked() {
        for (line, marks) in [
            ("(a; b) && c", "+a b -c"),
            ("a $(b; c) d; e", "+b c -a e"),
            ("((a); b); (c)", "++a -b -+c"),
            ("(a $(b)); c", "++b -a -c"),
            ("{ a; }; b <(c) ", "a +c -b"),
        ] {
            let show = |command: &ShellCommand| {
                let SubshellMarks { ended, begun } = command.subshells;
                let name = command.words.first().map_or("", String::as_str);
                format!("{}{}{name}", "-".repeat(ended), "+".repeat(begun))
            };
            let shown: Vec<String> = commands(line).iter().map(show).collect();
            assert_eq!(shown.join(" "), marks, "{line}");
        }
    }

    #[test]
    fn only_output_counts_as_written() {
        let redirects = |line: &str| commands(line).remove(0).redirects;
        assert_eq!(
            redirects("a > x 2> y < z"),
            [Redirect::Written("x".into()), Redirect::Read("z".into())]
        );
        assert_eq!(redirects("a >> x 2>&1"), [Redirect::Appended("x".into())]);
        assert_eq!(redirects("a &> x"), [Redirect::Written("x".into())]);
        assert_eq!(redirects("cat <<< hello"), [Redirect::Text("hello".into())]);
    }

    #[test]
    fn commands_and_depth_are_bounded() {
        assert_eq!(commands(&"ls;".repeat(1_000)).len(), MOST_COMMANDS);
        let deep = format!("{}ls{}", "echo $(".repeat(20), ")".repeat(20));
        assert!(commands(&deep).len() <= DEEPEST_SCRIPT + 1);
        let long = format!("echo {}", "x".repeat(5_000));
        assert!(commands(&long)[0].raw.len() < 310);
    }
}
