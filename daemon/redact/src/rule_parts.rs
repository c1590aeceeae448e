//! Parts of the rules that several rows share.

/// The names of session cookies, each with each of the signs that may follow.
macro_rules! cookies {
    ($($sign:literal)+) => {
        &[$(
            concat!("PHPSESSID", $sign),
            concat!("JSESSIONID", $sign),
            concat!("ASP.NET_SessionId", $sign),
            concat!("connect.sid", $sign),
            concat!("laravel_session", $sign),
            concat!("_gitlab_session", $sign),
            concat!("sessionid", $sign),
        )+]
    };
}

/// The pattern of a command's arguments, possibly over continued lines. Quoted arguments may
/// contain any character. A quote within a word does not begin an argument of several lines.
macro_rules! args {
    () => {
        r#"(?: (?:[^\n|;&\\]|\\(?:\r?\n|.)|'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|[ =]'[^']*'|[ =]"(?:[^"\\]|\\.)*")*?)?[ \t]"#
    };
}

/// The pattern of an argument that is a password.
macro_rules! word {
    () => {
        r#"(?:'([^'\n]+)|"((?:[^"\\\n]|\\.)+)|([^\s'"`-][^\s'"`]*))"#
    };
}

/// The pattern of an argument that is a password, but neither a port nor a path.
macro_rules! no_port {
    () => {
        r#"(?:'([^'\n]+)'|"([^"\n]+)"|((?:[^\s'"`:\\;|&<>-][^\s'"`:\\;|&<>]{2,}|(?:\d[\d.:]*)?[^\s\d.:'"`\\;|&<>/$-][^\s'"`\\;|&<>]{2,}))(?:[\s'"`\\;|&<>]|$))"#
    };
}

/// The pattern of the text after a code of digits: no unit, no further digits and no decimals.
macro_rules! after_code {
    () => {
        r"(?:[^\w.:/ ,-]| (?:[^lbmrctL]|t[^i]|l[^io]|b[^y]|m[^si]|r[^o]|c[^h]|L[^O]|$)|,(?:[^ /]| [^/]|$)|[.:/-](?:\W|$)|$)"
    };
}

pub(super) use {after_code, args, cookies, no_port, word};
