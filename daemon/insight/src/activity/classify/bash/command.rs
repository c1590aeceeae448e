//! Classifies one simple command, by the table of programs or by the words of the command.

use crate::{
    activity::{
        classify::{
            bash::{script, special},
            file::FileKind,
            heuristic, signals, verb,
        },
        words,
    },
    lang::shell::{
        args::Args,
        parse::{CommandPosition, Redirect, ShellCommand},
        program::{Effort, Program, Purpose, Rule, Where, base_name},
    },
    model::{
        activity::Signals,
        tool::{BashCommandClassification, ToolDomain, ToolIntent},
    },
};

const TABLE_CONFIDENCE: f64 = 0.95;
/// Confidence of a classification by the name of a task or script.
const NAME_CONFIDENCE: f64 = 0.85;
/// Confidence of a task or script whose name does not say what it does.
const DEFAULT_CONFIDENCE: f64 = 0.6;
/// Maximum number of arguments of a command, and also of its options.
const MAX_WORDS: usize = 20;
/// Maximum length, in bytes, of an argument or option.
const MAX_WORD_BYTES: usize = 200;

/// The programs that do not print their version if `-v` or `-V` is their only argument.
const WITHOUT_SHORT_VERSION: [&str; 17] = [
    "cat",
    "ctest",
    "doctest",
    "git",
    "ls",
    "make",
    "nose2",
    "nosetests",
    "nox",
    "prove",
    "py.test",
    "pytest",
    "rspec",
    "set",
    "sort",
    "tox",
    "unittest",
];

/// A classified command of a line.
#[derive(Clone, Debug)]
pub(super) struct ClassifiedCommand {
    pub(super) classification: BashCommandClassification,
    /// How much the command shows about the purpose of its line.
    pub(super) effort: Effort,
    pub(super) place: CommandPosition,
}

/// Classifies a command from which wrappers such as `sudo` were removed.
pub(super) fn classify_command(command: &ShellCommand) -> ClassifiedCommand {
    let given = ParsedCommand::of(command);
    let class = given.class();
    let subcommand = given.subcommand();
    let targets = given.args.positionals.iter().skip(usize::from(subcommand.is_some()));
    ClassifiedCommand {
        effort: class.effort(),
        place: command.place,
        classification: BashCommandClassification {
            raw_command: command.raw.clone(),
            targets: targets.take(MAX_WORDS).map(|word| cut(word)).collect(),
            flags: given.args.flags.iter().take(MAX_WORDS).map(|word| cut(word)).collect(),
            subcommand,
            base_command: given.name,
            intent: class.intent,
            domain: class.domain,
            confidence: class.confidence,
            reasoning: class.reasoning,
            activity_signals: class.signals,
            nested: command.place.nested,
        },
    }
}

/// Returns the intent and domain of the command in `words`, if they are known.
pub(crate) fn effect_of(words: &[String]) -> Option<(ToolIntent, ToolDomain)> {
    let judged =
        classify_command(&ShellCommand { words: words.to_vec(), ..ShellCommand::default() })
            .classification;
    judged.is_known().then_some((judged.intent, judged.domain))
}

/// The classification of a command, before [`classify_command`] adds the parts of the command.
struct CommandClass {
    intent: ToolIntent,
    domain: ToolDomain,
    confidence: f64,
    reasoning: String,
    signals: Signals,
    effort: Option<Effort>,
}

impl CommandClass {
    fn new(
        intent: ToolIntent,
        domain: ToolDomain,
        confidence: f64,
        reasoning: String,
    ) -> CommandClass {
        let signals = signals::of_known(intent, domain);
        CommandClass { intent, domain, confidence, reasoning, signals, effort: None }
    }

    fn effort(&self) -> Effort {
        self.effort.unwrap_or(match (self.intent, self.domain) {
            (ToolIntent::Read | ToolIntent::Search, _) => Effort::Look,
            (
                ToolIntent::Create | ToolIntent::Modify | ToolIntent::Delete,
                ToolDomain::Filesystem,
            ) => Effort::Housekeeping,
            _ => Effort::Work,
        })
    }
}

/// A command with its parsed program and arguments.
struct ParsedCommand<'c> {
    command: &'c ShellCommand,
    name: String,
    program: Option<&'static Program>,
    args: Args,
}

impl ParsedCommand<'_> {
    fn of(command: &ShellCommand) -> ParsedCommand<'_> {
        let first = command.words.first();
        let program = first.and_then(|word| Program::named(word));
        let rest = command.words.get(1..).unwrap_or_default();
        ParsedCommand {
            command,
            name: first.map(|word| base_name(word)).unwrap_or_default(),
            program,
            args: Args::of(rest, program.map_or(&[], |program| &program.takes)),
        }
    }

    /// Returns the first argument if it is a subcommand. For a program that is not in the table,
    /// any plain word without digits counts as a subcommand.
    fn subcommand(&self) -> Option<String> {
        let first = self.args.positionals.first()?;
        let is_subcommand = match self.program {
            Some(program) => program.has_subcommands,
            None => is_plain(first) && !first.bytes().any(|byte| byte.is_ascii_digit()),
        };
        is_subcommand.then(|| cut(first))
    }

    fn class(&self) -> CommandClass {
        let redirects = &self.command.redirects;
        if let Some((intent, kind)) = special::classify_print_redirect(&self.name, redirects) {
            let reasoning = format!("the output of `{}` goes to a file", self.name);
            let class = CommandClass::new(intent, kind.domain(), TABLE_CONFIDENCE, reasoning);
            let signals = signals::of_change(intent, kind);
            return CommandClass { signals, effort: Some(Effort::Work), ..class };
        }
        if self.name.is_empty() {
            let reasoning = "only sets variables".to_owned();
            let class = CommandClass::new(
                ToolIntent::Configure,
                ToolDomain::Process,
                TABLE_CONFIDENCE,
                reasoning,
            );
            let effort = Some(Effort::Trivial);
            return CommandClass { effort, signals: Signals::default(), ..class };
        }
        let by_rule = || {
            let program = self.program?;
            Some(self.by_rule(program, program.rule(&self.args)?))
        };
        self.by_help_request().or_else(by_rule).unwrap_or_else(|| self.by_words())
    }

    /// Whether the first argument is an operand, such as a pattern or a file, and not a subcommand.
    fn takes_operands(&self) -> bool {
        self.program.is_some_and(|program| !program.has_subcommands)
    }

    /// Classifies a request for help or for the version: `--help`, `help`, `--version`.
    fn by_help_request(&self) -> Option<CommandClass> {
        let ParsedCommand { name, args, .. } = self;
        let asks =
            |options: &[&str]| args.flags.iter().any(|flag| options.contains(&flag.as_str()));
        let helps = asks(&["--help"])
            || self.has_only_flag(&["-h", "-help", "-?"])
                && !matches!(name.as_str(), "df" | "du" | "free" | "ls" | "sort")
            || (args.positionals.first().is_some_and(|word| word == "help")
                && name != "make"
                && !self.takes_operands());
        if helps {
            let reasoning = format!("asks `{name}` for help");
            let (intent, domain) = (ToolIntent::Read, ToolDomain::Documentation);
            return Some(CommandClass::new(intent, domain, TABLE_CONFIDENCE, reasoning));
        }
        let versions = (args.positionals.is_empty() && asks(&["--version"]))
            || self.has_only_flag(&["-V", "-v", "-version"])
                && !WITHOUT_SHORT_VERSION.contains(&name.as_str());
        versions.then(|| {
            let reasoning = format!("asks `{name}` for its version");
            CommandClass::new(ToolIntent::Read, ToolDomain::Process, TABLE_CONFIDENCE, reasoning)
        })
    }

    /// Whether the command consists of its program and one of `flags`. A command that changes files
    /// does not count: in `xargs rm -v`, the names of the files come from the input.
    fn has_only_flag(&self, flags: &[&str]) -> bool {
        let [flag] = self.args.flags.as_slice() else { return false };
        if !self.args.positionals.is_empty() || !flags.contains(&flag.as_str()) {
            return false;
        }
        let rule = self.program.and_then(|program| program.rule(&self.args));
        !rule.is_some_and(|rule| {
            let is_change = matches!(
                rule.purpose,
                Purpose::Fixed(ToolIntent::Create | ToolIntent::Modify | ToolIntent::Delete)
            );
            is_change && matches!(rule.domain, Where::Fixed(ToolDomain::Filesystem))
        })
    }

    fn by_rule(&self, program: &Program, rule: &Rule) -> CommandClass {
        let last = rule.depth().checked_sub(1).and_then(|last| self.args.positionals.get(last));
        let last = last.map_or("", String::as_str);
        let reasoning = format!("known: `{}`", rule.name);
        let mut class = match (rule.purpose, rule.domain) {
            (Purpose::Fixed(intent), Where::Fixed(domain)) => {
                let refined = special::refine(&self.name, &self.args, self.command);
                let (intent, domain) =
                    (refined.intent.unwrap_or(intent), refined.domain.unwrap_or(domain));
                CommandClass::new(intent, domain, TABLE_CONFIDENCE, reasoning)
            }
            (Purpose::Fixed(intent), Where::File) => self.on_files(intent, program, reasoning),
            (Purpose::Task, _) => class_of_task(last),
            (Purpose::Run, _) => class_of_script(last),
            (Purpose::Words, domain) => {
                let domain = match domain {
                    Where::Fixed(domain) => domain,
                    Where::File => ToolDomain::Filesystem,
                };
                let verb = first_verb(&self.args.positionals);
                let confidence = if verb.is_some() { NAME_CONFIDENCE } else { DEFAULT_CONFIDENCE };
                let intent = verb.map_or(ToolIntent::Execute, |(intent, _)| intent);
                CommandClass::new(intent, domain, confidence, format!("{reasoning}, by its words"))
            }
        };
        class.effort = rule.effort.or(class.effort);
        class.signals = rule.signals.unwrap_or(class.signals);
        class
    }

    /// Classifies a command that reads, searches or changes the files among its words.
    fn on_files(&self, intent: ToolIntent, program: &Program, reasoning: String) -> CommandClass {
        let gives_pattern = self.args.value(&["-e", "-f"]).is_some();
        let patterns = usize::from(program.first_is_pattern && !gives_pattern);
        let given = self.args.positionals.iter().skip(patterns).map(String::as_str);
        let redirected = self.command.redirects.iter().filter_map(|redirect| match redirect {
            Redirect::Read(path) => Some(path.as_str()),
            _ => None,
        });
        let kind = common_kind(given.chain(redirected));
        let domain = match intent {
            ToolIntent::Search => kind.map_or(ToolDomain::Code, FileKind::search_domain),
            _ => kind.map_or(ToolDomain::Filesystem, FileKind::domain),
        };
        let class = CommandClass::new(intent, domain, TABLE_CONFIDENCE, reasoning);
        if matches!(intent, ToolIntent::Read | ToolIntent::Search) {
            return class;
        }
        let signals = signals::of_change(intent, kind.unwrap_or(FileKind::Other));
        CommandClass { signals, effort: Some(Effort::Work), ..class }
    }

    /// Classifies a command for which the table has no rule.
    fn by_words(&self) -> CommandClass {
        let path = &self.command.words[0];
        let is_script = has_script_ending(&self.name);
        if path.contains(['/', '\\']) || is_script {
            return self.by_own_program(path, is_script);
        }
        self.by_heuristic().unwrap_or_else(|| {
            let reasoning = format!("`{}` is not known", cut(&self.name));
            let unknown = BashCommandClassification::UNKNOWN;
            let class =
                CommandClass::new(ToolIntent::Execute, ToolDomain::Unknown, unknown, reasoning);
            CommandClass { signals: Signals::default(), ..class }
        })
    }

    /// Classifies a script, or a program with a path, by the file name or by the word after it.
    fn by_own_program(&self, path: &str, is_script: bool) -> CommandClass {
        let by_name = class_of_script(path);
        let first = self.args.positionals.get(..1).unwrap_or_default();
        match first_verb(first) {
            Some((intent, word)) if !is_script && by_name.confidence <= DEFAULT_CONFIDENCE => {
                let reasoning = format!("the word `{word}` after `{}`", cut(&self.name));
                CommandClass::new(intent, ToolDomain::Process, DEFAULT_CONFIDENCE, reasoning)
            }
            _ => by_name,
        }
    }

    /// Classifies by the first verb in the two words after the program's name, or else in the name
    /// if it consists of several words. The confidence has the discount of [`heuristic`]. Returns
    /// `None` if there is no verb, or if the first word after the name is a known program and not a
    /// verb, because the command then wraps this program.
    fn by_heuristic(&self) -> Option<CommandClass> {
        let words = &self.args.positionals;
        let is_wrapper = words
            .first()
            .is_some_and(|word| Program::named(word).is_some() && verb::intent_of(word).is_none());
        if is_wrapper {
            return None;
        }
        let of_name = words::of_name(&self.name);
        let after = words.iter().take(2).take_while(|word| is_plain(word));
        let after: Vec<String> = after.flat_map(|word| words::of_name(word)).collect();
        let own_verb = || if of_name.len() > 1 { first_verb(&of_name) } else { None };
        let (intent, word) = first_verb(&after).or_else(own_verb)?;
        let all: Vec<String> = of_name.into_iter().chain(after).collect();
        let domain = verb::domain_of(&all).unwrap_or(ToolDomain::Unknown);
        let (_, sure) = verb::intent_of(&word)?;
        let reasoning = format!("the word `{word}` in `{}`", cut(&self.name));
        Some(CommandClass::new(intent, domain, sure * heuristic::DISCOUNT, reasoning))
    }
}

/// Returns the kind that all `paths` share; `None` if the kinds differ or there is no path.
pub(crate) fn common_kind<'p>(mut paths: impl Iterator<Item = &'p str>) -> Option<FileKind> {
    let first = FileKind::of(paths.next()?);
    paths.all(|path| FileKind::of(path) == first).then_some(first)
}

fn class_of_task(name: &str) -> CommandClass {
    class_of_name("task", name).unwrap_or_else(|| unclassified_run(name))
}

fn class_of_script(path: &str) -> CommandClass {
    let file = path.rsplit('/').next().unwrap_or(path);
    let of_test = || {
        let reasoning = format!("`{}` is a test", cut(file));
        CommandClass::new(ToolIntent::Validate, ToolDomain::Testing, NAME_CONFIDENCE, reasoning)
    };
    let is_test = FileKind::of(path) == FileKind::Test;
    let class = class_of_name("script", file).or_else(|| is_test.then(of_test));
    class.unwrap_or_else(|| unclassified_run(file))
}

fn class_of_name(kind: &str, name: &str) -> Option<CommandClass> {
    let (intent, domain) = script::of_name(name)?;
    let reasoning = format!("a {kind} named `{}`", cut(name));
    Some(CommandClass::new(intent, domain, NAME_CONFIDENCE, reasoning))
}

fn unclassified_run(name: &str) -> CommandClass {
    let reasoning = if name.is_empty() {
        "runs the default task".to_owned()
    } else {
        format!("runs `{}`; its name does not say what it does", cut(name))
    };
    CommandClass::new(ToolIntent::Execute, ToolDomain::Process, DEFAULT_CONFIDENCE, reasoning)
}

/// Returns the first verb among the words of `names`.
fn first_verb<N: AsRef<str>>(names: &[N]) -> Option<(ToolIntent, String)> {
    names
        .iter()
        .flat_map(|name| words::of_name(name.as_ref()))
        .find_map(|word| verb::intent_of(&word).map(|(intent, _)| (intent, word)))
}

fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':'))
}

fn has_script_ending(name: &str) -> bool {
    const ENDINGS: [&str; 12] =
        [".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".ps1", ".bat", ".php"];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn cut(word: &str) -> String {
    word[..word.floor_char_boundary(MAX_WORD_BYTES)].to_owned()
}
