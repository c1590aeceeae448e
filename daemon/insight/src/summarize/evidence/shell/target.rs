//! Determines the folder and the package that a command line works on.

use crate::{
    model::project::Project,
    summarize::evidence::{
        bounds,
        shell::{
            kind::{Invocation, InvocationKind},
            words::SimpleCommand,
            working_directory::WorkingDirectory,
        },
    },
    text::kept,
};

pub(super) struct CommandTarget {
    /// The directory in which the first command of the kind [`InvocationKind::Works`] runs. If no
    /// command is of this kind, the directory after the last command.
    pub(super) directory: String,
    pub(super) package: Option<String>,
}

/// Returns the target of `commands`, which run one after the other from `directory`.
pub(super) fn of(commands: &[SimpleCommand], directory: &str) -> CommandTarget {
    // In an unknown folder, the last known directory is the best guess.
    let mut known = directory.to_owned();
    let mut directory = WorkingDirectory::new(directory);
    for command in commands {
        directory.advance_to(command);
        let changes_directory = directory.run(command);
        if directory.is_known() {
            directory.current().clone_into(&mut known);
        }
        let Some(invocation) = Invocation::of(command) else { continue };
        if !changes_directory && invocation.kind() == InvocationKind::Works {
            // The options of a wrapper may contain the package: `pnpm --filter api exec tsc`.
            let wrapper: Vec<&str> = command.texts().collect();
            let wrapper = wrapper.split_first().map(|(program, rest)| package(program, rest));
            let package = package(invocation.program, &invocation.arguments).or(wrapper.flatten());
            return CommandTarget { directory: known, package };
        }
    }
    CommandTarget { directory: known, package: None }
}

/// Returns a directory relative to `home`. Returns `None` for `home` itself, and for directories
/// outside of `home`.
pub(in crate::summarize::evidence) fn below(directory: &str, home: &str) -> Option<String> {
    let home = Project::new(home);
    let rest = Some(home.relative(directory)).filter(|rest| rest.len() < directory.len())?;
    let rest = rest.trim_end_matches(['/', '\\']);
    (!rest.is_empty()).then(|| kept(rest, bounds::NAME))
}

/// Returns the package, or the folder of the package, in the options of a package manager, a
/// compiler or a build tool.
fn package(program: &str, arguments: &[&str]) -> Option<String> {
    let options: &[&str] = match program {
        "pnpm" | "turbo" | "bun" => &["--filter", "-F", "-C", "--dir", "--cwd"],
        "npm" => &["--workspace", "-w", "--prefix"],
        "yarn" => &["workspace", "--cwd"],
        "cargo" => &["--package", "-p"],
        "tsc" | "vue-tsc" => &["--project", "-p"],
        "make" => &["-C"],
        "mvn" | "mvnw" => &["-pl"],
        _ => return None,
    };
    let mut words = arguments.iter().copied();
    let named = words.find_map(|word| {
        let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
        options.contains(&name).then_some(value)
    })?;
    let named = named.or_else(|| words.next())?;
    // The configuration file is in the folder of the package.
    let named = named.rsplit_once("/tsconfig").map_or(named, |(folder, _)| folder);
    let is_own = named.starts_with("tsconfig") || matches!(named, "." | "./");
    (!is_own).then(|| kept(named.trim_end_matches('/'), bounds::NAME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::evidence::shell::words::simple_commands;

    #[test]
    fn the_directory_and_the_package_are_found() {
        for (line, directory, package) in [
            ("cd apps/web && npx tsc --noEmit | head", "/app/apps/web", None),
            ("pnpm --filter api exec tsc --noEmit", "/app", Some("api")),
            ("npx tsc --noEmit -p apps/api/tsconfig.json", "/app", Some("apps/api")),
            ("npx tsc -p tsconfig.json", "/app", None),
            ("cargo check -p core", "/app", Some("core")),
            ("npm run build --workspace=web", "/app", Some("web")),
            ("git status", "/app", None),
            ("(cd web && ls) && make", "/app", None),
            ("cd && make", "~", None),
            ("cd web && ls && cd - && make", "/app", None),
            ("cd web && git status && cd -", "/app", None),
            ("cd packages/$p && git log", "/app", None),
        ] {
            let target = of(&simple_commands(line), "/app");
            assert_eq!(
                (target.directory.as_str(), target.package.as_deref()),
                (directory, package),
                "{line}"
            );
        }
    }
}
