//! The table of known programs, read from `programs.txt`, which documents its syntax.

use std::{collections::HashMap, sync::LazyLock};

use crate::{
    lang::shell::args::Args,
    model::{
        activity::{Activity, Signals},
        tool::{ToolDomain, ToolIntent},
    },
};

/// How much a command shows about the purpose of its line. Later variants show more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Nothing: `cd`, `echo`, `sleep`.
    Trivial,
    /// The command only reads.
    Look,
    /// The command prepares or cleans up: `mkdir`, `rm`, `git add`.
    Housekeeping,
    /// The command is the purpose of the line.
    Work,
}

/// A line of the table, for one program. A line that names several programs gives several rules.
#[derive(Clone, Debug)]
pub struct Rule {
    words: Vec<Vec<String>>,
    flags: Vec<Vec<String>>,
    /// The purpose of the command.
    pub purpose: Purpose,
    /// The domain in which the command works.
    pub domain: Where,
    /// How much the command shows about the purpose of its line; `None` for the default.
    pub effort: Option<Effort>,
    /// The signals of the command; `None` for the default.
    pub signals: Option<Signals>,
    /// The left side of the line in the table, with only the program of this rule. People see this
    /// text.
    pub name: String,
}

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// The purpose is always this intent.
    Fixed(ToolIntent),
    /// The last word that the rule matches is the name of a task, which shows the purpose.
    Task,
    /// The last word that the rule matches is a file to run, whose name shows the purpose.
    Run,
    /// The words after the program determine the purpose.
    Words,
}

/// The domain in which a command works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Where {
    /// The domain is always this one.
    Fixed(ToolDomain),
    /// The files among the arguments determine the domain.
    File,
}

/// One known program.
#[derive(Default)]
pub struct Program {
    /// The options that take a value.
    pub takes: Vec<String>,
    /// Whether the program's first argument is a pattern or a script, not a file.
    pub first_is_pattern: bool,
    /// Whether the program has subcommands.
    pub has_subcommands: bool,
    rules: Vec<Rule>,
    wrapper_rules: Vec<WrapperRule>,
}

/// A way in which a program runs another command.
struct WrapperRule {
    words: Vec<Vec<String>>,
    skip: usize,
}

impl Program {
    /// Returns the program `name`, which may be a path.
    pub fn named(name: &str) -> Option<&'static Program> {
        static TABLE: LazyLock<HashMap<String, Program>> =
            LazyLock::new(|| read(include_str!("programs.txt")).expect("a test checks the table"));
        TABLE.get(base_name(name).as_str())
    }

    /// Returns the rule that fits best.
    pub fn rule(&self, args: &Args) -> Option<&Rule> {
        let fitting = self.rules.iter().filter(|rule| rule.fits(args));
        fitting.max_by_key(|rule| rule.precision())
    }

    /// Returns the number of words between this program and the command that the program runs: the
    /// words that the rule requires (`run` of `uv run`), and the further words to skip. Returns
    /// `None` if the program runs no command.
    pub(crate) fn leads_to_command(&self, args: &Args) -> Option<(usize, usize)> {
        let fitting = self.wrapper_rules.iter().filter(|rule| words_fit(&rule.words, args));
        fitting.max_by_key(|rule| rule.words.len()).map(|rule| (rule.words.len(), rule.skip))
    }
}

impl Rule {
    /// Returns the number of words that the rule requires after the program.
    pub fn depth(&self) -> usize {
        self.words.len()
    }

    fn fits(&self, args: &Args) -> bool {
        words_fit(&self.words, args)
            && self.flags.iter().all(|flags| flags.iter().any(|flag| args.has(flag)))
    }

    /// Returns how exact the rule is: a fixed word counts more than an option, and an option counts
    /// more than `*`.
    fn precision(&self) -> usize {
        let named = self.words.iter().filter(|words| words[0] != "*").count();
        100 * named + 10 * self.flags.len() + self.words.len()
    }
}

fn words_fit(words: &[Vec<String>], args: &Args) -> bool {
    words.len() <= args.positionals.len()
        && words.iter().zip(&args.positionals).all(|(words, given)| {
            let given = given.rsplit('/').next().unwrap_or(given);
            words.iter().any(|word| word == "*" || word == given)
        })
}

/// Returns the program's name in lower case, without its folder, its version (`eslint@9`) and the
/// extensions `.exe` and `.cmd`. Names such as `python3.12` become `python3`.
pub fn base_name(name: &str) -> String {
    let name = name.trim_end_matches(['/', '\\']);
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let name = match name.find('@') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    };
    let name = name.to_lowercase();
    let bare = name.strip_suffix(".exe").or(name.strip_suffix(".cmd")).unwrap_or(&name);
    match bare.strip_prefix("python3.").or(bare.strip_prefix("python2.")) {
        Some(_) => "python3".to_owned(),
        None => bare.to_owned(),
    }
}

fn read(table: &str) -> Result<HashMap<String, Program>, String> {
    let mut programs: HashMap<String, Program> = HashMap::new();
    for line in
        table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(rest) = line.strip_prefix("takes ") {
            let mut words = rest.split_whitespace().map(str::to_owned);
            let name = words.next().ok_or("no program after `takes`")?;
            programs.entry(name).or_default().takes.extend(words);
        } else if let Some(rest) = line.strip_prefix("pattern ") {
            for name in rest.split_whitespace() {
                programs.entry(name.to_owned()).or_default().first_is_pattern = true;
            }
        } else {
            read_rule(line, &mut programs).map_err(|problem| format!("`{line}`: {problem}"))?;
        }
    }
    Ok(programs)
}

fn read_rule(line: &str, programs: &mut HashMap<String, Program>) -> Result<(), String> {
    let (left, right) = line.rsplit_once(" = ").ok_or("no `=`")?;
    let mut conditions = left.split_whitespace();
    let names = conditions.next().ok_or("no program")?;
    let (flags, words): (Vec<&str>, Vec<&str>) = conditions.partition(|word| word.starts_with('-'));
    let alternatives = |words: Vec<&str>| -> Vec<Vec<String>> {
        words.into_iter().map(|word| word.split('|').map(str::to_owned).collect()).collect()
    };
    let (flags, words) = (alternatives(flags), alternatives(words));
    let mut properties = right.split_whitespace();
    let purpose = properties.next().ok_or("no purpose")?;
    for name in names.split('|').map(str::to_lowercase) {
        let shown = left.replacen(names, &name, 1);
        let program = programs.entry(name).or_default();
        program.has_subcommands |= words.iter().flatten().any(|word| word != "*");
        if purpose == "inner" {
            let skip = properties.clone().find_map(|word| word.strip_prefix("skip:"));
            let skip = skip.map_or(Ok(0), str::parse).map_err(|_| "`skip` is not a number")?;
            program.wrapper_rules.push(WrapperRule { words: words.clone(), skip });
            continue;
        }
        let mut rule = Rule {
            words: words.clone(),
            flags: flags.clone(),
            purpose: read_purpose(purpose)?,
            domain: Where::Fixed(ToolDomain::Unknown),
            effort: None,
            signals: None,
            name: shown,
        };
        properties.clone().try_for_each(|word| read_property(word, &mut rule))?;
        program.rules.push(rule);
    }
    Ok(())
}

fn read_purpose(word: &str) -> Result<Purpose, String> {
    match word {
        "task" => Ok(Purpose::Task),
        "run" => Ok(Purpose::Run),
        "words" => Ok(Purpose::Words),
        intent => {
            ToolIntent::parse(intent).map(Purpose::Fixed).ok_or(format!("unknown purpose {intent}"))
        }
    }
}

fn read_property(word: &str, rule: &mut Rule) -> Result<(), String> {
    match word {
        "file" => rule.domain = Where::File,
        "trivial" => rule.effort = Some(Effort::Trivial),
        "look" => rule.effort = Some(Effort::Look),
        "prep" => rule.effort = Some(Effort::Housekeeping),
        "work" => rule.effort = Some(Effort::Work),
        "silent" => rule.signals = Some(Signals::default()),
        _ => match (ToolDomain::parse(word), read_signals(word)) {
            (Some(domain), _) => rule.domain = Where::Fixed(domain),
            (None, Some(signals)) => rule.signals = Some(signals),
            (None, None) => return Err(format!("unknown property {word}")),
        },
    }
    Ok(())
}

fn read_signals(text: &str) -> Option<Signals> {
    let signal = |pair: &str| {
        let (activity, amount) = pair.split_once(':')?;
        Some((Activity::parse(activity)?, amount.parse::<f64>().ok()?))
    };
    text.split(',').map(signal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let program = Program::named(&words[0]).expect("known");
        let args = Args::of(&words[1..], &program.takes);
        program.rule(&args).map_or(String::new(), |rule| rule.name.clone())
    }

    #[test]
    fn every_line_of_the_table_can_be_read() {
        let programs = read(include_str!("programs.txt")).expect("readable");
        assert!(programs.len() > 900, "{}", programs.len());
        assert!(programs.values().map(|program| program.rules.len()).sum::<usize>() > 2_000);
        for (name, program) in &programs {
            assert!(
                !program.rules.is_empty() || !program.wrapper_rules.is_empty(),
                "{name} has options but no rule"
            );
        }
    }

    #[test]
    fn a_line_of_the_table_that_cannot_be_read_is_an_error() {
        for line in [
            "git status",
            "git = look version_control",
            "git = read somewhere",
            "x = read testing:a",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn the_most_exact_rule_is_used() {
        for (line, expected) in [
            ("git branch", "git branch"),
            ("git branch topic", "git branch *"),
            ("git -C /x branch -D topic", "git branch -d|-D|--delete"),
            ("cargo fmt --all -- --check", "cargo fmt --check"),
            ("npm run lint", "npm run|run-script|rum *"),
            ("/usr/bin/git-lfs", "git-lfs"),
            ("sed -i.bak s/a/b/ x", "sed -i|--in-place"),
        ] {
            assert!(rule(line).starts_with(expected), "{line}: {}", rule(line));
        }
    }

    #[test]
    fn a_programs_name_has_no_folder_version_or_extension() {
        for (name, base) in [
            ("/usr/bin/git", "git"),
            ("python3.12", "python3"),
            ("create-next-app@latest", "create-next-app"),
            ("@scope/tool@1.2", "tool"),
            ("Git.EXE", "git"),
            ("./node_modules/.bin/tsc", "tsc"),
        ] {
            assert_eq!(base_name(name), base);
        }
    }
}
