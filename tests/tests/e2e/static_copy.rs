//! Tests `graphiti export --html`, which writes a copy of the viewer that needs no server.
//! `tests/browser/run` opens such a copy in a real browser.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::Path,
    time::Duration,
};

use graphiti_tests::{Daemon, World};
use serde_json::json;

use crate::view::{LOGIN_FIXED, change_login};

const HOUR: Duration = Duration::from_secs(3_600);
/// The project of [`World::transcript`].
const APP: &str = graphiti_tests::PROJECT;
/// Another project.
const SHOP: &str = "/home/ann/shop";
const SCRIPT: &str = "</p></main><script>alert(1)</script><img src=x onerror=alert(2)>";

/// The files of a copy by their names.
type CopiedFiles = BTreeMap<String, String>;

fn read_files(folder: &Path) -> CopiedFiles {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

/// Writes a copy into `copy`, and returns its files.
fn export(world: &World, more: &[&str]) -> CopiedFiles {
    let folder = world.path("copy");
    let to = folder.display().to_string();
    world.printed(&[&["export", "--html", &to], more].concat());
    read_files(&folder)
}

/// Returns the values of an attribute.
fn attributes<'t>(page: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let begin = format!(" {name}=\"");
    page.split('<').filter(|tag| !tag.starts_with('/')).filter_map(move |tag| {
        let (_, rest) = tag.split('>').next()?.split_once(&begin)?;
        rest.split('"').next()
    })
}

/// Writes two sessions of a project: a long conversation with a long message, and a session with
/// hostile text.
fn sessions(world: &World, daemon: &Daemon) {
    let mut transcript = world.transcript("aaaa-1").aged(HOUR);
    change_login(&mut transcript);
    for number in 0..100 {
        transcript.prompt(&format!("And what about the marmots in case {number}?"));
        transcript.reply(&format!("The marmots of case {number} sleep."));
    }
    transcript.reply(&"long ".repeat(2_000));
    transcript.reply(LOGIN_FIXED);
    let mut hostile = world.transcript("evil-1").aged(2 * HOUR);
    hostile.prompt(&format!(
        "Fix {SCRIPT} <style>body{{display:none}}</style> the <a href=\"forget\">"
    ));
    hostile.tool("Bash", &json!({ "command": format!("echo '{SCRIPT}'") }), SCRIPT);
    hostile.reply(&format!("[click](javascript:alert(3)) pay \u{202e}001\u{202c} {SCRIPT}"));
    daemon.settle();
    daemon.close("aaaa-1");
    daemon.close("evil-1");
}

#[test]
fn all_links_of_a_copy_lead_to_its_files_and_nothing_is_loaded_from_other_hosts() {
    let world = World::new();
    let daemon = world.start();
    sessions(&world, &daemon);
    let files = export(&world, &[]);
    for name in [
        "index.html",
        "sessions.html",
        "projects.html",
        "open-ends.html",
        "facts.html",
        "session.aaaa-1.html",
        "session.aaaa-1.0.150.html",
        "session.evil-1.html",
        "view.css",
        "copy.js",
        "icon.svg",
        "index.1.js",
    ] {
        assert!(files.contains_key(name), "{name} in {:?}", files.keys());
    }
    let mut linked: HashSet<&str> = HashSet::from(["index.html", "graphiti-copy.txt"]);
    let pages = files.iter().filter(|(name, _)| name.ends_with(".html"));
    for (page, text) in pages {
        for link in ["href", "src"].iter().flat_map(|name| attributes(text, name)) {
            let (name, fragment) = link.split_once('#').unwrap_or((link, ""));
            let name = if name.is_empty() { page } else { name };
            let target = files.get_key_value(name);
            let (name, target) = target.unwrap_or_else(|| panic!("{page} links to {link}"));
            assert!(
                fragment.is_empty() || attributes(target, "id").any(|id| id == fragment),
                "{page} links to {link}"
            );
            linked.insert(name);
        }
        assert!(text.contains("default-src 'none'; script-src 'self' file:;"), "{page}");
        for live in ["<form", "<button", "onclick", " style=", "view.js", "forget?", "ago</time>"] {
            assert!(!text.contains(live), "{page} has {live}");
        }
    }
    for (name, text) in &files {
        assert!(linked.contains(name.as_str()), "no page links to {name}");
        let text = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("http://") && !text.contains("https://"), "{name}");
    }
    let session = &files["session.aaaa-1.html"];
    assert!(session.contains("class=\"statement\" href=\"session.aaaa-1"), "{session}");
    assert!(session.contains("<ins>+JWT_EXPIRY=3600</ins>"), "{session}");
    assert!(files["session.aaaa-1.0.150.html"].contains("The marmots of case 99 sleep."));
    let whole = files.iter().find(|(name, _)| name.starts_with("message.aaaa-1.0."));
    assert!(whole.expect("the whole message").1.contains(&"long ".repeat(1_999)));
    assert!(files["open-ends.html"].contains("write the tests first"));
    assert!(files["index.1.js"].contains("The login ends too early"), "{}", files["index.1.js"]);
}

#[test]
fn a_list_of_facts_that_is_not_complete_says_so() {
    let world = World::new();
    let daemon = world.start();
    for number in 0..101 {
        let wish = json!({
            "name": "A wish", "kind": "preference", "group_id": APP,
            "episode_body": format!("Never paint the marmot with the number {number}."),
        });
        daemon.call("add_memory", &wish);
    }
    daemon.settle();
    let files = export(&world, &[]);
    let how = "Only the latest 99 are shown. On the machine with the memory, graphiti facts --kind PREFERS WORDS finds the others.";
    for page in ["open-ends.html", "facts.prefers.html"] {
        let text = &files[page];
        assert!(text.contains(how) && text.contains("<span class=\"count\">99+</span>"), "{text}");
    }
    assert!(files["facts.html"].contains(">and at least 89 more<"), "{}", files["facts.html"]);
}

#[test]
fn hostile_text_is_text_in_a_copy() {
    let world = World::new();
    let daemon = world.start();
    sessions(&world, &daemon);
    let files = export(&world, &[]);
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
        for active in ["<script>", "<img", "<style>", "href=\"javascript:", "\u{202e}"] {
            assert!(!text.contains(active), "{name} has {active}");
        }
    }
    assert!(!files["index.1.js"].contains('\u{202e}'));
    let session = &files["session.evil-1.html"];
    assert!(session.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{session}");
    assert!(session.contains("&lt;a href=&quot;forget&quot;&gt;"), "{session}");
    assert!(session.contains("pay ‹U+202E›001‹U+202C›"), "{session}");
}

#[test]
fn a_second_export_replaces_the_first_and_a_folder_with_other_files_is_refused() {
    let world = World::new();
    let daemon = world.start();
    sessions(&world, &daemon);
    assert!(export(&world, &[]).contains_key("session.evil-1.html"));
    world.printed(&["forget", "evil-1", "--run"]);
    let files = export(&world, &[]);
    assert!(files.contains_key("session.aaaa-1.html"));
    assert!(!files.contains_key("session.evil-1.html"));
    assert!(files.values().all(|text| !text.contains("evil-1")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path| fs::metadata(world.path(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("copy"), mode("copy/index.html")), (0o700, 0o600));
    }
    let notes = world.path("copy/notes.txt");
    fs::write(&notes, "mine").unwrap();
    let to = world.path("copy").display().to_string();
    let output = world.graphiti(&["export", "--html", &to]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("`notes.txt`"), "{error}");
    assert_eq!(fs::read_to_string(notes).unwrap(), "mine");
    assert!(!world.path("copy.graphiti-new").exists() && !world.path("copy.graphiti-old").exists());
}

#[test]
fn a_copy_of_a_project_or_of_a_time_contains_nothing_else() {
    let world = World::new();
    let daemon = world.start();
    sessions(&world, &daemon);
    let mut other = world.transcript_in("bbbb-2", SHOP).aged(30 * 24 * HOUR);
    other.prompt("Count the numbats of the shop. From now on, always feed the numbats.");
    other.reply("There are seven numbats. Next step: count the quokkas.");
    daemon.settle();
    daemon.close("bbbb-2");
    assert!(export(&world, &[]).contains_key("session.bbbb-2.html"));
    for filter in [["--project", APP], ["--since", "last week"]] {
        let files = export(&world, &filter);
        assert!(files.contains_key("session.aaaa-1.html"), "{filter:?}");
        for (name, text) in &files {
            let is_of_other = ["bbbb-2", "numbat", SHOP].iter().any(|it| text.contains(it));
            assert!(!is_of_other, "{filter:?}: {name}: {text}");
        }
    }
    let files = export(&world, &["--project", SHOP]);
    assert!(
        files.contains_key("session.bbbb-2.html") && !files.contains_key("session.aaaa-1.html")
    );
    let output = world.graphiti(&["export", "--html", "copy", "--since", "someday"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("`since` must be a date"), "{error}");
}
