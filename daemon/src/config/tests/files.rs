//! Tests of finding, writing, checking and describing files.

use std::{fs, path::Path};

use crate::config::{
    Config, Existing, FILE_NAME, FileSearch, check, init_text, load, table, tests::read_text,
    write_default,
};

fn search(directory: Option<&Path>, home: &Path) -> FileSearch {
    FileSearch { directory: directory.map(Path::to_owned), home: home.to_owned(), user_home: None }
}

#[test]
fn the_file_of_the_directory_takes_precedence_over_the_file_of_the_home() {
    let (directory, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let search = search(Some(directory.path()), home.path());
    assert_eq!(load(&search).unwrap().file, None);

    let home_file = home.path().join(FILE_NAME);
    fs::write(&home_file, "{\"session_tracking\": {\"query_timeout\": 1}}").unwrap();
    assert_eq!(load(&search).unwrap().file, Some(home_file));

    let own_file = directory.path().join(FILE_NAME);
    fs::write(&own_file, "{\"session_tracking\": {\"query_timeout\": 2}}").unwrap();
    let loaded = load(&search).unwrap();
    assert_eq!(loaded.file, Some(own_file));
    assert_eq!(loaded.config.api.query_timeout.as_secs(), 2);
}

#[test]
fn an_invalid_file_is_not_skipped() {
    let (directory, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(directory.path().join(FILE_NAME), "{").unwrap();
    fs::write(home.path().join(FILE_NAME), "{}").unwrap();
    assert!(load(&search(Some(directory.path()), home.path())).is_err());
}

#[test]
fn a_file_that_cannot_be_read_is_reported_with_a_remedy() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(FILE_NAME);
    let long = format!("{{\"a\": \"{}é\"}}", "x".repeat((1 << 20) - 7));
    for (content, place, remedy) in [
        (&b"{\n\"a\": \"\xFF\"}"[..], ":2", "is not valid UTF-8; save the file as UTF-8"),
        // The limit is in the middle of a character.
        (long.as_bytes(), "", "is longer than 1024 kB; shorten the file, or remove it"),
    ] {
        fs::write(&file, content).unwrap();
        let message = load(&search(None, home.path())).unwrap_err().to_string();
        assert_eq!(message, format!("{}{place}: {remedy}", file.display()));
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let message = load(&search(None, home.path())).unwrap_err().to_string();
    assert!(message.contains("cannot be read"), "{message}");
}

#[cfg(unix)]
#[test]
fn the_own_file_is_recognised_behind_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (home, link) = (folder.path().join("home"), folder.path().join("link"));
    fs::create_dir(&home).unwrap();
    std::os::unix::fs::symlink(&home, &link).unwrap();
    let guarded = r#"{"session_tracking": {"hooks": {"socket_path": "/run/app.sock"}}}"#;
    fs::write(home.join(FILE_NAME), guarded).unwrap();
    for (directory, home) in [(&home, &link), (&link, &home)] {
        load(&search(Some(directory), home)).unwrap();
    }
    // A link to the file of a project does not make this file the user's own file.
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    assert!(load(&search(Some(&link), &other)).is_err());
}

#[test]
fn the_file_of_a_project_cannot_set_programs_or_destinations_of_text() {
    let (directory, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = directory.path().join(FILE_NAME);
    let text =
        "{\"session_tracking\": {\n\"llm\": {\"provider\": \"command\", \"command\": [\"x\"]}}}";
    fs::write(&file, text).unwrap();
    let message = load(&search(Some(directory.path()), home.path())).unwrap_err().to_string();
    let wanted = ["provider", "command"].map(|key| {
        format!(
            "{}:2: `session_tracking.llm.{key}` is valid only in your own file, because it runs a program, \
             sends text or contains the path of a file; move it to {}",
            file.display(),
            home.path().join(FILE_NAME).display()
        )
    });
    assert_eq!(message, wanted.join("\n"));
    // The file is now the user's own, so the keys are valid even if the daemon starts in this
    // folder.
    fs::rename(&file, home.path().join(FILE_NAME)).unwrap();
    assert!(load(&search(Some(home.path()), home.path())).is_ok());
}

#[test]
fn the_default_file_is_read_as_the_default_without_notices() {
    let loaded = read_text(&init_text()).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.notices.is_empty(), "{:?}", loaded.notices);
    let keys: Vec<&str> = loaded.origins.keys().copied().collect();
    assert_eq!(keys.len(), table::fields().len());
}

#[test]
fn the_default_file_has_help_beside_every_key() {
    let text = init_text();
    assert!(text.starts_with("{\n  \"_comment\": \"The configuration of graphitid. "), "{text}");
    let wanted = "    \"inactivity_timeout\": 1800,\n    \"_inactivity_timeout_help\": \"Seconds without activity \
                  after which a session is closed; 0 or null = never\",\n";
    assert!(text.contains(wanted), "{text}");
    assert!(
        text.contains("    \"hooks\": {\n      \"_comment\": \"The hooks of coding agents\",\n")
    );
    assert_eq!(text.matches("_help\":").count(), table::fields().len());
}

#[test]
fn the_default_file_is_not_overwritten_and_is_readable_only_by_the_user() {
    let parent = tempfile::tempdir().unwrap();
    let home = parent.path().join("home");
    let file = write_default(&home, Existing::Keep).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), init_text());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&home).unwrap().permissions().mode() & 0o777, 0o700);
    }
    fs::write(&file, "{} // mine").unwrap();
    let error = write_default(&home, Existing::Keep).unwrap_err().to_string();
    let wanted = format!(
        "{}: already exists; `graphitid config init --force` renames it and writes a new one",
        file.display()
    );
    assert_eq!(error, wanted);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{} // mine");

    write_default(&home, Existing::Replace).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), init_text());
    let aside = home.join(format!("{FILE_NAME}.old"));
    assert_eq!(fs::read_to_string(aside).unwrap(), "{} // mine");
}

#[test]
fn check_explains_a_valid_file() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(FILE_NAME);
    let text = "{\"session_tracking\": {\n\"inactivity_timeout\": 900,\n\"colour\": 1,\n\"keep_days\": 7}}";
    fs::write(&file, text).unwrap();
    let report = check(&search(None, home.path()), None);
    let name = file.display();
    assert!(report.is_valid);
    let wanted = format!(
        "{name}: can be used\n\n\
         worth knowing (1)\n  \
         {name}:3: `session_tracking.colour` is unknown and ignored; `graphitid config schema` shows all \
         keys\n\n\
         older spellings (1)\n  \
         {name}:4: `session_tracking.keep_days` is an older spelling and read as \
         `session_tracking.keep_length_days`\n\n\
         values\n  \
         session_tracking.enabled = true  (default)\n  \
         session_tracking.watch_directories = []  (default)\n  \
         session_tracking.excluded_paths = []  (default)\n  \
         session_tracking.keep_length_days = 7  (line 4)\n  \
         session_tracking.inactivity_timeout = 900  (line 2)\n"
    );
    assert!(report.text.starts_with(&wanted), "{}", report.text);
    assert_eq!(
        report.text.lines().filter(|line| line.contains(" = ")).count(),
        table::fields().len()
    );
}

#[test]
fn check_explains_an_invalid_file() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("other.json");
    fs::write(&file, "{\"session_tracking\": {\"enabled\": 1, \"watch_path\": null}}").unwrap();
    let report = check(&search(None, home.path()), Some(&file));
    let name = file.display();
    assert!(!report.is_valid);
    let wanted = format!(
        "{name}: cannot be used\n\n\
         wrong (1)\n  \
         {name}:1: `session_tracking.enabled` is 1, but must be true or false; write true or false\n\n\
         older spellings (1)\n  \
         {name}:1: `session_tracking.watch_path` is an older spelling and read as \
         `session_tracking.watch_directories`\n"
    );
    assert_eq!(report.text, wanted);
}

#[test]
fn check_without_a_file_lists_the_searched_paths() {
    let report = check(&search(Some(Path::new("/a")), Path::new("/b")), None);
    assert!(report.is_valid);
    let wanted = "no file: looked for /a/graphiti.config.json and /b/graphiti.config.json; `graphitid config \
                  init` writes one\n\nvalues\n  session_tracking.enabled = true  (default)\n";
    assert!(report.text.starts_with(wanted), "{}", report.text);
}
