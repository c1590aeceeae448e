//! Determines whether a file contains settings, and their syntax.

/// The syntax of a file that contains settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Yaml,
    Toml,
    Ini,
    Env,
    Properties,
    Dockerfile,
    /// Assignments of literals in a program's configuration.
    Code,
}

impl Syntax {
    /// Returns the syntax of the file at `path`; `None` if people do not write settings in it. For a
    /// file in the directory of the session, `path` is relative to this directory.
    pub(super) fn of(path: &str) -> Option<Syntax> {
        let path = path.replace('\\', "/");
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let name = name.to_ascii_lowercase();
        if is_sample(&name) {
            return None;
        }
        if is_generated(&name) || folders.split('/').any(|folder| DATA_FOLDERS.contains(&folder)) {
            return None;
        }
        if name == ".env" || name.starts_with(".env.") || name.ends_with(".env") {
            return Some(Syntax::Env);
        }
        if name.starts_with("dockerfile") || name.ends_with(".dockerfile") {
            return Some(Syntax::Dockerfile);
        }
        let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
        match extension {
            "json" | "jsonc" | "json5" => Some(Syntax::Json),
            "yaml" | "yml" => Some(Syntax::Yaml),
            "toml" => Some(Syntax::Toml),
            "ini" | "cfg" | "conf" | "editorconfig" | "npmrc" | "service" | "gitconfig" => {
                Some(Syntax::Ini)
            }
            "properties" => Some(Syntax::Properties),
            "eslintrc" | "prettierrc" | "babelrc" | "swcrc" => Some(Syntax::Json),
            "py" | "js" | "ts" | "mjs" | "cjs" | "mts" | "cts" | "rb" | "go" | "rs" | "php" => {
                is_configuration(stem).then_some(Syntax::Code)
            }
            _ => None,
        }
    }
}

/// Folders with generated files, copies, or files of third parties.
const DATA_FOLDERS: &[&str] = &[
    "node_modules",
    "fixtures",
    "testdata",
    "__snapshots__",
    "__fixtures__",
    "locales",
    "locale",
    "i18n",
    "translations",
    "dist",
    "vendor",
    "target",
    "tool-results",
    "messages",
    "golden",
    "generated",
    "__generated__",
    "schemas",
    "coverage",
    "build",
    ".next",
];

fn is_generated(name: &str) -> bool {
    const LOCKS: &[&str] = &[
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "composer.lock",
        "deno.lock",
        "openapi.json",
        "openapi.yaml",
        "swagger.json",
        "schema.json",
        "go.sum",
        "packages.lock.json",
    ];
    LOCKS.contains(&name)
        || name.ends_with(".lock")
        || name.ends_with("-lock.json")
        || name.ends_with(".tsbuildinfo")
        || [".schema.", ".generated.", ".gen."].iter().any(|mark| name.contains(mark))
        || name.ends_with(".min.json")
        || name.ends_with(".map")
}

/// Whether a file is an example, which only documents the settings.
fn is_sample(name: &str) -> bool {
    [".example", ".sample", ".template", ".dist"].iter().any(|ending| name.ends_with(ending))
}

fn is_configuration(stem: &str) -> bool {
    const NAMES: &[&str] =
        &["config", "settings", "conf", "constants", "configuration", "defaults"];
    NAMES.contains(&stem)
        || stem.ends_with(".config")
        || stem.ends_with("_config")
        || stem.ends_with("_settings")
}
