//! Finds the commands that change something outside of the repository: systems, databases, and the
//! reviews and issues of a forge.
//!
//! The programs and their subcommands are in `outside.txt`. The caller checks whether the
//! command succeeded.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::{
    model::evidence::OutsideKind,
    summarize::evidence::{
        bounds,
        shell::{
            kind::Invocation,
            texts::values,
            words::{SimpleCommand, simple_commands},
        },
    },
    text::{kept, one_line, pattern},
};

const PROGRAMS: &str = include_str!("outside.txt");
/// Programs that send SQL to a server.
const SQL_CLIENTS: &[&str] = &["psql", "mysql", "mariadb", "cockroach", "sqlcmd", "snowsql"];
/// Options of these programs whose value is a statement.
const STATEMENTS: &[&str] = &["-c", "--command", "-e", "--execute", "-Q", "-q"];
/// Options that are followed by a value. The value is no operand.
const WITH_VALUE: &[&str] = &[
    "-n",
    "--namespace",
    "--context",
    "--kube-context",
    "--kubeconfig",
    "--profile",
    "--region",
    "--project",
    "-i",
    "--inventory",
    "-l",
    "--limit",
    "-t",
    "--tags",
    "-h",
    "--host",
    "-U",
    "-u",
    "--user",
    "--username",
    "-p",
    "--port",
    "-P",
    "-v",
    "--variable",
    "-R",
    "--repo",
];
/// Options with which a command changes nothing.
const HARMLESS: &[&str] = &[
    "--dry-run",
    "--dryrun",
    "--check",
    "--syntax-check",
    "--list-tasks",
    "--list-hosts",
    "--help",
    "--local",
];

/// A command that changes something outside of the repository if it succeeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::summarize::evidence) struct OutsideStep {
    pub(in crate::summarize::evidence) kind: OutsideKind,
    /// What is changed, as in [`crate::model::evidence::OutsideChange::object`].
    pub(in crate::summarize::evidence) object: String,
    pub(in crate::summarize::evidence) text: String,
    /// Whether the object is removed.
    pub(in crate::summarize::evidence) removes: bool,
}

pub(super) fn steps(commands: &[SimpleCommand]) -> Vec<OutsideStep> {
    let invocations = commands.iter().filter_map(|one| Some((one, Invocation::of(one)?)));
    invocations.flat_map(|(command, invocation)| steps_of(command, &invocation)).collect()
}

fn steps_of(command: &SimpleCommand, invocation: &Invocation<'_>) -> Vec<OutsideStep> {
    let is_harmless = |word: &&str| {
        HARMLESS.contains(&word.split('=').next().unwrap_or(word)) && !word.ends_with("=none")
    };
    if invocation.arguments.iter().any(is_harmless) {
        return Vec::new();
    }
    if invocation.program == "ssh" {
        return on_host(invocation);
    }
    if SQL_CLIENTS.contains(&invocation.program) {
        return sql(command, invocation);
    }
    verdict(invocation)
        .or_else(|| resolved_threads(invocation))
        .or_else(|| issue(invocation))
        .or_else(|| call(invocation))
        .into_iter()
        .collect()
}

/// Returns the changes of the command that `ssh` runs on another machine.
fn on_host(invocation: &Invocation<'_>) -> Vec<OutsideStep> {
    let Some(at) = invocation.arguments.iter().position(|word| !word.starts_with('-')) else {
        return Vec::new();
    };
    let (host, line) = (invocation.arguments[at], invocation.arguments[at + 1..].join(" "));
    let mut found = steps(&simple_commands(&line));
    for step in &mut found {
        step.object.push_str(&format!(" on {host}"));
        step.text.push_str(&format!(" on `{host}`"));
    }
    found
}

/// Returns the change of a program in `outside.txt`.
fn call(invocation: &Invocation<'_>) -> Option<OutsideStep> {
    static RULES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
        let lines = PROGRAMS.lines().filter(|line| !line.starts_with('#'));
        let rules = lines.filter_map(|line| line.split_once(' '));
        rules
            .map(|(program, operands)| {
                (program, Regex::new(operands).expect("the table has valid expressions"))
            })
            .collect()
    });
    let operands = operands(invocation);
    let line = operands.join(" ");
    let is_rule =
        |(program, rule): &&(&str, Regex)| *program == invocation.program && rule.is_match(&line);
    RULES.iter().find(is_rule)?;
    // A later call with another number or value changes the same object.
    let names = operands.iter().filter(|word| word.parse::<f64>().is_err());
    let names = names.map(|word| word.split('=').next().unwrap_or(word));
    let object = names.collect::<Vec<_>>().join(" ");
    // The other operands are secret values.
    let arguments = match pattern!(r"secret|config:set|variable").is_match(&line) {
        true => object.split(' ').take(3).collect::<Vec<_>>().join(" "),
        false => invocation.arguments.join(" "),
    };
    Some(OutsideStep {
        kind: OutsideKind::System,
        object: format!("{} {object}", invocation.program),
        text: code(&format!("{} {arguments}", invocation.program)),
        removes: false,
    })
}

/// Returns the arguments that are neither options nor the values of common options.
fn operands<'s>(invocation: &Invocation<'s>) -> Vec<&'s str> {
    let mut found = Vec::new();
    let mut words = invocation.arguments.iter().copied();
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            found.push(word);
        }
    }
    found
}

/// Returns the changes of the SQL statements in the options and the here-document of a command.
fn sql(command: &SimpleCommand, invocation: &Invocation<'_>) -> Vec<OutsideStep> {
    let given = values(&invocation.arguments, STATEMENTS);
    let texts: Vec<&str> = given.iter().copied().chain([command.document.as_str()]).collect();
    if texts.iter().any(|text| pattern!(r"(?i)\brollback\b").is_match(text)) {
        return Vec::new();
    }
    let named = values(&invocation.arguments, &["-d", "--dbname", "-D", "--database"]);
    let database = named.first().copied().or_else(|| {
        let mut names = operands(invocation).into_iter();
        names.find(|word| !given.contains(word) && pattern!(r"^[\w.-]+$").is_match(word))
    });
    let target = match database {
        Some(database) => format!("{} {database}", invocation.program),
        None => invocation.program.to_owned(),
    };
    let statements = texts.iter().flat_map(|text| text.split(';')).map(one_line);
    statements.filter_map(|statement| of_statement(&statement, &target)).collect()
}

fn of_statement(statement: &str, target: &str) -> Option<OutsideStep> {
    let changes = pattern!(
        r"(?i)^(?:create|alter|drop|truncate|grant|revoke|insert into|update|delete from) |^select pg_(?:terminate|cancel)_backend\b"
    );
    let is_temporary =
        pattern!(r"(?i)^create (?:or replace )?(?:(?:global|local) )?temp(?:orary)? ");
    if !changes.is_match(statement) || is_temporary.is_match(statement) {
        return None;
    }
    let defines = pattern!(
        r#"(?i)^(create|alter|drop) (?:or replace |unique |materialized |foreign |concurrently )*(\w+) (?:concurrently )?(?:if (?:not )?exists )?([\w."$-]+)(?:.*? ((?:re)?set|(?:add|alter|drop) (?:column|constraint)|rename to) (?:if (?:not )?exists )?([\w."]+))?"#
    );
    // An index may have no name.
    let named = defines.captures(statement).filter(|found| !found[3].eq_ignore_ascii_case("on"));
    let (object, removes) = match named {
        Some(found) => {
            let plain = |name: &str| name.rsplit('.').next().unwrap_or(name).replace('"', "");
            let part =
                found.get(5).map_or(String::new(), |part| format!(" {}", plain(part.as_str())));
            let object = format!("{} {}{part}", &found[2], plain(&found[3]));
            (object.to_lowercase(), found[1].eq_ignore_ascii_case("drop"))
        }
        None => (statement.to_lowercase(), false),
    };
    let password = pattern!(r"(?i)\b(?:password|identified by) .*$");
    let text = password.replace(statement, "…");
    Some(OutsideStep {
        kind: OutsideKind::System,
        object: format!("{target}: {object}"),
        text: format!("{} ({target})", code(&text)),
        removes,
    })
}

/// Returns the verdict of a review that a command submits: an approval, a withdrawn approval or
/// requested changes.
fn verdict(invocation: &Invocation<'_>) -> Option<OutsideStep> {
    let operands = operands(invocation);
    let number = operands.get(2).and_then(|word| {
        pattern!(r"^(?:#|!|https://\S+/)?([0-9]+)$").captures(word).map(|found| found[1].to_owned())
    });
    let request =
        number.map_or("the pull request".to_owned(), |number| format!("pull request #{number}"));
    let has = |options: [&str; 2]| options.iter().any(|option| invocation.has(option));
    let text = match (invocation.program, operands.first()?, operands.get(1)?) {
        ("gh", &"pr", &"review") if has(["--approve", "-a"]) => format!("Approved {request}"),
        ("gh", &"pr", &"review") if has(["--request-changes", "-r"]) => {
            format!("Requested changes of {request}")
        }
        ("glab", &"mr", &"approve") => format!("Approved {request}"),
        ("glab", &"mr", &"revoke") => format!("Revoked the approval of {request}"),
        _ => return None,
    };
    Some(OutsideStep {
        kind: OutsideKind::Forge,
        object: format!("review of {request}"),
        text,
        removes: false,
    })
}

/// Returns the change of a call that marks threads of a review as resolved.
fn resolved_threads(invocation: &Invocation<'_>) -> Option<OutsideStep> {
    let calls = invocation.program == "gh" && operands(invocation).starts_with(&["api", "graphql"]);
    let resolves = || {
        let mut arguments = invocation.arguments.iter();
        arguments.any(|word| pattern!(r"\bresolveReviewThread\s*\(").is_match(word))
    };
    (calls && resolves()).then(|| OutsideStep {
        kind: OutsideKind::Forge,
        object: "threads of a review".to_owned(),
        text: "Resolved threads of the review".to_owned(),
        removes: false,
    })
}

/// Returns the issue that a command opens.
fn issue(invocation: &Invocation<'_>) -> Option<OutsideStep> {
    let is_forge = matches!(invocation.program, "gh" | "glab");
    if !is_forge || !operands(invocation).starts_with(&["issue", "create"]) {
        return None;
    }
    let title = values(&invocation.arguments, &["--title", "-t"]).first().copied()?;
    let title = kept(&one_line(title), bounds::OUTSIDE_CHANGE);
    Some(OutsideStep {
        kind: OutsideKind::Forge,
        object: format!("issue {title}"),
        text: format!("Opened the issue “{title}”"),
        removes: false,
    })
}

/// Formats a command or a statement.
fn code(text: &str) -> String {
    format!("`{}`", kept(&one_line(text).replace('`', "'"), bounds::OUTSIDE_CHANGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        steps(&simple_commands(line)).into_iter().map(|step| step.text).collect()
    }

    #[test]
    fn commands_that_change_systems_are_found() {
        for (line, wanted) in [
            (
                "kubectl -n prod scale deploy/report --replicas=3",
                "`kubectl -n prod scale deploy/report --replicas=3`",
            ),
            ("cd infra && terraform apply -auto-approve", "`terraform apply -auto-approve`"),
            ("ssh gw1 sudo systemctl restart nginx", "`systemctl restart nginx` on `gw1`"),
            (
                "aws --profile live ecs update-service --cluster a --service b --desired-count 3",
                "`aws --profile live ecs update-service --cluster a --service b --desired-count 3`",
            ),
            ("gh workflow run deploy.yml", "`gh workflow run deploy.yml`"),
            ("git push && make deploy", "`make deploy`"),
            ("ENV=live npm run deploy:api", "`npm run deploy:api`"),
            ("gh secret set KEY --body abc", "`gh secret set KEY`"),
            (
                "psql prod -c \"ALTER ROLE report SET work_mem = '64MB'\"",
                "`ALTER ROLE report SET work_mem = '64MB'` (psql prod)",
            ),
            ("psql -h db <<'EOF'\nDROP TABLE a;\nSELECT 1;\nEOF", "`DROP TABLE a` (psql)"),
            ("psql x -c \"ALTER ROLE r PASSWORD 'abc'\"", "`ALTER ROLE r …` (psql x)"),
            ("gh pr review 412 --request-changes -b x", "Requested changes of pull request #412"),
            ("gh pr review --approve", "Approved the pull request"),
            (
                "gh api graphql -f query='mutation { resolveReviewThread(input: {threadId: \"x\"}) { thread { isResolved } } }'",
                "Resolved threads of the review",
            ),
        ] {
            assert_eq!(texts(line), [wanted], "{line}");
        }
    }

    #[test]
    fn commands_that_only_read_or_plan_are_left_out() {
        for line in [
            "kubectl get pods",
            "make test",
            "kubectl apply -f a.yaml --dry-run=server",
            "terraform plan",
            "ansible-playbook site.yml --check",
            "aws s3 ls",
            "aws ec2 describe-instances",
            "systemctl status nginx",
            "psql x -c 'select * from updates'",
            "psql x -c 'begin; update a set b = 1; rollback'",
            "gh pr review 7 --comment -b nice",
            "gh run view 7",
        ] {
            assert_eq!(texts(line), Vec::<String>::new(), "{line}");
        }
    }
}
