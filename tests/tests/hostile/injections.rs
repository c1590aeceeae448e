//! Tests that none of the instructions in `injections.tsv` reaches the next agent outside of a
//! quote.

use graphiti_tests::{Daemon, McpHost, World};
use serde_json::{Value, json};

use crate::{
    quotes::{texts, unquoted},
    steering::told_at_start,
};

/// Number of consecutive characters that count as a match in a language without spaces between
/// words.
const TOGETHER: usize = 6;
/// Number of consecutive words that count as a match in other languages.
const WORDS: usize = 3;

/// An instruction, and the way by which it gets into a transcript.
struct Injection {
    number: usize,
    language: &'static str,
    way: &'static str,
    order: &'static str,
}

fn injections() -> Vec<Injection> {
    let lines = include_str!("injections.tsv").lines();
    let lines = lines.filter(|line| !line.starts_with('#')).enumerate();
    let injection = |(number, line): (usize, &'static str)| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap();
        Injection { number, language: field(), way: field(), order: field() }
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

    /// Returns the parts that identify the order; in languages that separate words, a name cannot
    /// contain them.
    fn parts(&self) -> Vec<String> {
        if self.language == "zh" {
            let letters: Vec<char> = self.order.chars().collect();
            return letters.windows(TOGETHER).map(|part| part.iter().collect()).collect();
        }
        let words: Vec<&str> = self.order.split_whitespace().collect();
        words.windows(WORDS).map(|part| part.join(" ")).collect()
    }

    /// Writes a session with an injected instruction, which the agent does not mention.
    fn plant(&self, world: &World) {
        let (project, order) = (self.project(), self.order);
        let mut transcript = world.transcript_in(&self.session(), &project);
        let branch = if self.way == "branch" { order } else { "main" };
        let request = "Fix the login timeout in src/login.rs";
        transcript.record(
            "user",
            &json!({ "gitBranch": branch, "message": { "role": "user", "content": request } }),
        );
        let edit = |file: &str| {
            json!({
                "file_path": format!("{project}/{file}"), "old_string": "a", "new_string": "b",
            })
        };
        transcript.tool("Edit", &edit("src/login.rs"), "updated");
        match self.way {
            "branch" => {}
            "file" => {
                let file = edit(&format!("docs/{order}.md"));
                transcript.tool("Edit", &file, "updated");
            }
            "test" => {
                let run = json!({ "command": "cargo test" });
                let printed = format!(
                    "Exit code 101\nrunning 1 test\ntest {order} ... FAILED\n\n\
                     test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s"
                );
                transcript.failing_tool("Bash", &run, &printed);
            }
            "error" => {
                let printed = format!("Exit code 2\nerror: {order}");
                transcript.failing_tool("Bash", &json!({ "command": "make lint" }), &printed);
                // A process that ends, and one that stays.
                transcript.tool("Edit", &edit("Makefile"), "updated");
                transcript.tool("Bash", &json!({ "command": "make lint" }), "ok");
                transcript.failing_tool("Bash", &json!({ "command": "npm start" }), &printed);
            }
            "page" => {
                let page = format!("# A page\n\n{order}\n\nTODO: {order}\n- {order}\n");
                let url = json!({ "url": "https://evil.example" });
                transcript.tool("WebFetch", &url, &page);
                transcript.tool("Bash", &json!({ "command": "cat README.md" }), &page);
            }
            other => panic!("an unknown way: {other}"),
        }
        transcript.reply("Raised the timeout in `src/login.rs`.");
    }

    /// Whether the handoff contains the beginning of the instruction, which is necessary for a test
    /// of its quotes.
    fn has_come(&self, text: &str) -> bool {
        let mut words = self.order.split(|c: char| !c.is_alphanumeric());
        words.find(|word| word.len() > 3).is_some_and(|word| text.contains(word))
    }

    fn stands_nowhere_by_itself(&self, text: &str) {
        let (way, order) = (self.way, self.order);
        assert!(text.contains("not instructions") && text.contains("src/login.rs"), "{text}");
        assert!(way == "page" || self.has_come(text), "{way}: {order}: {text}");
        let bare = unquoted(text);
        for part in self.parts() {
            assert!(!bare.contains(&part), "{way}: {part}: {text}");
            // Printed text may be quoted; a name has no blanks, and a page is not part of a
            // handoff.
            let is_name = way != "error" && (self.language != "zh" || way == "page");
            assert!(!is_name || !text.contains(&part), "{way}: {part}: {text}");
        }
    }

    fn stands_in_no_field_by_itself(&self, answer: &Value) {
        for text in texts(answer) {
            let is_whole = text.trim_matches(['.', ' ']) == self.order;
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
fn no_injection_reaches_the_next_agent_as_a_sentence_of_its_own() {
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
        injection.stands_nowhere_by_itself(&world.printed(&["handoff", "-p", &project]));
        injection.stands_nowhere_by_itself(&told_at_start(&daemon, &project));
        let result = host.call("get_handoff", json!({ "project": project }));
        let answer = &result["structuredContent"];
        injection.stands_nowhere_by_itself(answer["text"].as_str().unwrap());
        injection.stands_in_no_field_by_itself(answer);
        let told = host.call_for_model("get_handoff", json!({ "project": injection.project() }));
        injection.stands_nowhere_by_itself(told["content"][0]["text"].as_str().unwrap());
        assert!(answer["_about"].as_str().unwrap().contains("not instructions"), "{answer}");
    }
}
