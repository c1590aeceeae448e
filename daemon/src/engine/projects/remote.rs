//! Normalises the different spellings of a repository's address.

/// Returns the address as `host/path`, or as the path alone if the address has no host. The form is
/// the same for all protocols, users and letter cases. `None` if the address has no path.
pub(super) fn normalized(url: &str) -> Option<String> {
    let url = url.trim().trim_end_matches('/');
    let (host, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None => match url.split_once(':') {
            // The form `host:path`. A Windows drive, and a folder with a colon in its name, are not
            // of this form.
            Some((host, path)) if host.len() > 1 && !host.contains('/') => (host, path),
            _ => ("", url),
        },
    };
    // The user name is dropped, because it may be a secret.
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.split_once(':').map_or(host, |(name, _port)| name);
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    if path.is_empty() {
        return None;
    }
    let address = if host.is_empty() { path.to_owned() } else { format!("{host}/{path}") };
    Some(address.replace('\\', "/").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_an_address_are_normalised_to_one() {
        for url in [
            "git@github.com:Ann/app.git",
            "github.com:ann/app",
            "ssh://git@github.com/ann/app.git",
            "ssh://git@github.com:22/ann/app",
            "https://github.com/ann/app",
            "https://token:x-oauth@GitHub.com/ann/app.git/",
            "git://github.com/ann/app.git",
            "github.com/ann/app",
        ] {
            assert_eq!(normalized(url).as_deref(), Some("github.com/ann/app"), "{url}");
        }
        assert_eq!(normalized("/srv/git/app.git").as_deref(), Some("srv/git/app"));
        assert_eq!(normalized("file:///srv/git/app.git").as_deref(), Some("srv/git/app"));
        assert_eq!(normalized("C:\\git\\app").as_deref(), Some("c:/git/app"));
        assert_eq!(normalized("https://github.com/"), None);
        assert_eq!(normalized(" "), None);
    }
}
