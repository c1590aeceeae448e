//! Tests that none of the instructions in `injections.tsv` reaches the next agent outside of a
//! quote.

use graphiti_tests::{Daemon, McpHost, World};
use serde_json::{Value, json};

use crate::{
    quotes::{texts, unquoted},
    steering::handoff_at_start,
};

/// Number of consecutive characters that count as a match in a language without spaces between
/// words.
const MATCHING_CHARS: usize = 6;
/// Number of consecutive words that count as a match in other languages.
const MATCHING_WORDS: usize = 3;

/// An instruction, and the way by which it gets into a transcript.
struct Injection {
    number: usize,
    language: &'static str,
    way: &'static str,
    instruction: &'static str,
}

fn injections() -> Vec<Injection> {
    let lines = include_str!("injections.tsv").lines();
    let lines = lines.filter(|line| !line.starts_with('#')).enumerate();
    let injection = |(number, line): (usize, &'static str)| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap();
        Injection { number, language: field(), way: field(), instruction: field() }
    };
    lines.map(injection).collect()
}

impl Injection {
    fn session(&self) -> String {
        format!("audit-{}", self.number)
    }

    fn project(&self) -> String {
        format!("/home/ann/audit{}", self.number)
    }

    /// Returns the parts by which the instruction is recognised. In languages with spaces between
    /// words, a name cannot contain such a part.
    fn parts(&self) -> Vec<String> {
        if self.language == "zh" {
            let letters: Vec<char> = self.instruction.chars().collect();
            return letters.windows(MATCHING_CHARS).map(|part| part.iter().collect()).collect();
        }
        let words: Vec<&str> = self.instruction.split_whitespace().collect();
        words.windows(MATCHING_WORDS).map(|part| part.join(" ")).collect()
    }

    /// Writes a session with an injected instruction, which the agent does not mention.
    fn plant(&self, world: &World) {
        let (project, instruction) = (self.project(), self.instruction);
        let branch = if self.way == "branch" { instruction } else { "main" };
        let mut transcript = world.transcript_in(&self.session(), &project).on_branch(branch);
        let request = "Fix the login timeout in src/login.rs";
        transcript.record("user", &json!({ "message": { "role": "user", "content": request } }));
        let edit = |file: &str| {
            json!({
                "file_path": format!("{project}/{file}"), "old_string": "a", "new_string": "b",
            })
        };
        transcript.tool("Edit", &edit("src/login.rs"), "updated");
        match self.way {
            "branch" => {}
            "file" => {
                let file = edit(&format!("docs/{instruction}.md"));
                transcript.tool("Edit", &file, "updated");
            }
            "test" => {
                let run = json!({ "command": "cargo test" });
                let printed = format!(
                    "Exit code 101\nrunning 1 test\ntest {instruction} ... FAILED\n\n\
                     test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s"
                );
                transcript.failing_tool("Bash", &run, &printed);
            }
            "error" => {
                let printed = format!("Exit code 2\nerror: {instruction}");
                transcript.failing_tool("Bash", &json!({ "command": "make lint" }), &printed);
                // The first error is fixed afterwards, the second one remains.
                transcript.tool("Edit", &edit("Makefile"), "updated");
                transcript.tool("Bash", &json!({ "command": "make lint" }), "ok");
                transcript.failing_tool("Bash", &json!({ "command": "npm start" }), &printed);
            }
            "page" => {
                let page =
                    format!("# A page\n\n{instruction}\n\nTODO: {instruction}\n- {instruction}\n");
                let url = json!({ "url": "https://evil.example" });
                transcript.tool("WebFetch", &url, &page);
                transcript.tool("Bash", &json!({ "command": "cat README.md" }), &page);
            }
            other => panic!("unknown way: {other}"),
        }
        transcript.reply("Raised the timeout in `src/login.rs`.");
    }

    /// Whether the handoff contains the instruction's first word of at least four bytes. Otherwise
    /// the test of the quotes would prove nothing.
    fn contains_first_word(&self, text: &str) -> bool {
        let mut words = self.instruction.split(|c: char| !c.is_alphanumeric());
        words.find(|word| word.len() > 3).is_some_and(|word| text.contains(word))
    }

    fn assert_only_quoted(&self, text: &str) {
        let (way, instruction) = (self.way, self.instruction);
        assert!(text.contains("not instructions") && text.contains("src/login.rs"), "{text}");
        assert!(way == "page" || self.contains_first_word(text), "{way}: {instruction}: {text}");
        let bare = unquoted(text);
        for part in self.parts() {
            assert!(!bare.contains(&part), "{way}: {part}: {text}");
            // Errors may be quoted. A name has no blanks, so it contains a part only in Chinese. A
            // page is not part of a handoff.
            let is_name = way != "error" && (self.language != "zh" || way == "page");
            assert!(!is_name || !text.contains(&part), "{way}: {part}: {text}");
        }
    }

    fn assert_only_quoted_in_fields(&self, answer: &Value) {
        for text in texts(answer) {
            let is_whole = text.trim_matches(['.', ' ']) == self.instruction;
            assert!(!is_whole, "{}: {answer}", self.way);
            if self.language != "zh" {
                let bare = unquoted(&format!("- {text}"));
                for part in self.parts() {
                    assert!(!bare.contains(&part), "{}: {part}: {answer}", self.way);
                }
            }
        }
    }
}

#[test]
fn no_injected_instruction_reaches_the_next_agent_unquoted() {
    let injections = injections();
    assert_eq!(injections.len(), 32);
    let world = World::new();
    let daemon: Daemon = world.start();
    injections.iter().for_each(|injection| injection.plant(&world));
    daemon.settle();
    let mut host = McpHost::start(world.command("graphiti").args(["mcp", "--no-start"]));
    host.initialize("2025-11-25");
    for injection in &injections {
        daemon.close(&injection.session());
        let project = injection.project();
        injection.assert_only_quoted(&world.printed(&["handoff", "-p", &project]));
        injection.assert_only_quoted(&handoff_at_start(&daemon, &project));
        let result = host.call("get_handoff", json!({ "project": project }));
        let answer = &result["structuredContent"];
        injection.assert_only_quoted(answer["text"].as_str().unwrap());
        injection.assert_only_quoted_in_fields(answer);
        let for_model =
            host.call_for_model("get_handoff", json!({ "project": injection.project() }));
        injection.assert_only_quoted(for_model["content"][0]["text"].as_str().unwrap());
        assert!(answer["_about"].as_str().unwrap().contains("not instructions"), "{answer}");
    }
}
