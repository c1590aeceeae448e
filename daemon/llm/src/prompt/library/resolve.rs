//! The paths where a template may be, in the order of the search.

use std::path::{Component, Path, PathBuf};

use crate::prompt::{
    config::TemplateSource,
    kind::PromptKind,
    library::{Folders, TemplateOrigin},
};

/// Returns the places where a template may be. The first existing place is used.
pub(super) fn candidates(
    kind: PromptKind,
    source: &TemplateSource,
    folders: &Folders,
    project: Option<&Path>,
) -> Vec<TemplateOrigin> {
    match source {
        TemplateSource::Default => of_kind(kind, folders, project),
        TemplateSource::File(name) if PromptKind::parse(name) == Some(kind) => {
            of_kind(kind, folders, project)
        }
        TemplateSource::File(name) => of_name(name, folders, project),
        TemplateSource::Inline(_) => vec![TemplateOrigin::Inline],
    }
}

fn of_kind(kind: PromptKind, folders: &Folders, project: Option<&Path>) -> Vec<TemplateOrigin> {
    let in_project = project.map(|project| project.join(".graphiti").join("prompts"));
    let in_home = folders.home.join("prompts");
    let of_project = in_project.iter().flat_map(|folder| {
        kind.file_names().map(|name| TemplateOrigin::Project(folder.join(name)))
    });
    let of_user = kind.file_names().map(|name| TemplateOrigin::User(in_home.join(name)));
    of_project.chain(of_user).collect()
}

/// Returns the file at an absolute path, or the possible files with a name in the folders of the
/// project and the user: none for a name that contains `..`.
fn of_name(name: &str, folders: &Folders, project: Option<&Path>) -> Vec<TemplateOrigin> {
    if let Some(path) = absolute(name, folders) {
        return vec![TemplateOrigin::File(path)];
    }
    let name = Path::new(name);
    let stays_inside =
        name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !stays_inside {
        return Vec::new();
    }
    let project = project.map(|project| project.join(".graphiti"));
    let in_project = project.into_iter().flat_map(|folder| {
        [folder.join("prompts").join(name), folder.join(name)].map(TemplateOrigin::Project)
    });
    let home = &folders.home;
    let in_home = [home.join("prompts").join(name), home.join(name)].map(TemplateOrigin::User);
    in_project.chain(in_home).collect()
}

fn absolute(name: &str, folders: &Folders) -> Option<PathBuf> {
    if let Some(rest) = name.strip_prefix("~/") {
        return Some(folders.user.as_ref()?.join(rest));
    }
    Path::new(name).is_absolute().then(|| PathBuf::from(name))
}
