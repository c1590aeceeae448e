//! Secrets in commands, names, diffs, logs and fields. A name and a sign such as `=` are not enough
//! to recognise them.

use serde_json::json;

use crate::{
    KnownSecrets, Redactor,
    tests::fake_secrets::{assert_kept, assert_replaced, secret},
};

#[test]
fn passwords_of_commands_over_several_lines_are_redacted() {
    assert_replaced(&[
        ("Falcon41!berlin", "curl -sS -X POST \\\n  -u admin:¤ \\\n  https://host/x"),
        ("Falcon41!berlin", "curl https://host \\\n  --user bob:¤ \\\n  -d '{}'"),
        ("Falcon41!berlin", "curl -s 'https://host/x?a=1&b=2' -u admin:¤"),
        ("Falcon41!berlin", "curl -d '{\"q\":\"a|b\"}' -u admin:¤ https://host"),
        ("Falcon41!berlin", "curl -d '{\n\"a\":1}' -u 'a:¤' https://host"),
        ("Falcon41!berlin", "don't use curl it's -u admin:¤"),
        ("Falcon41+berlin", "curl -su admin:¤ https://host"),
        ("Falcon41+berlin", "curl -sku 'elastic:¤' https://host"),
        ("Falcon41!berlin", "docker compose exec db mysql \\\n  -u root \\\n  -p¤ shop"),
        ("Falcon41!berlin", "docker login registry.host \\\n  -u bob \\\n  -p ¤"),
        ("Falcon41!berlin", "ldapsearch -D cn=admin -b dc=x '(&(a=b)(c=d))' -w ¤"),
        ("Falcon41!berlin", "sqlcmd -S host -U sa -P ¤"),
    ]);
    assert_kept(&[
        "curl -s https://host/x\nssh -u a:Falcon41!berlin",
        "curl -s https://host | jq -u a:b1c2d3",
        "curl -sSfL https://host:8080/x -o out",
        "sqlcmd -S h -U sa -w 300 -i x.sql",
        "\"redis-cli --askpass\",\n\"x\",\n\"nm -a b1c2d3\"",
        "mysql -h db -P 3307 -u root shop",
        "mongodump --port 27018 --db shop",
    ]);
}

#[test]
fn names_with_further_words_are_redacted() {
    assert_replaced(&[
        ("Falcon41!berlin", "A=1\nPASSWORD_MYSQL=¤\nB=2"),
        ("Falcon41+berlin", "DB_PASSWORD_READER=¤"),
        ("Falcon41!berlin", "{\"passwordEu\": \"¤\"}"),
        ("Falcon41!berlin", "password_mysql: ¤\nport: 1"),
        ("Falcon41!berlin", "SSHPASS=¤"),
        ("swordfish41", "export SSHPASS=¤; sshpass -e ssh host"),
        ("Falcon41!berlin", "PGPASS=¤"),
        ("Falcon41!berlin", "DBPW=¤"),
        ("Falcon41!berlin", "rootdn \"cn=admin\"\nrootpw ¤"),
        ("Falcon41!berlin", "REDISCLI_AUTH=¤ redis-cli ping"),
        ("Falcon41!berlin", "BASIC_AUTH=¤"),
        ("admin:Falcon41!berlin", "BASIC_AUTH=¤"),
        ("Falcon41!berlin", "DB_CREDS=¤"),
        ("Falcon41!berlin", "{\"passWord\": \"¤\"}"),
        ("Falcon41!berlin", "{\"accessCode\": \"¤\"}"),
        ("Falcon41!berlin", "access code: ¤"),
    ]);
    assert_kept(&[
        "PASSWORD_MIN_LENGTH=12",
        "PASSWORD_HASH_ALGORITHM=pbkdf2_sha256",
        "PASSWORD_POLICY=strict12",
        "PASSWORD_RESET_URL=https://host/reset12",
        "PASSWORD_EXPIRY=90days",
        "passwordInput2 = page.getByLabel('Password')",
        "passwordSchema: userSchema12,",
        "password_digest: 9f86d081884c7d659a2feaa0c55ad015",
        "AUTH=oauth2",
        "CREDS=./creds.json",
        "existingSecret: my-release-postgresql",
        "Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089",
    ]);
}

#[test]
fn passwords_beside_hosts_without_a_scheme_are_redacted() {
    assert_replaced(&[
        ("Falcon41=berlin", "DATABASE_DSN=app:¤@tcp(db:3306)/shop?parseTime=true"),
        ("swordfish", "sql.Open(\"mysql\", \"app:¤@tcp(127.0.0.1:3306)/shop\")"),
        ("Falcon41!berlin", "sqlplus app/¤@//db:1521/XE"),
        ("Falcon41=berlin", "url=jdbc:oracle:thin:app/¤@db:1521:XE"),
        ("Falcon41!berlin", "curl_setopt($c, CURLOPT_USERPWD, 'a:¤');"),
        ("Falcon41!berlin", "[smtp.host]:587 bob:¤"),
        ("Falcon41!berlin", "https://***:¤@host/x"),
        ("Falcon41!berlin", "ssh root:¤@10.0.0.4"),
    ]);
    assert_kept(&[
        "user:password@tcp(db:3306)/shop",
        "$USER:$PASSWORD@tcp(db:3306)/shop",
        "ssh bob@host:22",
        "scp a:file12 b:file13",
    ]);
}

#[test]
fn values_in_sibling_fields_are_redacted() {
    assert_replaced(&[
        (
            "Falcon41=berlin",
            "{\n \"Name\": \"/prod/db/password\",\n \"Type\": \"SecureString\",\n \"Value\": \"¤\",\n \"Version\": 1\n}",
        ),
        (
            "Falcon41=berlin",
            "\"db_password\": {\n  \"sensitive\": true,\n  \"type\": \"string\",\n  \"value\": \"¤\"\n }",
        ),
        ("Falcon41=berlin", "{\"OutputKey\": \"DbPassword\", \"OutputValue\": \"¤\"}"),
        ("Falcon41=berlin", "--parameters ParameterKey=DBPassword,ParameterValue=¤"),
        (
            "Falcon41=berlin",
            "{\"type\":\"encrypted\",\"value\":\"¤\",\"target\":[\"production\"],\"key\":\"DB_PASSWORD\"}",
        ),
        ("Falcon41=berlin", "[{\"value\": \"¤\", \"name\": \"DB_PASSWORD\"}]"),
        ("Falcon41=berlin", "az keyvault secret set --name DbPassword --value '¤'"),
    ]);
    assert_kept(&[
        "{\"name\": \"password\", \"type\": \"string\", \"minLength\": 8, \"value\": \"\"}",
        "\"password\": {\"type\": \"string\", \"minLength\": 8}, \"value\": \"hunter22\"",
        "{\"value\": \"hunter22\", \"name\": \"greeting\"}",
        "{\"value\": \"hunter22\"}, {\"name\": \"DB_PASSWORD\"}",
    ]);
}

#[test]
fn what_tools_type_into_password_fields_is_redacted() {
    let redactor = Redactor::new();
    for mut planted in [
        json!({"element": "Password field", "ref": "e12", "text": "swordfish", "submit": true}),
        json!({"selector": "#password", "value": "swordfish"}),
        json!({"selector": "input[type=password]", "value": "swordfish"}),
        json!({"key": "DB_PASSWORD", "val": "swordfish"}),
        json!({"secret_name": "DB_PASSWORD", "secret_value": "swordfish"}),
        json!({"variable": "DB_PASSWORD", "value": "swordfish"}),
    ] {
        redactor.redact_value(&mut planted);
        assert!(!planted.to_string().contains("swordfish"), "{planted}");
    }
    for kept in [
        json!({"element": "User name field", "ref": "e12", "text": "swordfish"}),
        json!({"element": "Password field", "ref": "e12", "button": "left"}),
        json!({"name": "password", "text": "swordfish"}),
        json!({"selector": "#email", "value": "swordfish"}),
    ] {
        let mut redacted = kept.clone();
        redactor.redact_value(&mut redacted);
        assert_eq!(redacted, kept);
    }
}

#[test]
fn passwords_in_calls_and_pipes_are_redacted() {
    assert_replaced(&[
        ("Falcon41!berlin", "sudo -S systemctl restart x <<< '¤'"),
        ("Falcon41!berlin", "echo -n '¤' | gcloud secrets versions add db --data-file=-"),
        ("Falcon41!berlin", "echo ¤ | npx wrangler secret put DB_PASSWORD"),
        ("Falcon41!berlin", "echo '¤' | vercel env add DB_PASSWORD production"),
        ("Falcon41!berlin", "ssh-keygen -t ed25519 -f id -N '¤'"),
        ("Falcon41!berlin", "composer config http-basic.repo.host bob ¤"),
        ("Falcon41!berlin", "http -a admin:¤ GET https://host/me"),
        ("Falcon41!berlin", "{\"Name\": \"prod/db\", \"SecretString\": \"¤\"}"),
        ("Falcon41!berlin", "~ DB_PASSWORD = \"placeholder\" -> \"¤\"\n"),
        ("Falcon41!berlin", "new NetworkCredential(\"bob\", \"¤\")"),
        ("Falcon41!berlin", "const hash = await bcrypt.hash('¤', 10);"),
        ("Falcon41!berlin", "User.objects.create_superuser('admin','a@b.c','¤')"),
        ("Falcon41!berlin", "const t = jwt.sign({ id }, '¤');"),
        ("Falcon41!berlin", "'Basic ' + btoa('bob:¤')"),
        ("Falcon41!berlin", "CREATE USER app IDENTIFIED BY \"¤\";"),
        ("Falcon41!berlin", "IDENTIFIED WITH mysql_native_password BY '¤';"),
        ("swordfish", "page.getByRole('textbox', { name: 'Password' }).fill('¤');"),
        ("swordfish", "page.locator('input[type=\"password\"]').fill('¤');"),
        ("swordfish", "fill_in 'Password', with: '¤'"),
        ("Falcon41!berlin", "When I fill in \"Password\" with \"¤\""),
        ("Falcon41!berlin", "- textbox \"Password\" [ref=e14]: ¤"),
        ("swordfish", "password ||= '¤'"),
    ]);
    assert_kept(&[
        "new NetworkCredential(user, password)",
        "bcrypt.hash(password, 10)",
        "bcrypt.hash('password', 10)",
        "jwt.sign(payload, process.env.JWT_SECRET, { expiresIn: '15m' })",
        "createHmac('sha256', key)",
        "createHmac('sha256', key).update(body, 'utf8')",
        "jwt.sign(payload, secret, { algorithm: 'HS256' })",
        "createUser('bob', 'bob12@host.org')",
        "Buffer.from('data:image/png;base64')",
        "name = \"a\" -> \"b\"",
        "page.getByRole('textbox', { name: 'Password' }).fill(password);",
        "ssh-keygen -t rsa -N '' -f id",
    ]);
}

#[test]
fn a_bar_in_a_cell_does_not_end_the_redaction_of_its_row() {
    assert_replaced(&[
        ("Fal|con41", " id | password  | note \n----+-----------+------\n  1 | ¤ | x\n"),
        ("Fal|con41", " note | password\n------+----------\n a|b  | ¤\n"),
        ("Wombat41", " id | password | note \n----+----------+------\n  1 | ¤ | a|b\n"),
        ("Wombat41", " id | password \n----+----------\n a| | ¤\n"),
        (
            "Fal|con41",
            "+----+-----------+------+\n| id | password  | note |\n+----+-----------+------+\n|  1 | ¤ | x    |\n+----+-----------+------+\n",
        ),
    ]);
    let heading = " note | password | on \n------+----------+----\n";
    let redactor = Redactor::new();
    for (row, wanted) in [
        // A wide character moves the bars.
        (" 語   | Fal|con  | yes\n", " 語   | [REDACTED:password]\n"),
        (" a|b  | Wombat41 | yes\n", " a|b  | [REDACTED:password] | yes\n"),
    ] {
        let text = format!("{heading}{row} a    | Wombat42 | no\n(2 rows)\n");
        let rest = " a    | [REDACTED:password] | no\n(2 rows)\n";
        let redacted = redactor.redact(&text).text.into_owned();
        assert_eq!(redacted, format!("{heading}{wanted}{rest}"));
        assert_eq!(redactor.redact(&redacted).text, redacted);
    }
}

#[test]
fn translated_labels_stay() {
    assert_kept(&[
        "{\"password\": \"Kennwort\"}",
        "{\"password\": \"Contraseña\"}",
        "{\"password\": \"Mot de passe\"}",
        "{\"confirmPassword\": \"Confirmer le mot de passe\"}",
        "{\"forgotPassword\": \"Passwort vergessen?\"}",
        "{\"password\": \"Пароль\"}",
        "password: \"Kennwort eingeben\"",
    ]);
    assert_replaced(&[("passwort41", "{\"password\": \"¤\"}")]);
}

#[test]
fn secrets_beside_and_between_colours_are_redacted() {
    let token = secret("ghp_{a36}", 7);
    let (start, end) = token.split_at(12);
    assert_replaced(&[
        ("swordfish", "\u{1b}[36mpassword\u{1b}[0m: \u{1b}[32m¤\u{1b}[0m\n"),
        ("swordfish", "\u{1b}[1mDB_PASSWORD\u{1b}[22m=¤\u{1b}[0m\nx"),
        (&token, "\u{1b}[31m¤\u{1b}[0m"),
    ]);
    let split = format!("+ \u{1b}[31m{start}\u{1b}[1;4m{end}\u{1b}[0m done");
    let redacted = Redactor::new().redact(&split).text.into_owned();
    assert_eq!(redacted, "+ \u{1b}[31m[REDACTED:github-token]\u{1b}[0m done");
    assert_eq!(Redactor::new().redact(&redacted).text, redacted);
}

#[test]
fn variables_of_scripts_stay() {
    assert_kept(&[
        "$password = $request->password;",
        "$password = $request->input('password');",
        "$password = $user?->password;",
        "$password = $_POST['password'] ?? null;",
        "$password = $request->input('password', null);",
        "$password = $row[0].$salt;",
        "$password = $_POST['password'];",
        "$db_password = $_SERVER['DB_PASSWORD'];",
        "'password' => $validated['password'],",
        "\"password\" => $user->password,",
        "'password' => static::$password,",
        "'password' => self::$config['password'],",
        "password=$this->password",
        "password: $settings::PASSWORD",
        "my $pwd = $ftp->pwd;",
        "my $password = $ENV{DB_PASSWORD};",
        "my $password = $self->{password};",
        "$Password = $env:DB_PASSWORD",
        "New-User -Name bob -Password $env:PW",
        "$Password = $Credential.Password",
        "$Password = $Credential.GetNetworkCredential().Password",
        "$Password = $Settings[0]",
    ]);
    assert_replaced(&[
        ("hunter22", "$password = '¤';"),
        ("$ecret-Word1", "DB_PASSWORD=¤\n"),
        ("$ecret!Word1", "DB_PASSWORD=¤\n"),
        ("$ecret.Berlin41", "DB_PASSWORD=¤\n"),
        ("$ecret:Berlin41", "DB_PASSWORD=¤\n"),
        ("$ecret[Berlin41", "DB_PASSWORD=¤\n"),
        ("$ecret{Berlin41", "DB_PASSWORD=¤\n"),
        ("$Winter[2024]!x", "DB_PASSWORD=¤\n"),
        ("$ecret{Fal}con41!", "DB_PASSWORD=¤\n"),
        ("$ecret.Falcon(41", "DB_PASSWORD=¤\n"),
        ("a::$ecret!Word1", "DB_PASSWORD=¤\n"),
        ("hunter22", "my $password = $ENV{DB_PASSWORD} || '¤';"),
    ]);
}

#[test]
fn a_variable_of_a_session_is_not_remembered() {
    let mut known = KnownSecrets::new("a key".to_owned());
    let redactor = Redactor::new();
    for text in ["$password = $request->password;", "$db_password = $_SERVER['DB_PASSWORD'];"] {
        assert_eq!(redactor.redact_of_session(text, &mut known).text, text);
    }
    assert!(known.is_empty());
}

#[test]
fn session_cookies_in_exports_are_redacted() {
    assert_replaced(&[
        (
            "x38afes7a8kj2l3k4j5l6k7j8q9w0e1r2",
            "{\"name\": \"sessionid\", \"value\": \"¤\", \"domain\": \"x.com\"}",
        ),
        (
            "s%3AkJ8s2Lq0Zx9Vb4NmW7Tq5Rw8.Yp1Zs6Xd3Vf0",
            "{\\\"name\\\":\\\"connect.sid\\\",\\\"value\\\":\\\"¤\\\"}",
        ),
        (
            "x38afes7a8kj2l3k4j5l6k7j8q9w0e1r2",
            "{\n  \"name\": \"PHPSESSID\",\n  \"path\": \"/\",\n  \"session\": true,\n  \"value\": \"¤\"\n}",
        ),
        ("x38afes7a8kj2l3k4j5l6k7j8q9w0e1r2", ".x.com\tTRUE\t/\tTRUE\t1767225600\tsessionid\t¤\n"),
    ]);
    assert_kept(&[
        "{\"name\": \"theme\", \"value\": \"x38afes7a8kj2l3k4j5l6k7j8q9w0e1r2\"}",
        "{\"name\": \"sessionid\", \"value\": \"disabled-by-the-user\"}",
        "{\"name\": \"sessionid\", \"id\": \"x38afes7a8kj2l3k4j5l6k7j8q9w0e1r2\"}",
        "{\"name\": \"sessionid\"}, {\"name\": \"a\", \"value\": \"x38afes7a8kj2l3k4j5l6k7j8q9w0e1r2\"}",
        "sessionid\tcharacter_varying_of_40",
        "id\tsessionid\tuser\n1\tx38afes7a8kj2l3k4j5l6k7j8q9w0e1r2\tada",
    ]);
}

#[test]
fn session_cookies_in_values_are_redacted() {
    let mut value = json!({ "cookies": [
        { "name": "sessionid", "value": "x38afes7a8kj2l3k4j5l6k7j8q9w0e1r2", "domain": "x.com" },
        { "name": "sessionid", "value": "disabled" },
        { "name": "theme", "value": "x38afes7a8kj2l3k4j5l6k7j8q9w0e1r2" },
    ]});
    let mut wanted = value.clone();
    wanted["cookies"][0]["value"] = json!("[REDACTED:cookie]");
    Redactor::new().redact_value(&mut value);
    assert_eq!(value, wanted);
}
