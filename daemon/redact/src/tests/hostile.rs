//! Adversarial text: inputs for which a quadratic algorithm would take too long.

use crate::Redactor;

/// Each unit is repeated up to about 300,000 bytes.
const UNITS: &[&str] = &[
    "a",
    " ",
    "\\",
    "\"",
    "=",
    "key=",
    "key=\"",
    "key:'",
    "password=",
    "password=\"",
    "token ",
    "PASSWORD:",
    "pin: 4821 ",
    "sk-",
    "eyJ",
    "eyJ.",
    "eyJhbGciOi-",
    "-eyJ",
    "AKIA",
    "ghp_",
    "MT",
    "Mz.",
    "://",
    "://a:b",
    "://a:b@",
    "http://x:",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "BEGIN PRIVATE KEY-----MIIEvQIBADANBgkqhkiG9w0B ",
    "MIIEvQIBADANBgkqhkiG9w0B -----END PRIVATE KEY----- ",
    "Private-Lines: 3 ",
    "mysql -u x ",
    "curl ",
    "curl -u a:",
    "credentials:aa:",
    "reds:aa:",
    "ogin:a@b:",
    "curl \\\n",
    "curl '\n",
    "use a1b2c3 as the password ",
    "password\n",
    "password:\n",
    "password from to ",
    "password (",
    "credentials: a/",
    "\"value\": \"a\", \"key\": \"",
    "\"password\", \"a\": 1, ",
    "a:b@tcp(",
    "= \"\" -> \"",
    "x -----BEGIN PRIVATE KEY-----\n",
    "密码：",
    "docker login ",
    "echo a | ",
    "sudo -S",
    "chpasswd",
    "Bearer ",
    "Basic ",
    "Cookie: a=",
    "Authorization: ",
    "Authorization: Digest a=",
    "[REDACTED:",
    "[REDACTED:token]",
    "[REDACTED:token]=",
    "sig=",
    ":AA",
    "-us",
    "JQQJ99",
    "AZDO",
    ".atlasv1.",
    "NRAL",
    "A",
    "0",
    "u+",
    "pass:",
    "-pass pass:",
    ":5432:",
    "\\n",
    "\\\\\\\"key\\\\\\\":",
    "&quot;",
    "%22key%22%3A",
    "key\\u0022:",
    "name: TOKEN value: ",
    "\u{65e5}",
    "key=\u{65e5}",
    "login x\npassword ",
    "AGE-SECRET-KEY-",
    "hooks.slack.com/services/",
    "glpat-",
    "x.x.x.",
    "AAAAAAAAAAAAAAAAAAAA",
    "sk_live_",
    "s.",
    "\"d\":\"",
    "key,\"",
    "| password |\n|---|\n",
    "password|",
    "|password",
    "password,",
    "user,password\n",
    "user,password\na,b\n",
    "password: |\n  ",
    "password: >-\n a\n",
    "PASSWORD=a(",
    "PASSWORD=&",
    "\"PASSWORD=",
    "[x]\npassword = a-1\n",
    "password = a-1\n",
    "a=b password=c ",
    "User: a / Password: b ",
    "<password></password>",
    "type=\"password\" value=\"",
    "value=\"",
    "mysqli_connect(a,",
    ".login('a','",
    "echo a | docker login --password-stdin ",
    "--password-stdin",
    "put-parameter --value a ",
    "mnemonic abc ",
    "abc def ghi ",
    "AUTH ",
    "a.pem:-----BEGIN PRIVATE KEY-----\na.pem:MIIEvQIBADANBgkqhkiG\n",
    "-----BEGIN PRIVATE KEY-----\na:-",
    "ALTER ROLE PASSWORD '",
    "contraseñ",
    "passwordññ",
    "?code=",
    "/reset/",
    "password for a ",
    "${KEY:-",
];

/// The secret after the input, which must be found.
const TOKEN: &str = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";

fn is_redacted_after(redactor: &Redactor, flood: &str) -> bool {
    !redactor.redact(&format!("{flood}\n{TOKEN}\n")).text.contains(TOKEN)
}

#[test]
fn many_repetitions_of_one_form_hide_no_secret() {
    let redactor = Redactor::new();
    for unit in UNITS {
        assert!(is_redacted_after(&redactor, &unit.repeat(300_000 / unit.len())), "{unit:?}");
    }
}

#[test]
fn many_repetitions_of_two_forms_hide_no_secret() {
    let redactor = Redactor::new();
    for (index, unit) in UNITS.iter().enumerate() {
        let other = UNITS[(index * 7 + 3) % UNITS.len()];
        let pair = format!("{}{other}", unit.repeat(5));
        assert!(
            is_redacted_after(&redactor, &pair.repeat(300_000 / pair.len())),
            "{unit:?} {other:?}"
        );
    }
}
