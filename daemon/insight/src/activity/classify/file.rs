//! Classifies a file by its path alone.

use crate::model::tool::ToolDomain;

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Tests, fixtures, snapshots.
    Test,
    /// Documentation, and instructions for agents.
    Document,
    /// Files with the dependencies of a project.
    Package,
    /// Settings of programs, builds and services.
    Settings,
    /// Schemas, queries, database files.
    Database,
    /// The agent's own plans and memory.
    Plan,
    /// Source code and scripts.
    Code,
    /// Data, images, logs, and unknown files.
    Other,
}

impl FileKind {
    pub(crate) fn of(path: &str) -> FileKind {
        let path = path.trim_end_matches(['/', '\\']).replace('\\', "/").to_lowercase();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if is_plan(&path, name) {
            FileKind::Plan
        } else if is_manifest(name) {
            FileKind::Package
        } else if is_document(folder, name, extension) {
            FileKind::Document
        } else if is_test(folder, name) {
            FileKind::Test
        } else if DATABASE.contains(&extension) {
            FileKind::Database
        } else if is_settings(name, extension) {
            FileKind::Settings
        } else if CODE.contains(&extension) || is_script(folder, name) {
            FileKind::Code
        } else {
            FileKind::Other
        }
    }

    /// Returns the domain of a call that reads or changes a file of this kind.
    pub(crate) fn domain(self) -> ToolDomain {
        match self {
            FileKind::Test => ToolDomain::Testing,
            FileKind::Document => ToolDomain::Documentation,
            FileKind::Package => ToolDomain::Package,
            FileKind::Settings | FileKind::Other => ToolDomain::Filesystem,
            FileKind::Database => ToolDomain::Database,
            FileKind::Plan => ToolDomain::Memory,
            FileKind::Code => ToolDomain::Code,
        }
    }

    /// Returns the domain of a search in files of this kind: [`Self::domain`] for documents, tests,
    /// packages and databases, and `Code` for all other kinds.
    pub(crate) fn search_domain(self) -> ToolDomain {
        match self {
            FileKind::Document | FileKind::Test | FileKind::Package | FileKind::Database => {
                self.domain()
            }
            FileKind::Settings | FileKind::Plan | FileKind::Code | FileKind::Other => {
                ToolDomain::Code
            }
        }
    }
}

fn is_plan(path: &str, name: &str) -> bool {
    const FOLDERS: [&str; 4] =
        ["/.claude/plans/", "/.cursor/plans/", "/.codex/memories/", "/.serena/memories/"];
    FOLDERS.iter().any(|folder| path.contains(folder))
        || (path.contains("/.claude/") && path.contains("/memory/"))
        || name == "memory.md"
}

fn is_manifest(name: &str) -> bool {
    const NAMES: [&str; 34] = [
        "package.json",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "pnpm-workspace.yaml",
        "yarn.lock",
        "bun.lock",
        "bun.lockb",
        "deno.lock",
        "cargo.toml",
        "cargo.lock",
        "go.mod",
        "go.sum",
        "go.work",
        "pyproject.toml",
        "poetry.lock",
        "uv.lock",
        "pipfile",
        "pipfile.lock",
        "setup.py",
        "setup.cfg",
        "environment.yml",
        "gemfile",
        "gemfile.lock",
        "composer.json",
        "composer.lock",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "mix.exs",
        "pubspec.yaml",
        "package.swift",
        "brewfile",
        "flake.lock",
    ];
    NAMES.contains(&name)
        || (name.starts_with("requirements") && name.ends_with(".txt"))
        || name.ends_with(".csproj")
        || name.ends_with(".gemspec")
}

fn is_document(folder: &str, name: &str, extension: &str) -> bool {
    const EXTENSIONS: [&str; 10] =
        ["md", "mdx", "mdc", "markdown", "rst", "adoc", "txt", "tex", "org", "docx"];
    const NAMES: [&str; 8] =
        ["readme", "license", "changelog", "contributing", "authors", "notice", "copying", "todo"];
    let in_docs = || {
        folder.split('/').chain([name]).any(|part| matches!(part, "docs" | "doc" | "documentation"))
    };
    if name == "cmakelists.txt" || name == "robots.txt" {
        return false;
    }
    EXTENSIONS.contains(&extension)
        || NAMES.contains(&name)
        || (in_docs() && ["html", "pdf", "svg", "png", ""].contains(&extension))
}

fn is_test(folder: &str, name: &str) -> bool {
    const FOLDERS: [&str; 12] = [
        "test",
        "tests",
        "__tests__",
        "testing",
        "e2e",
        "spec",
        "specs",
        "testdata",
        "fixtures",
        "__snapshots__",
        "__mocks__",
        "cypress",
    ];
    const PARTS: [&str; 6] = ["_test.", ".test.", "_spec.", ".spec.", ".e2e.", "_tests."];
    const NAMES: [&str; 9] = [
        "conftest.py",
        "test.py",
        "tests.py",
        "tests.rs",
        "test.rs",
        "pytest.ini",
        "tox.ini",
        "test.ts",
        "test.js",
    ];
    let test_folder = |part: &str| {
        FOLDERS.contains(&part)
            || part.ends_with("_test")
            || part.ends_with("_tests")
            || part.ends_with("-tests")
    };
    folder.split('/').chain([name]).any(test_folder)
        || name.starts_with("test_")
        || name.ends_with(".snap")
        || NAMES.contains(&name)
        || PARTS.iter().any(|part| name.contains(part))
        || ["jest.config", "vitest.config", "playwright.config", "karma.conf"]
            .iter()
            .any(|config| name.starts_with(config))
}

fn is_settings(name: &str, extension: &str) -> bool {
    const EXTENSIONS: [&str; 19] = [
        "json",
        "jsonc",
        "json5",
        "yaml",
        "yml",
        "toml",
        "ini",
        "cfg",
        "conf",
        "config",
        "env",
        "properties",
        "plist",
        "xml",
        "tf",
        "tfvars",
        "hcl",
        "service",
        "nix",
    ];
    const NAMES: [&str; 18] = [
        "dockerfile",
        "containerfile",
        "makefile",
        "justfile",
        "rakefile",
        "procfile",
        "jenkinsfile",
        "vagrantfile",
        "caddyfile",
        "codeowners",
        "cmakelists.txt",
        "robots.txt",
        ".gitignore",
        ".gitattributes",
        ".dockerignore",
        ".editorconfig",
        ".npmrc",
        ".nvmrc",
    ];
    EXTENSIONS.contains(&extension)
        || NAMES.contains(&name)
        || name.starts_with(".env")
        || name.starts_with("dockerfile.")
        || name.starts_with("tsconfig")
        || name.contains(".config.")
        || (name.starts_with('.') && name.ends_with("rc"))
        || name.ends_with("ignore")
}

fn is_script(folder: &str, name: &str) -> bool {
    const FOLDERS: [&str; 6] = ["bin", "scripts", "script", "tools", "hack", "tasks"];
    !name.contains('.')
        && folder.split('/').any(|part| FOLDERS.contains(&part) || part.ends_with("-tasks"))
}

const DATABASE: [&str; 7] = ["sql", "prisma", "db", "sqlite", "sqlite3", "duckdb", "cypher"];

const CODE: [&str; 76] = [
    "rs", "go", "py", "pyi", "ipynb", "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue",
    "svelte", "astro", "html", "htm", "css", "scss", "sass", "less", "java", "kt", "kts", "scala",
    "groovy", "gradle", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm", "swift", "cs", "fs",
    "vb", "rb", "erb", "php", "pl", "pm", "lua", "r", "jl", "dart", "ex", "exs", "erl", "hs", "ml",
    "mli", "clj", "cljs", "elm", "zig", "nim", "v", "sol", "proto", "graphql", "gql", "sh", "bash",
    "zsh", "fish", "ps1", "bat", "cmd", "awk", "wasm", "j2",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_determines_the_kind_of_a_file() {
        for (path, kind) in [
            ("/home/dev/app/src/main.rs", FileKind::Code),
            ("src/parser_test.go", FileKind::Test),
            ("tests/common/mod.rs", FileKind::Test),
            ("web/login.spec.ts", FileKind::Test),
            ("test_login.py", FileKind::Test),
            ("integration_test/hooks.go", FileKind::Test),
            ("src/contest.rs", FileKind::Code),
            ("src/latest_test_run.rs", FileKind::Code),
            ("docs/specs/parser.md", FileKind::Document),
            ("tests/README.md", FileKind::Document),
            ("LICENSE", FileKind::Document),
            ("Cargo.toml", FileKind::Package),
            ("requirements-dev.txt", FileKind::Package),
            (".env.local", FileKind::Settings),
            ("deploy/Dockerfile", FileKind::Settings),
            ("next.config.js", FileKind::Settings),
            ("migrations/0001_init.sql", FileKind::Database),
            ("/home/dev/.claude/plans/quiet-otter.md", FileKind::Plan),
            ("scripts/deploy", FileKind::Code),
            ("data/report.csv", FileKind::Other),
            (r"C:\work\app\src\Program.cs", FileKind::Code),
            ("", FileKind::Other),
        ] {
            assert_eq!(FileKind::of(path), kind, "{path}");
        }
    }
}
