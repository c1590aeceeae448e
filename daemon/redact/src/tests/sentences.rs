//! Secrets in sentences, in pairs of a user and a password, and below labels.

use crate::tests::fake_secrets::{assert_kept, assert_replaced};

#[test]
fn passwords_in_sentences_are_redacted() {
    assert_replaced(&[
        ("hunter22", "set the password to ¤"),
        ("Falcon41+berlin", "Please change the db password to ¤, and restart."),
        ("falconberlin41", "git commit -m 'chore: change db password to ¤'"),
        ("swordfish", "set the password to '¤' for bob"),
        ("Falcon41*berlin", "Change the admin password to `¤`."),
        ("Falcon41=berlin", "I changed the password from Old1! to ¤ today"),
        ("Falcon41=berlin", "the password should be ¤"),
        ("hunter22", "the new password will be ¤"),
        ("Falcon41!berlin", "the password was reset to ¤\nThanks"),
        ("Falcon41!berlin", "password -> ¤"),
        ("Falcon41!berlin", "db password → ¤"),
        ("Falcon41!berlin", "password — ¤"),
        ("Falcon41!berlin", "password - ¤"),
        ("Falcon41!berlin", "the admin password (¤) works"),
        ("Falcon41!berlin", "**Password**: ¤"),
        ("Falcon41!berlin", "The password for the db is ¤"),
        ("Falcon41!berlin", "password for bob@host.de is ¤"),
        ("hunter2", "Das Passwort für den Server ist ¤ und der Nutzer ist admin."),
        ("Falcon41=berlin", "try the password ¤ please"),
        ("Falcon41=berlin", "use ¤ as the password"),
        ("hunter22", "use ¤ as the db password, please"),
        ("Falcon41#berlin", "enter ¤ when it asks for the password"),
        ("Falcon41#berlin", "put ¤ into DB_PASSWORD"),
        ("Falcon41#berlin", "nimm ¤ als Passwort"),
        ("falconberlin41", "my pw is ¤"),
        ("Falcon41#berlin", "login: bob, pw: ¤\nThanks"),
        ("Falcon41#berlin", "Set DB_PASSWORD to ¤"),
        ("Falcon41#berlin", "DB_PASSWORD should be ¤"),
        ("kJ8s2Lq0Zx9Vb4Nm", "API_KEY → ¤"),
        ("Falcon41!berlin", "the api key is ¤"),
        ("Falcon41!berlin", "hasło to ¤"),
        ("Falcon41!berlin", "a senha é ¤"),
        ("Falcon41!berlin", "le mdp c'est ¤"),
        ("Falcon41!berlin", "密码是 ¤"),
        ("Falcon41!berlin", "口令是¤"),
        ("Falcon41!berlin", "パスワードは ¤ です"),
        ("Falcon41!berlin", "password：¤"),
        ("Falcon41!berlin", "пароль: ¤"),
        ("Falcon41!berlin", "비밀번호: ¤"),
        ("Falcon41!berlin", "şifre: ¤"),
    ]);
}

#[test]
fn sentences_about_passwords_stay() {
    assert_kept(&[
        "set the password to null",
        "set the password to the value of DB_PASSWORD",
        "set the password to an empty string",
        "rename password to password2",
        "rename `password` to `passphrase`",
        "add a password to user12",
        "send the password to bob2@host.org",
        "change the password hash from bcrypt to argon2id",
        "change the input type from password to 'visible'",
        "the password should be optional",
        "the password should be at least 12 characters long",
        "the password was reset to the default",
        "the password (min. 8 characters)",
        "the password (sha256) column",
        "password - required",
        "the private key - Web3Auth does not derive one",
        "use bcrypt2 as the password hasher",
        "use OAuth2 as the auth token provider",
        "store it as the password",
        "use the same value as the password",
        "pass user2 as the first argument",
        "the password for the db is stored in Vault2",
        "my pw is wrong",
        "Change the token to JWT2",
        "Passwort vergessen soll eine Mail senden",
        "密码是必填项",
        "请输入密码：这是一个秘密的句子",
        "the values of all columns identified by \"colUsed\", except one",
        "Don't add login and password for such URLs",
        "the password, hunter2",
    ]);
}

#[test]
fn passwords_beside_users_are_redacted() {
    assert_replaced(&[
        ("Falcon41=berlin", "Credentials: admin / ¤"),
        ("falconberlin41", "Zugangsdaten: admin / ¤"),
        ("admin:Falcon41=berlin", "creds: ¤"),
        ("Falcon41=berlin", "Login: bob@host.de / ¤"),
        ("Falcon41=berlin", "user/pass = admin/¤"),
        ("falconberlin41", "Use the credentials admin:¤ to log in"),
        ("Falcon41=berlin", "log in with admin/¤"),
        ("Falcon41=berlin", "log in with admin and ¤"),
        ("Falcon41=berlin", "The login is bob@host.de and ¤"),
        ("Falcon41=berlin", "Credentials:\nadmin\n¤"),
    ]);
}

#[test]
fn other_pairs_stay() {
    assert_kept(&[
        "credentials: include",
        "credentials: src/auth",
        "login: src/pages/Login2.tsx",
        "Login: bob / admin",
        "log in with Google and GitHub",
        "log in with admin/admin",
        "Log in with bob and open page 12",
        "login with password fails in Safari17",
        "creds: user:password",
        "auth: none",
        "auth=oauth2",
    ]);
}

#[test]
fn passwords_below_labels_are_redacted() {
    assert_replaced(&[
        ("Falcon41=berlin", "Here is the database password:\n¤\nUse it."),
        ("falconberlin41", "Database password:\n```\n¤\n```\n"),
        ("swordfishes", "Database password:\n\n```text\n¤\n```\n"),
        ("Falcon41=berlin", "**Password:**\n`¤`"),
        ("Falcon41=berlin", "password?\n¤\nThanks"),
        ("sItIqtGYY3oFIRAobMwQ3vgtECmhmNzN", "API key:\n¤\n"),
        ("cbb8694d6720b333d272b885905ded30", "API key:\n¤\n"),
        (
            "Nhs2fZAD4Th6zxX39Dcy",
            "Password for the [elastic] user successfully reset.\nNew value: ¤",
        ),
        (
            "8993d3460ac162fd5dd83aac83df9f02",
            "Please use the following password to proceed to installation:\n\n¤\n\nThis may",
        ),
    ]);
}

#[test]
fn other_lines_below_labels_stay() {
    assert_kept(&[
        "password:\n  required\n",
        "password:\n  - required\n  - string\n",
        "password:\n  type: string\n",
        "password:\n  admin12:\n    id: 1\n",
        "Enter password:\nPermission denied",
        "wrong password?\nSee auth.rs",
        "passwd:\n```\nmkpasswd\n```\n",
        "Tokens:\n```\naccess_token\n```\n",
        "cache key:\n9f86d081884c7d659a2feaa0c55ad015\n",
    ]);
}

#[test]
fn descriptions_of_a_password_stay() {
    assert_kept(&[
        "The password is base64-encoded in the secret.",
        "The password is SHA-256 hashed",
        "The password is SHA-256",
        "The password is sha256-hashed",
        "The password is PBKDF2-hashed",
        "The password is PBKDF2-HMAC-SHA256 with 600000 rounds",
        "Each password is argon2id hashed with a salt.",
        "The password is AES-256-GCM encrypted",
        "The password is utf-8 encoded",
        "The password is utf-16-le encoded",
        "the password is rsa-2048 encrypted",
        "the password is 1Password-managed",
        "password is no-longer-used",
        "password is write-only-field",
        "the password is write-only-field of the API",
    ]);
    assert_replaced(&[
        ("hunter2", "The password is ¤ in the secret."),
        ("aes-Falcon41", "the password is ¤ and it works"),
        ("rsa2024", "the password is ¤"),
        ("base2024-dev", "the password is ¤"),
        ("aes2024-prod", "the password is ¤"),
        ("Natasha12", "the password is ¤ and it works"),
        ("sha1Falcon!", "the password is ¤ and it works"),
        ("base-camp-berlin", "the password is ¤"),
        ("blaue-katze-am-see", "the password is ¤"),
        ("only-falcon-field-41", "the password is ¤"),
        ("managed-falcon41", "the password is ¤"),
        ("Falcon-41-managed", "the password is '¤'"),
        ("user12", "the password is ¤ and it works"),
    ]);
}

#[test]
fn passwords_of_a_word_and_a_number_are_redacted_in_sentences() {
    assert_replaced(&[
        ("Winter-2025", "Set the DB password to ¤"),
        ("Summer_2024", "I set the password to ¤"),
        ("Winter-2025", "The database password was rotated to ¤ yesterday."),
        ("2025-Winter", "Set the DB password to ¤"),
    ]);
    assert_kept(&[
        "set the password to Ticket-1234",
        "set the password to step_100",
        "set the password to PROJ-1234",
        "set the password to Utf-8",
        "set the password to Model-3",
        "set the password to db-creds-2024",
        "set the password to A-1234",
        "log in with admin/Winter-2025",
    ]);
}
