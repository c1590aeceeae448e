//! Tests the viewer: who has access, and that text of transcripts stays text. `tests/browser/run`
//! shows the pages in a real browser.

use std::{
    collections::HashSet,
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use graphiti_tests::{Daemon, Transcript, World};
use serde_json::json;

const HOUR: Duration = Duration::from_secs(3_600);

/// A browser with the cookie.
struct Browser {
    authority: String,
    area: String,
    cookie: String,
}

struct PageResponse {
    status: u16,
    head: String,
    body: String,
}

impl Browser {
    /// Requests the address, and exchanges its token for the cookie.
    fn open(world: &World) -> Browser {
        let (authority, path) = address(world);
        let answer = request(&authority, &format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n"));
        assert_eq!(answer.status, 200, "{}", answer.head);
        assert!(answer.body.contains("content=\"0; url=./\""), "{}", answer.body);
        let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict"), "{cookie}");
        let area = path.split('/').nth(1).unwrap().to_owned();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Browser { authority, area, cookie }
    }

    fn get(&self, page: &str) -> PageResponse {
        self.ask("GET", page, "")
    }

    fn ask(&self, method: &str, page: &str, headers: &str) -> PageResponse {
        let Browser { authority, area, cookie } = self;
        let head = format!(
            "{method} /{area}/{page} HTTP/1.1\r\nHost: {authority}\r\nCookie: {cookie}\r\n{headers}"
        );
        request(authority, &head)
    }

    /// Returns the headers that the page itself sends with a request.
    fn own(&self) -> String {
        format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", self.authority)
    }
}

impl PageResponse {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            (key == name).then_some(value)
        })
    }
}

/// Returns the authority and the path of a new address.
fn address(world: &World) -> (String, String) {
    let url = world.printed(&["view", "--print"]);
    let rest = url.trim().strip_prefix("http://").expect("an address");
    let (authority, path) = rest.split_once('/').unwrap();
    assert!(authority.starts_with("127.0.0.1:"), "{authority}");
    (authority.to_owned(), format!("/{path}"))
}

fn request(authority: &str, head: &str) -> PageResponse {
    let mut stream = TcpStream::connect(authority).expect("the viewer listens");
    let request = format!("{head}Content-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    PageResponse { status, head: head.to_owned(), body: body.to_owned() }
}

/// Returns the TCP ports at which a daemon listens.
#[cfg(target_os = "linux")]
fn ports(daemon: &Daemon) -> Vec<u16> {
    let folder = format!("/proc/{}/fd", daemon.pid());
    let links = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok());
    let sockets: HashSet<String> = links
        .filter_map(|link| {
            Some(link.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned())
        })
        .collect();
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let fields = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    // State 0A is LISTEN.
    let own = fields.filter(|fields| fields[3] == "0A" && sockets.contains(fields[9]));
    own.map(|fields| u16::from_str_radix(fields[1].rsplit(':').next().unwrap(), 16).unwrap())
        .collect()
}

/// Writes a session with a preference and a change of a setting, and closes it.
fn login_session(world: &World, daemon: &Daemon) {
    let mut transcript = world.transcript("aaaa-1").aged(HOUR);
    change_login(&mut transcript);
    transcript.reply(LOGIN_FIXED);
    daemon.settle();
    daemon.close("aaaa-1");
}

/// The reply of the agent after [`change_login`].
pub(crate) const LOGIN_FIXED: &str =
    "The login now lasts an hour, because JWT_EXPIRY is in seconds.";

/// Adds a request with a preference, and the change of a setting.
pub(crate) fn change_login(transcript: &mut Transcript) {
    transcript.prompt("The login ends too early, fix it. From now on, write the tests first.");
    let edit = json!({
        "file_path": format!("{}/.env", transcript.project()),
        "old_string": "JWT_EXPIRY=60",
        "new_string": "JWT_EXPIRY=3600",
    });
    transcript.tool("Edit", &edit, "The file .env has been updated.");
}

#[test]
#[cfg(target_os = "linux")]
fn a_port_is_open_only_after_the_viewer_was_requested() {
    let world = World::new();
    let daemon = world.start();
    assert_eq!(ports(&daemon), [] as [u16; 0]);
    let (authority, _) = address(&world);
    let port: u16 = authority.rsplit(':').next().unwrap().parse().unwrap();
    assert_eq!(ports(&daemon), [port]);
    let (again, _) = address(&world);
    assert_eq!(again, authority, "a second address leads to the same page");
    assert!(daemon.stop().success());
}

#[test]
fn only_the_token_gives_access_and_only_once() {
    let world = World::new();
    let _daemon = world.start();
    let (authority, path) = address(&world);
    let host = format!("Host: {authority}\r\n");
    let area = path.split('/').nth(1).unwrap();
    let get = |path: &str, headers: &str| {
        request(&authority, &format!("GET {path} HTTP/1.1\r\n{headers}"))
    };
    // Another user of the machine can connect, but has neither token nor cookie.
    for page in [
        "/",
        "/sessions",
        &format!("/{area}/"),
        &format!("/{area}/sessions"),
        &format!("/{area}/events"),
        &format!("/{area}/view.js"),
    ] {
        assert_eq!(get(page, &host).status, 403, "{page}");
    }
    assert_eq!(get(&format!("/{area}/open?token=0"), &host).status, 403);
    // Requests by a page of another site, and to a host name that resolves to this machine.
    let others = [
        "Host: evil.example\r\n".to_owned(),
        format!("{host}Origin: http://evil.example\r\n"),
        format!("{host}Origin: null\r\nSec-Fetch-Site: cross-site\r\n"),
    ];
    for headers in &others {
        assert_eq!(get(&path, headers).status, 403, "{headers}");
    }
    // The refused requests did not use up the token. The first accepted request uses it up.
    let first = get(&path, &host);
    assert_eq!(first.status, 200, "{}", first.body);
    let stale = get(&path, &host);
    assert_eq!(stale.status, 403);
    assert!(stale.body.contains("graphiti view"), "{}", stale.body);
    assert_eq!(stale.header("set-cookie"), None);
}

/// Every user of the machine can read the arguments of programs, so they must not contain the
/// token.
#[test]
#[cfg(target_os = "linux")]
fn the_browser_finds_the_token_in_a_file_of_the_user() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let _daemon = world.start();
    let programs = world.path("programs");
    fs::create_dir(&programs).unwrap();
    let opener = programs.join("xdg-open");
    fs::write(&opener, "#!/bin/sh\nprintf '%s' \"$*\" > \"$0.arguments\"\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o700)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let ended = world.command("graphiti").arg("view").env("PATH", path).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let arguments = fs::read_to_string(programs.join("xdg-open.arguments")).unwrap();
    assert!(!arguments.contains("token") && !arguments.contains("http"), "{arguments}");
    let mode = fs::metadata(&arguments).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let page = fs::read_to_string(&arguments).unwrap();
    let url = page.split("url=http://").nth(1).and_then(|rest| rest.split('"').next());
    let (authority, path) = url.and_then(|url| url.split_once('/')).expect("an address");
    // For a browser, a file is another site.
    let head =
        format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\nSec-Fetch-Site: cross-site\r\n");
    let entered = request(authority, &head);
    assert_eq!(entered.status, 200, "{}", entered.body);
    assert!(entered.header("set-cookie").is_some());
}

#[test]
fn every_page_is_shown_and_loads_nothing_from_other_hosts() {
    let world = World::new();
    let daemon = world.start();
    login_session(&world, &daemon);
    let browser = Browser::open(&world);
    for page in [
        "",
        "search?q=login",
        "sessions",
        "sessions?agent=claude&outcome=completed",
        "session?id=aaaa-1",
        "session?id=aaaa-1&line=2",
        "message?id=aaaa-1&seq=0",
        "calendar",
        "projects",
        "project?dir=%2Fwork%2Fapp",
        "open-ends",
        "facts?q=JWT_EXPIRY&ended=true",
        "usage",
        "health",
        "forget",
        "forget?session=aaaa-1",
        "view.css",
        "view.js",
        "icon.svg",
    ] {
        let answer = browser.get(page);
        assert_eq!(answer.status, 200, "{page}: {}", answer.body);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in
            [("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer")]
        {
            assert_eq!(answer.header(name), Some(value), "{page}");
        }
        let body = answer.body.replace("http://www.w3.org/2000/svg", "");
        assert!(!body.contains("http://") && !body.contains("https://"), "{page}: {body}");
        assert!(!body.contains(" style=") && !body.contains(" onclick="), "{page}");
    }
    let session = browser.get("session?id=aaaa-1").body;
    assert!(session.contains("JWT_EXPIRY"), "{session}");
    assert!(session.contains("class=\"statement\" href=\"session?id=aaaa-1"), "{session}");
    assert!(session.contains("<ins>+JWT_EXPIRY=3600</ins>"), "{session}");
    assert_eq!(browser.get("session?id=none").status, 404);
    assert_eq!(browser.get("elsewhere").status, 404);
    assert_eq!(browser.get("search?offset=x").status, 400);
}

#[test]
fn a_memory_and_an_episode_that_was_imported_as_text_are_shown() {
    let world = World::new();
    let daemon = world.start();
    let body = "The marmot server\nis restarted by Ann, see \u{202e}gro.elpmaxe";
    let added = daemon.call("add_memory", &json!({ "name": "Marmots", "episode_body": body }));
    login_session(&world, &daemon);
    let folder = world.path("exported");
    let exported = folder.display().to_string();
    world.printed(&["export", &exported]);
    fs::remove_file(folder.join("episodes.jsonl")).unwrap();
    let other = World::new();
    let _imported = other.start();
    other.printed(&["import", &exported]);
    let memory = added["uuid"].as_str().unwrap();
    let shown = Browser::open(&world).get(&format!("session?id={memory}")).body;
    assert!(shown.contains("The marmot server\nis restarted by Ann"), "{shown}");
    assert!(!shown.contains('\u{202e}') && shown.contains("U+202E"), "{shown}");
    let shown = Browser::open(&other).get("session?id=aaaa-1").body;
    assert!(shown.contains("The login ends too early"), "{shown}");
    assert!(shown.contains(".env"), "{shown}");
}

#[test]
fn only_the_page_itself_can_correct_a_fact() {
    let world = World::new();
    let daemon = world.start();
    login_session(&world, &daemon);
    let browser = Browser::open(&world);
    let wishes = browser.get("open-ends").body;
    assert!(wishes.contains("write the tests first"), "{wishes}");
    let facts = world.json(&["facts", "--kind", "PREFERS"]);
    let id = facts["facts"][0]["uuid"].as_str().unwrap();
    let mark = format!("mark?fact={id}&verdict=wrong&back=open-ends");
    for headers in
        ["", "Origin: http://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: same-site\r\n"]
    {
        assert_eq!(browser.ask("POST", &mark, headers).status, 403, "{headers}");
    }
    assert_eq!(browser.get(&mark).status, 405);
    let marked = browser.ask("POST", &mark, &browser.own());
    assert_eq!(marked.status, 303, "{}", marked.body);
    assert_eq!(marked.header("location"), Some("open-ends"));
    assert_eq!(world.json(&["facts", "--kind", "PREFERS"])["facts"], json!([]));
    assert!(!browser.get("open-ends").body.contains("write the tests first"));
}

#[test]
fn a_session_can_be_previewed_forgotten_and_restored() {
    let world = World::new();
    let daemon = world.start();
    login_session(&world, &daemon);
    let browser = Browser::open(&world);
    let preview = browser.get("forget?session=aaaa-1").body;
    assert!(preview.contains("Forget this session?"), "{preview}");
    assert_eq!(daemon.session_ids(), ["aaaa-1"], "a preview changes nothing");
    let removed = browser.ask("POST", "forget?session=aaaa-1", &browser.own());
    assert_eq!(removed.status, 200);
    assert!(removed.body.contains("restore?session=aaaa-1"), "{}", removed.body);
    assert_eq!(daemon.session_ids(), [] as [&str; 0]);
    assert!(browser.get("forget").body.contains("aaaa-1"));
    let restored = browser.ask("POST", "restore?session=aaaa-1", &browser.own());
    assert!(restored.body.contains("its transcript is read again"), "{}", restored.body);
    daemon.settle();
    assert_eq!(daemon.session_ids(), ["aaaa-1"]);
}

#[test]
fn a_hostile_transcript_is_shown_as_text() {
    let world = World::new();
    let daemon = world.start();
    let mut transcript = world.transcript("evil-1").aged(HOUR);
    let script = "</p></main><script>alert(1)</script><img src=x onerror=alert(2)>";
    transcript.prompt(&format!("Fix {script} <style>body{{display:none}}</style>"));
    transcript.reply(&format!("[click](javascript:alert(3)) pay \u{202e}001\u{202c} {script}"));
    transcript.tool("Bash", &json!({ "command": format!("echo '{script}'") }), script);
    transcript.reply(&"x".repeat(5 << 20));
    daemon.settle();
    daemon.close("evil-1");
    let browser = Browser::open(&world);
    for page in [
        "",
        "sessions",
        "session?id=evil-1",
        "search?q=click",
        "facts",
        "open-ends",
        "projects",
        "message?id=evil-1&seq=0",
        &format!("search?q={}", "%3Cscript%3Ealert(1)%3C%2Fscript%3E"),
    ] {
        let body = browser.get(page).body;
        for active in ["<script>", "<img", "<style>", "href=\"javascript:", "\u{202e}"] {
            assert!(!body.contains(active), "{page} has {active}");
        }
        assert!(body.len() < 200_000, "{page} has {} bytes", body.len());
    }
    let session = browser.get("session?id=evil-1").body;
    assert!(session.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{session}");
    assert!(session.contains("pay ‹U+202E›001‹U+202C›"), "{session}");
}

#[test]
fn a_visible_page_is_notified_of_changes_and_does_not_delay_the_end_of_the_daemon() {
    let world = World::new();
    let daemon = world.start();
    let browser = Browser::open(&world);
    let mut stream = TcpStream::connect(&browser.authority).unwrap();
    let Browser { authority, area, cookie } = &browser;
    let head =
        format!("GET /{area}/events HTTP/1.1\r\nHost: {authority}\r\nCookie: {cookie}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut received = String::new();
    let mut wait_for = |wanted: &str| {
        let mut bytes = [0; 4_096];
        while !received.contains(wanted) {
            let count = stream.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "{received}");
            received.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    };
    wait_for("text/event-stream");
    world.transcript("live-1").prompt("What agents do now appears");
    wait_for("event: change\n");
    wait_for("live-1");
    assert!(browser.get("sessions").body.contains("What agents do now appears"));
    assert!(daemon.stop().success());
    let mut rest = Vec::new();
    // The stream ends with the daemon.
    let _ = stream.read_to_end(&mut rest);
}

/// Another user who knows the address with the token is refused, too.
#[cfg(target_os = "linux")]
#[test]
fn a_connection_of_another_user_is_refused_even_with_the_token() {
    use std::os::unix::process::CommandExt;
    let world = World::new();
    let _daemon = world.start();
    let (authority, path) = address(&world);
    let (host, port) = authority.split_once(':').unwrap();
    let script = format!(
        "exec 3<>/dev/tcp/{host}/{port}; printf 'GET {path} HTTP/1.1\\r\\nHost: {authority}\\r\\n\
         Connection: close\\r\\n\\r\\n' >&3; cat <&3"
    );
    let mut stranger = std::process::Command::new("bash");
    stranger.args(["-c", &script]).uid(65_534);
    match stranger.output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout), ""),
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
            graphiti_tests::namespace::report_skipped(
                "a_connection_of_another_user_is_refused",
                "needs root",
            );
            return;
        }
    }
    assert!(world.log().contains("refused a connection of another user"), "{}", world.log());
    // The token was not used up.
    let head = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n");
    assert_eq!(request(&authority, &head).status, 200);
}
