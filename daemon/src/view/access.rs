//! Decides which requests are allowed, without I/O.
//!
//! The address that `graphiti view` opens contains a token. The token is valid once and for a short
//! time; the browser gets a cookie in exchange. Other users of the machine can connect to the port,
//! and other sites can make the user's browser send requests to the port. The requests of such
//! users and sites do not contain the cookie. Browsers also send a cookie to servers at other ports
//! of the same host. Therefore, all pages are below a path with a random name, and the cookie is
//! valid only for this path.

use std::time::Duration;

use uuid::Uuid;

use crate::model::Timestamp;

pub(super) const TOKEN_LIFE: Duration = Duration::from_secs(120);
/// Maximum number of valid tokens; a further token replaces the oldest.
const MAX_TOKENS: usize = 8;

/// The address and the secrets of one server.
pub(super) struct AccessControl {
    /// The host and port of the server, as browsers write them.
    authority: String,
    /// The first segment of all paths.
    area: String,
    cookie: String,
    tokens: Vec<OneTimeToken>,
    /// Tokens that were redeemed and have not expired yet.
    used: Vec<OneTimeToken>,
}

struct OneTimeToken {
    secret: String,
    expires_at: Timestamp,
}

/// The parts of a request on which access depends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestOrigin<'r> {
    pub(super) host: Option<&'r str>,
    pub(super) origin: Option<&'r str>,
    /// The header `Sec-Fetch-Site`: the relation between this server and the site that caused the
    /// request.
    pub(super) site: Option<&'r str>,
    pub(super) cookies: Option<&'r str>,
    /// Whether the request may change something.
    pub(super) is_change: bool,
    /// Whether the request presents a token. Such a request may come from another site, because
    /// `graphiti view` opens a local file that leads to the page.
    pub(super) has_token: bool,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The request is for another host, such as a domain name that resolves to this machine.
    Host,
    /// A page of another site caused the request.
    OtherSite,
    NoCookie,
    /// The token is unknown, was used, or has expired.
    StaleToken,
}

impl AccessControl {
    pub(super) fn new(authority: String) -> AccessControl {
        let area = Uuid::new_v4().simple().to_string();
        AccessControl { authority, area, cookie: secret(), tokens: Vec::new(), used: Vec::new() }
    }

    pub(super) fn area(&self) -> &str {
        &self.area
    }

    /// Returns an address with a new token.
    pub(super) fn address_with_token(&mut self, now: Timestamp) -> String {
        self.tokens.retain(|token| now < token.expires_at);
        if self.tokens.len() >= MAX_TOKENS {
            self.tokens.remove(0);
        }
        let secret = secret();
        let url = format!("http://{}/{}/open?token={secret}", self.authority, self.area);
        self.tokens.push(OneTimeToken { secret, expires_at: now.plus(TOKEN_LIFE) });
        url
    }

    /// Checks a token, and returns the value of `Set-Cookie`.
    ///
    /// If a token is presented twice, another program may have read the token and received the
    /// cookie. Therefore, the cookie is replaced by a new one, which nobody has.
    pub(super) fn redeem(&mut self, token: &str, now: Timestamp) -> Result<String, Refusal> {
        self.used.retain(|used| now < used.expires_at);
        if self.used.iter().any(|used| is_same(&used.secret, token)) {
            self.cookie = secret();
            return Err(Refusal::StaleToken);
        }
        let found = self.tokens.iter().position(|known| is_same(&known.secret, token));
        let known = self.tokens.remove(found.ok_or(Refusal::StaleToken)?);
        if now >= known.expires_at {
            return Err(Refusal::StaleToken);
        }
        self.used.push(known);
        let AccessControl { area, cookie, .. } = self;
        Ok(format!("{COOKIE}={cookie}; Path=/{area}/; HttpOnly; SameSite=Strict"))
    }

    /// Checks that a request is addressed to this server, and that no other site caused it.
    pub(super) fn check_origin(&self, request: &RequestOrigin<'_>) -> Result<(), Refusal> {
        if request.host != Some(self.authority.as_str()) {
            return Err(Refusal::Host);
        }
        let is_own_site = request.site == Some("same-origin");
        let is_own_origin = match request.origin {
            // The origin of a form is `null` if its page sends no referrer.
            Some("null") => is_own_site,
            Some(origin) => origin.strip_prefix("http://") == Some(self.authority.as_str()),
            None => !request.is_change || is_own_site,
        };
        // `none` means that the user opened the address.
        let is_allowed_site = matches!(request.site, None | Some("same-origin" | "none"))
            || request.has_token && !request.is_change && request.origin.is_none();
        (is_own_origin && is_allowed_site).then_some(()).ok_or(Refusal::OtherSite)
    }

    pub(super) fn check_cookie(&self, request: &RequestOrigin<'_>) -> Result<(), Refusal> {
        let mut pairs = request.cookies.unwrap_or_default().split(';');
        let has_cookie = pairs.any(|pair| {
            let value = pair.trim().strip_prefix(COOKIE).and_then(|rest| rest.strip_prefix('='));
            value.is_some_and(|value| is_same(value, &self.cookie))
        });
        has_cookie.then_some(()).ok_or(Refusal::NoCookie)
    }
}

const COOKIE: &str = "graphiti-view";

/// Returns a text of 244 random bits.
fn secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Compares two texts in a time that does not depend on where they differ.
fn is_same(known: &str, given: &str) -> bool {
    let differences =
        known.bytes().zip(given.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    known.len() == given.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_000_000);

    fn control() -> AccessControl {
        AccessControl::new("127.0.0.1:4000".to_owned())
    }

    fn token(url: &str) -> String {
        url.rsplit_once("token=").unwrap().1.to_owned()
    }

    #[test]
    fn a_token_is_valid_once_and_for_a_short_time() {
        let mut control = control();
        let (first, second) =
            (token(&control.address_with_token(NOW)), token(&control.address_with_token(NOW)));
        assert!(control.redeem(&first, NOW).is_ok());
        assert_eq!(control.redeem(&first, NOW), Err(Refusal::StaleToken));
        assert_eq!(control.redeem(&second, NOW.plus(TOKEN_LIFE)), Err(Refusal::StaleToken));
        assert_eq!(control.redeem(&second, NOW), Err(Refusal::StaleToken));
        assert_eq!(control.redeem("", NOW), Err(Refusal::StaleToken));
    }

    #[test]
    fn a_token_that_is_presented_twice_invalidates_the_cookie() {
        let mut control = control();
        let (first, second) =
            (token(&control.address_with_token(NOW)), token(&control.address_with_token(NOW)));
        let is_valid = |control: &AccessControl, cookie: &str| {
            let cookies = cookie.split(';').next();
            control.check_cookie(&RequestOrigin { cookies, ..RequestOrigin::default() }).is_ok()
        };
        let cookie = control.redeem(&first, NOW).unwrap();
        assert!(is_valid(&control, &cookie));
        assert_eq!(control.redeem("0", NOW), Err(Refusal::StaleToken));
        assert!(is_valid(&control, &cookie), "a wrong token changes nothing");
        assert_eq!(control.redeem(&first, NOW), Err(Refusal::StaleToken));
        assert!(!is_valid(&control, &cookie));
        let again = control.redeem(&second, NOW).unwrap();
        assert!(is_valid(&control, &again));
        // The browser requests an old address again some time later.
        assert_eq!(control.redeem(&second, NOW.plus(TOKEN_LIFE)), Err(Refusal::StaleToken));
        assert!(is_valid(&control, &again));
    }

    #[test]
    fn only_a_request_with_a_token_may_come_from_a_file() {
        let control = control();
        let entering = RequestOrigin {
            host: Some("127.0.0.1:4000"),
            site: Some("cross-site"),
            has_token: true,
            ..RequestOrigin::default()
        };
        assert_eq!(control.check_origin(&entering), Ok(()));
        for refused in [
            RequestOrigin { has_token: false, ..entering },
            RequestOrigin { is_change: true, ..entering },
            RequestOrigin { origin: Some("http://evil.example"), ..entering },
            RequestOrigin { origin: Some("null"), ..entering },
        ] {
            assert_eq!(control.check_origin(&refused), Err(Refusal::OtherSite), "{refused:?}");
        }
        let other_name = RequestOrigin { host: Some("evil.example:4000"), ..entering };
        assert_eq!(control.check_origin(&other_name), Err(Refusal::Host));
    }

    #[test]
    fn only_the_latest_tokens_are_valid() {
        let mut control = control();
        let first = token(&control.address_with_token(NOW));
        let later: Vec<String> =
            (0..MAX_TOKENS).map(|_| token(&control.address_with_token(NOW))).collect();
        assert_eq!(control.redeem(&first, NOW), Err(Refusal::StaleToken));
        assert!(control.redeem(&later[0], NOW).is_ok());
    }

    #[test]
    fn the_cookie_is_hidden_from_scripts_other_sites_and_other_paths() {
        let mut control = control();
        let token = token(&control.address_with_token(NOW));
        let cookie = control.redeem(&token, NOW).unwrap();
        let rest = format!("; Path=/{}/; HttpOnly; SameSite=Strict", control.area());
        assert!(cookie.ends_with(&rest), "{cookie}");
        let pair = cookie.split(';').next().unwrap();
        let given = |cookies: &str| {
            let request = RequestOrigin { cookies: Some(cookies), ..RequestOrigin::default() };
            control.check_cookie(&request)
        };
        assert_eq!(given(pair), Ok(()));
        assert_eq!(given(&format!("a=b; {pair}")), Ok(()));
        for wrong in
            ["", "graphiti-view=", "graphiti-view", &pair[..pair.len() - 1], &format!("x{pair}")]
        {
            assert_eq!(given(wrong), Err(Refusal::NoCookie), "{wrong}");
        }
    }

    #[test]
    fn requests_that_another_site_caused_are_refused() {
        let control = control();
        let own = Some("http://127.0.0.1:4000");
        for (host, origin, site, is_change, expected) in [
            ("127.0.0.1:4000", None, None, false, Ok(())),
            ("127.0.0.1:4000", None, Some("none"), false, Ok(())),
            ("127.0.0.1:4000", own, Some("same-origin"), true, Ok(())),
            ("127.0.0.1:4000", own, None, true, Ok(())),
            ("127.0.0.1:4000", Some("null"), Some("same-origin"), true, Ok(())),
            ("127.0.0.1:4000", None, Some("same-origin"), true, Ok(())),
            ("evil.example:4000", None, None, false, Err(Refusal::Host)),
            ("localhost:4000", None, None, false, Err(Refusal::Host)),
            ("127.0.0.1:4001", None, None, false, Err(Refusal::Host)),
            ("127.0.0.1:4000", Some("http://evil.example"), None, false, Err(Refusal::OtherSite)),
            ("127.0.0.1:4000", Some("http://127.0.0.1:4001"), None, true, Err(Refusal::OtherSite)),
            ("127.0.0.1:4000", Some("null"), None, true, Err(Refusal::OtherSite)),
            ("127.0.0.1:4000", Some("null"), Some("cross-site"), true, Err(Refusal::OtherSite)),
            ("127.0.0.1:4000", None, Some("cross-site"), false, Err(Refusal::OtherSite)),
            ("127.0.0.1:4000", None, Some("same-site"), false, Err(Refusal::OtherSite)),
            ("127.0.0.1:4000", None, None, true, Err(Refusal::OtherSite)),
        ] {
            let host = Some(host);
            let request =
                RequestOrigin { host, origin, site, is_change, ..RequestOrigin::default() };
            assert_eq!(control.check_origin(&request), expected, "{request:?}");
        }
        assert_eq!(control.check_origin(&RequestOrigin::default()), Err(Refusal::Host));
    }
}
