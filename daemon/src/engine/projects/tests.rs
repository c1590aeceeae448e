use std::fs;

use tempfile::TempDir;

use super::*;
use crate::{
    model::{
        SessionKey,
        session::{Session, State},
    },
    store::{contract, sled::SledStore},
};

struct Machine {
    folder: TempDir,
    store: Arc<SledStore>,
}

const NOW: Timestamp = Timestamp::from_seconds(1_000);

impl Machine {
    fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SledStore::open(&folder.path().join("db")).unwrap());
        Machine { folder, store }
    }

    fn projects(&self) -> Projects {
        // Notes are read from disk, so the queued notes have to be written first.
        self.store.write(Vec::new()).wait().unwrap();
        Projects::load(self.store.clone(), Some(self.folder.path().to_owned())).unwrap()
    }

    fn path(&self, path: &str) -> String {
        self.folder.path().join(path).to_string_lossy().into_owned()
    }

    fn repository(&self, path: &str, remote: &str) {
        let git = self.folder.path().join(path).join(".git");
        fs::create_dir_all(&git).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("config"), format!("[remote \"origin\"]\n\turl = {remote}\n")).unwrap();
    }

    fn note(&self, projects: &Projects, path: &str) -> Namespace {
        let path = match path.starts_with('/') || path.contains(':') {
            true => path.to_owned(),
            false => {
                fs::create_dir_all(self.folder.path().join(path)).unwrap();
                self.path(path)
            }
        };
        let project = Project::new(&path);
        projects.note(&project, NOW);
        project.namespace()
    }
}

fn sorted(mut namespaces: Vec<Namespace>) -> Vec<Namespace> {
    namespaces.sort_unstable();
    namespaces
}

#[test]
fn folders_clones_and_worktrees_are_one_project_even_after_their_removal() {
    let machine = Machine::new();
    machine.repository("app", "git@example.com:ann/app.git");
    machine.repository("copy", "https://ann@example.com/ann/app");
    machine.repository("other", "https://example.com/ann/other");
    fs::create_dir_all(machine.folder.path().join("app/.git/worktrees/w")).unwrap();
    fs::write(machine.folder.path().join("app/.git/worktrees/w/commondir"), "../..").unwrap();
    fs::create_dir_all(machine.folder.path().join("w")).unwrap();
    fs::write(
        machine.folder.path().join("w/.git"),
        format!("gitdir: {}\n", machine.path("app/.git/worktrees/w")),
    )
    .unwrap();
    let projects = machine.projects();
    let all = ["app", "app/src/deep", "copy", "w"].map(|path| machine.note(&projects, path));
    let other = machine.note(&projects, "other");
    for path in ["app", "app/src/deep", "copy", "w", "app/docs"] {
        let mut found = projects.of_directory(&machine.path(path));
        found.retain(|one| all.contains(one));
        assert_eq!(sorted(found), sorted(all.to_vec()), "{path}");
    }
    assert_eq!(projects.of_namespace(other), [other]);
    fs::remove_dir_all(machine.folder.path().join("app")).unwrap();
    // The folder of the worktree still exists when its repository is gone.
    projects.note(&Project::new(&machine.path("w")), NOW.plus(RECHECK_AFTER));
    assert!(projects.of_directory(&machine.path("w")).len() >= all.len());
    fs::remove_dir_all(machine.folder.path().join("w")).unwrap();
    // A later run knows the last state of the directories.
    let projects = machine.projects();
    let found = projects.of_directory(&machine.path("w"));
    assert!(all.iter().all(|one| found.contains(one)), "{found:?}");
    let inside = projects.of_directory(&machine.path("app/new/folder"));
    assert!(all.iter().all(|one| inside.contains(one)), "{inside:?}");
}

#[test]
fn folders_in_a_home_with_a_repository_are_separate_projects() {
    let machine = Machine::new();
    machine.repository("", "git@example.com:ann/dotfiles.git");
    let projects = machine.projects();
    let one = machine.note(&projects, "one");
    let two = machine.note(&projects, "two");
    assert_eq!(projects.of_namespace(one), [one]);
    assert_eq!(projects.of_namespace(two), [two]);
}

#[test]
fn a_directory_has_a_path_in_its_repository() {
    let machine = Machine::new();
    machine.repository("mono", "git@example.com:ann/mono.git");
    let projects = machine.projects();
    for (path, folder) in [
        ("mono", Some("")),
        ("mono/apps/web", Some("apps/web")),
        ("mono/.claude/worktrees/one/apps/web", Some("apps/web")),
        ("without-git", None),
    ] {
        machine.note(&projects, path);
        let project = Project::new(&machine.path(path));
        assert_eq!(projects.folder_in_repository(&project).as_deref(), folder, "{path}");
    }
    let root = |path: &str| projects.root(&Project::new(&machine.path(path)));
    assert_eq!(root("mono/apps/web"), Project::new(&machine.path("mono")));
    assert_eq!(root("without-git"), Project::new(&machine.path("without-git")));
}

#[test]
fn an_imported_directory_is_of_the_project_with_its_remote() {
    let machine = Machine::new();
    machine.repository("clone", "git@github.com:acme/cms.git");
    machine.repository("moved", "git@github.com:acme/other.git");
    let projects = machine.projects();
    let clone = machine.note(&projects, "clone");
    let repository = |root: &str| Identity {
        repository: Some(root.to_owned()),
        remote: Some("github.com/acme/cms".to_owned()),
    };
    let imported = Project::new("/home/other/cms/web");
    projects.note_imported(&imported, repository("/home/other/cms"));
    let both = sorted(vec![clone, imported.namespace()]);
    for given in ["cms", "web", "git@github.com:acme/cms.git", "https://github.com/acme/cms"] {
        let NamedProject::Known(found) = projects.named(given) else { panic!("{given}") };
        assert_eq!(sorted(found), both, "{given}");
    }
    let mut here = projects.of_directory(&machine.path("clone/src"));
    here.retain(|one| both.contains(one));
    assert_eq!(sorted(here), both);
    assert!(projects.of_directory("/home/other/cms/api").contains(&clone));
    // Later starts know it, and the repository on this machine takes precedence.
    let projects = machine.projects();
    assert_eq!(projects.repository_of(imported.namespace()), repository("/home/other/cms"));
    let moved = Project::new(&machine.path("moved"));
    projects.note_imported(&moved, repository("/home/other/cms"));
    let remote = projects.repository_of(moved.namespace()).remote;
    assert_eq!(remote.as_deref(), Some("github.com/acme/other"));
}

#[test]
fn an_imported_directory_is_found_from_a_clone_that_is_made_later() {
    let machine = Machine::new();
    let projects = machine.projects();
    let imported = Project::new("/home/ada/cms/web");
    let repository = Identity {
        repository: Some("/home/ada/cms".to_owned()),
        remote: Some("github.com/acme/cms".to_owned()),
    };
    // The first export did not contain the repository.
    projects.note_imported(&imported, Identity::default());
    projects.note_imported(&imported, repository);
    machine.repository("clone", "git@github.com:acme/cms.git");
    let found = || projects.of_directory(&machine.path("clone")).contains(&imported.namespace());
    assert!(found());
    let clone = machine.note(&projects, "clone");
    assert!(found() && projects.of_namespace(imported.namespace()).contains(&clone));
}

/// A path of another machine may be another repository here.
#[test]
fn an_import_does_not_join_two_projects_of_this_machine() {
    let machine = Machine::new();
    machine.repository("x", "git@github.com:acme/x.git");
    machine.repository("workspace", "git@github.com:acme/y.git");
    let projects = machine.projects();
    let (x, y) = (machine.note(&projects, "x"), machine.note(&projects, "workspace"));
    let workspace = Project::new(&machine.path("workspace")).spelling();
    let with = |remote: Option<&str>| Identity {
        repository: Some(workspace.clone()),
        remote: remote.map(str::to_owned),
    };
    let worktree = Project::new("/tmp/of-a-container/wt1");
    projects.note_imported(&worktree, with(Some("github.com/acme/x")));
    let unconnected = Project::new("/tmp/of-a-container/wt2");
    projects.note_imported(&unconnected, with(None));
    let found = projects.of_namespace(x);
    assert!(found.contains(&worktree.namespace()) && !found.contains(&y), "{found:?}");
    let found = projects.of_namespace(y);
    assert!(!found.contains(&unconnected.namespace()), "{found:?}");
    // The same repository at the same path is one project.
    let same = Project::new("/tmp/of-a-container/wt3");
    projects.note_imported(&same, with(Some("github.com/acme/y")));
    assert_eq!(projects.repository_of(same.namespace()), with(Some("github.com/acme/y")));
}

#[test]
fn spellings_of_a_path_are_one_project() {
    let machine = Machine::new();
    let projects = machine.projects();
    let windows = machine.note(&projects, "C:\\Code\\App");
    let wsl = machine.note(&projects, "/mnt/c/code/app");
    for path in ["c:/code/app", "C:\\code\\app\\src", "/mnt/c/Code/App"] {
        let mut found = projects.of_directory(path);
        found.retain(|one| [windows, wsl].contains(one));
        assert_eq!(sorted(found), sorted(vec![windows, wsl]), "{path}");
    }
    let alone = projects.spellings_of("c:/code/app");
    assert!(alone.contains(&windows) && alone.contains(&wsl), "{alone:?}");
    for path in ["C:\\Code\\App", "/mnt/c/code/app"] {
        let found = sorted(projects.spellings_of(path));
        assert_eq!(found, sorted(vec![windows, wsl]), "{path}");
    }
    assert!(!projects.spellings_of("c:/code").contains(&wsl));
}

#[test]
fn a_project_has_the_names_of_its_folder_and_its_remote() {
    let machine = Machine::new();
    machine.repository("checkout-1", "git@example.com:ann/App.git");
    let projects = machine.projects();
    let app = machine.note(&projects, "checkout-1/sub");
    let known = NamedProject::Known(vec![app]);
    for name in
        ["app", "App", "checkout-1", "sub", "git@example.com:ann/app", "example.com/ann/app"]
    {
        assert_eq!(projects.named(name), known, "{name}");
    }
    assert_eq!(projects.named("Ann/app"), known);
    assert_eq!(projects.all_names(), ["app"]);
    for other in ["joann/app", "ann/apple", "nn/app"] {
        assert_eq!(projects.named(other), NamedProject::Unknown, "{other}");
    }
    assert_eq!(projects.named(&app.to_string()), known);
    assert_eq!(projects.named("nothing"), NamedProject::Unknown);
    machine.note(&projects, "/srv/app");
    let NamedProject::Ambiguous(paths) = projects.named("app") else {
        panic!("two projects have the name")
    };
    assert_eq!(paths.len(), 2);
}

#[test]
fn directories_of_old_sessions_are_noted_and_unused_directories_dropped() {
    let machine = Machine::new();
    machine.repository("app", "git@example.com:ann/app.git");
    fs::create_dir_all(machine.folder.path().join("app/src")).unwrap();
    for (key, path) in [(1, "app"), (2, "app/src")] {
        let session = Session {
            project: Some(Project::new(&machine.path(path))),
            state: State::Indexed,
            ..contract::session(SessionKey(key), &key.to_string())
        };
        machine.store.write(vec![Write::Session(Box::new(session))]).wait().unwrap();
    }
    let projects = machine.projects();
    let gone = machine.note(&projects, "/srv/removed");
    let later = NOW.plus(RECHECK_AFTER);
    projects.note_all(later, &|| true);
    assert_eq!(projects.of_directory(&machine.path("app")).len(), 2);
    assert_eq!(projects.path(gone), None);
    assert_eq!(machine.projects().read().len(), 2);
}

#[test]
fn a_damaged_note_of_a_directory_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SledStore::open(folder.path()).unwrap());
    let load = || Projects::load(store.clone(), None).unwrap();
    let (lost, kept) = (Project::new("/srv/lost"), Project::new("/srv/kept"));
    let projects = load();
    for project in [&lost, &kept] {
        projects.note(project, NOW);
    }
    store.write(Vec::new()).wait().unwrap();
    let name = note_of(lost.namespace(), None).name;
    store.damage_note(NoteNamespace::Projects, &name);
    let projects = load();
    assert_eq!(projects.path(lost.namespace()), None);
    assert_eq!(projects.path(kept.namespace()).as_deref(), Some("/srv/kept"));
    projects.note(&lost, NOW);
    store.write(Vec::new()).wait().unwrap();
    assert_eq!(load().path(lost.namespace()).as_deref(), Some("/srv/lost"));
}

#[test]
fn a_directory_that_is_imported_during_a_pass_is_not_dropped() {
    let machine = Machine::new();
    let projects = machine.projects();
    let unused = machine.note(&projects, "/srv/unused");
    let imported = Project::new("/home/ann/app");
    let import = || {
        projects.note_imported(&imported, Identity::default());
        true
    };
    projects.note_all(NOW.plus(RECHECK_AFTER), &import);
    assert_eq!(projects.path(unused), None);
    assert_eq!(projects.path(imported.namespace()).as_deref(), Some("/home/ann/app"));
}

#[test]
fn a_pass_that_is_stopped_at_once_drops_no_directory() {
    let machine = Machine::new();
    let session =
        Session { project: None, ..contract::session(SessionKey(1), "without-a-directory") };
    machine.store.write(vec![Write::Session(Box::new(session))]).wait().unwrap();
    let projects = machine.projects();
    let known = machine.note(&projects, "/srv/app");
    projects.note_all(NOW.plus(RECHECK_AFTER), &|| false);
    assert_eq!(projects.path(known).as_deref(), Some("/srv/app"));
}

#[test]
fn a_pass_that_meets_a_damaged_session_drops_no_directory() {
    let machine = Machine::new();
    for (key, path) in [(1, "/srv/damaged"), (2, "/srv/app")] {
        let project = Some(Project::new(path));
        let session = Session { project, ..contract::session(SessionKey(key), &key.to_string()) };
        machine.store.write(vec![Write::Session(Box::new(session))]).wait().unwrap();
    }
    let projects = machine.projects();
    let known = machine.note(&projects, "/srv/damaged");
    machine.store.damage_session(SessionKey(1));
    projects.note_all(NOW.plus(RECHECK_AFTER), &|| true);
    assert_eq!(projects.path(known).as_deref(), Some("/srv/damaged"));
    let later = Project::new("/srv/app").namespace();
    assert_eq!(projects.path(later).as_deref(), Some("/srv/app"));
}
