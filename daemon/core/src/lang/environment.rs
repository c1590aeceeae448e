//! Distinguishes failures of a session's machine or sandbox from failures of its project.
//!
//! The patterns are English, because most programs print such messages in English, whatever the
//! language of the session.

use crate::pattern::pattern;

/// Whether a text reports that the environment denied something. Such a text is no evidence about
/// the project.
pub fn is_denied_by_environment(text: &str) -> bool {
    let always = pattern!(
        r"(?i)\bsandbox(?:ed|ing)?\b.{0,60}\b(?:block\w*|den(?:y|ies|ied)|prevent\w*|restrict\w*|disallow\w*|forbid\w*|forbids|reject\w*|fail\w*|not (?:allow|permit)\w*)\b|\b(?:block\w*|denied|prevented|restricted|rejected|not (?:allowed|permitted)) (?:by|in|inside|within) (?:the |this |my )?(?:sandbox\w*|container|environment)\b|\bexec format error\b|\bnetwork is unreachable\b|\bno route to host\b|\bcould not resolve host\b|\bname resolution\b|\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|EROFS)\b|\bread-only file ?system\b|\b(?:from|in|inside|within) (?:this|the|my) sandbox\b|\b(?:fail\w*|block\w*|denied)\b.{0,24}\bnetwork (?:fetch|access|lookup|request)\b|\bno (?:network|internet) (?:access|connection)\b|\bno space left on device\b"
    );
    let denied = pattern!(
        r"(?i)\boperation not permitted\b|\bpermission denied\b|\b(?:EPERM|EACCES|EADDRINUSE|ECONNREFUSED)\b|\baddress already in use\b|\bconnection refused\b"
    );
    // The project itself may print the messages in `denied`. They count only if the text mentions
    // the machine.
    let of_machine = pattern!(
        r"(?i)\bcaches?\b|\b(?:bind|listen|port|socket|proxy|dns|localhost|registry|download\w*|install\w*|keychain|docker daemon)\b|127\.0\.0\.1|/tmp\b|~/|/(?:home|Users|root)/"
    );
    always.is_match(text) || denied.is_match(text) && of_machine.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_by_the_environment_are_recognised() {
        for (text, wanted) in [
            ("open /home/ann/.cache/go-build/a: operation not permitted", true),
            ("The sandbox blocks the test server", true),
            ("`lint` failed on a network fetch, so it is not verified from this sandbox", true),
            ("listen tcp 127.0.0.1:0: bind: operation not permitted", true),
            ("fork/exec ./graph: exec format error", true),
            ("dial tcp: network is unreachable", true),
            ("`rename` fails with EPERM on the SMB backend", false),
            ("`open()` returns permission denied for readers of a share", false),
            ("The sandbox of the plugin has its own clock", false),
        ] {
            assert_eq!(is_denied_by_environment(text), wanted, "{text}");
        }
    }
}
