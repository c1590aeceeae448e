//! Secrets that the adjacent text identifies.

use crate::{
    Redactor,
    tests::fake_secrets::{find_leak, secret},
};

/// The kind, a template of the secret, and the text. In the text, `¤` is the secret, and `¦` is
/// removed: it only splits well-known prefixes in this source.
const PLANTED: &[(&str, &str, &str)] = &[
    // Passwords that people choose.
    ("password", "hunter2", "PASSWORD=¤"),
    ("password", "swordfish", "DB_PASSWORD=¤\nDB_HOST=db"),
    ("password", "s3cr3t!pass", "export PGPASSWORD='¤'"),
    ("password", "Tr0ub4dor&3", "\"password\": \"¤\""),
    ("password", "correct horse battery staple", "passphrase: \"¤\""),
    ("password", "hunter2", "{\\\"user\\\":\\\"bob\\\",\\\"password\\\":\\\"¤\\\"}"),
    ("password", "hunter2", "spring.datasource.password=¤"),
    ("password", "p@55w.rd", "  password: ¤\n  port: 5432\n"),
    ("password", "swordfish", "database:\n  user: bob\n  password: ¤\n"),
    ("password", "hunter2", "- name: DB_PASSWORD\n  value: ¤\n"),
    ("password", "hunter2", "{\"name\": \"DB_PASSWORD\", \"value\": \"¤\"}"),
    ("password", "hunter2", "<password>¤</password>"),
    ("password", "hunter2", "<add key=\"SmtpPassword\" value=\"¤\" />"),
    ("password", "Winter2026!", "Server=db;Database=x;User Id=sa;Password=¤;Encrypt=true"),
    ("password", "swordfish", "host=db;user=bob;password=¤;dbname=x"),
    ("password", "hunter2", "app --user bob --password ¤ --host db"),
    ("password", "hunter2", "app --password=¤"),
    ("password", "swordfish", "app --password=¤ --host db"),
    ("password", "swordfish", "app --user bob --password ¤ --host db"),
    ("password", "swordfish", "app --password ¤\nnext"),
    ("password", "hunter2", "app --db-password '¤'"),
    ("password", "hunter2", "mysql -u root -p¤ shop"),
    ("password", "hunter2", "mysqldump --user=root --password=¤ shop > shop.sql"),
    ("password", "hunter2", "sshpass -p ¤ ssh bob@host"),
    ("password", "hunter2", "redis-cli -h cache -a ¤ ping"),
    ("password", "hunter2", "curl -u bob:¤ https://host/x"),
    ("password", "hunter2", "curl -s --user 'bob:¤' https://host/x"),
    ("password", "hunter2", "docker login -u bob -p ¤ registry.host"),
    ("password", "hunter2", "openssl rsa -in key.pem -passin pass:¤ -out plain.pem"),
    ("password", "hunter2", "smbclient //host/share -U bob%¤"),
    ("password", "hunter2", "echo ¤ | sudo -S apt-get update"),
    ("password", "hunter2", "echo 'bob:¤' | sudo chpasswd"),
    ("password", "hunter2", "machine host login bob password ¤"),
    ("password", "hunter2", "CREATE USER bob IDENTIFIED BY '¤';"),
    ("password", "hunter2", "ALTER ROLE bob WITH PASSWORD '¤';"),
    ("password", "hunter2", "requirepass ¤"),
    ("password", "hunter2", "localhost:5432:shop:bob:¤"),
    ("password", "hunter2", "ldapsearch -D cn=admin -w ¤ -b dc=x"),
    ("password", "hunter2", "the password is ¤."),
    ("password", "hunter2", "My password: ¤, please keep it"),
    ("password", "hunter2", "The root password is set to ¤"),
    ("password", "swordfish", "the password is \"¤\""),
    ("password", "hunter2", "const password = '¤';"),
    ("password", "hunter2", "let password: &str = \"¤\";"),
    ("password", "hunter2", "password := \"¤\""),
    ("password", "hunter2", "var password string = \"¤\""),
    ("password", "hunter2", "password: String::from(\"¤\"),"),
    ("password", "hunter2", "String password = new String(\"¤\");"),
    ("password", "hunter2", "pass = os.environ.get(\"DB_PASSWORD\", \"¤\")"),
    ("password", "hunter2", "const p = process.env.DB_PASSWORD || '¤';"),
    ("password", "hunter2", "psql \"${DB_PASSWORD:-¤}\""),
    ("password", "hunter2", "'password' => '¤',"),
    ("password", "hunter2", "config[\"password\"] = \"¤\""),
    ("password", "hunter2", "User(name=bob, password=¤)"),
    ("password", "hunter2", "https://host/login?user=bob&password=¤&next=/"),
    ("password", "hunter2", "user=bob&password=¤"),
    ("password", "hunter2", "password%3D¤%26user%3Dbob"),
    ("password", "hunter2", "{&quot;password&quot;:&quot;¤&quot;}"),
    ("password", "hunter2", "INFO connecting with password=¤ to db"),
    ("password", "hunter2", "if password == \"¤\":"),
    ("password", "hunter2", "auth.password(\"¤\")"),
    ("password", "hunter2", "ENV MYSQL_ROOT_PASSWORD ¤"),
    ("password", "hunter2", "docker run -e POSTGRES_PASSWORD=¤ postgres"),
    ("password", "hunter2", "wifi_psk: '¤'"),
    ("password", "48151623", "\"password\": \"¤\""),
    ("password", "пароль123", "\"password\": \"¤\""),
    ("password", "hunter2", "{ user: \"bob\", pass: \"¤\" }"),
    ("password", "hunter2", "log in as bob with password ¤ please"),
    ("password", "swordfish", "builder.setPassword(\"¤\")"),
    ("password", "swordfish", "Config::new().with_password(\"¤\")"),
    ("password", "hunter2", "requests.get(url, auth=(\"bob\", \"¤\"))"),
    ("password", "hunter2", "HTTPBasicAuth('bob', '¤')"),
    ("password", "hunter2", "client.basic_auth(\"bob\", Some(\"¤\"))"),
    ("password", "hunter2", "net user bob ¤ /add"),
    ("password", "hunter2", "cmdkey /add:host /user:bob /pass:¤"),
    ("password", "hunter2", "DB_PASS=¤"),
    ("password", "hunter2", "jdbc:sqlserver://db;user=sa;pwd=¤;"),
    ("password", "hunter2", "otool --pass ¤"),
    // In URLs.
    ("url-password", "hunter2", "postgres://bob:¤@db:5432/shop"),
    ("url-password", "hunter2", "DATABASE_URL=mysql://bob:¤@db/shop"),
    ("url-password", "hunter2", "redis://:¤@cache:6379/0"),
    ("url-password", "{a20}", "git clone https://oauth2:¤@gitlab.host/a/b.git"),
    ("url-password", "{a24}", "https://¤@host/a/b.git"),
    ("url-password", "p%40ss%2Fw", "amqps://bob:¤@mq/vhost"),
    ("url-password", "pa/ss#1", "http://bob:¤@proxy:3128"),
    // Headers.
    ("authorization", "{a40}", "Authorization: Bearer ¤"),
    ("authorization", "{a40}", "\"Authorization\": \"Bearer ¤\""),
    ("authorization", "{a40}", "curl -H \"Authorization: token ¤\" https://host"),
    ("authorization", "Ym9iOmh1bnRlcjI=", "Authorization: Basic ¤"),
    ("authorization", "Ym9iOmh1bnRlcjI=", "headers = {'authorization': 'Basic ¤'}"),
    ("authorization", "{a32}", "authorization: ¤"),
    ("authorization", "{a32}", "-H 'Authorization: ApiKey ¤'"),
    ("authorization", "{a32}", "sent bearer ¤ and got 401"),
    (
        "signature",
        "Credential=A|B/20260101/x/s3/aws4_request, SignedHeaders=host, Signature={h64}",
        "Authorization: AWS4-HMAC-SHA256 ¤",
    ),
    ("cookie", "session={a32}; theme=dark", "Cookie: ¤"),
    ("cookie", "sid=s%3A{a32}.{a43}; Path=/; HttpOnly", "Set-Cookie: ¤"),
    ("cookie", "session={a40}", "curl --cookie '¤' https://host"),
    ("cookie", "{A32}", "GET /x;JSESSIONID=¤?a=1"),
    ("cookie", "{a40}", "X-Session-Id: ¤"),
    ("api-key", "{a32}", "X-Api-Key: ¤"),
    ("api-key", "{a32}", "curl -H 'x-api-key: ¤' https://host"),
    ("token", "{a32}", "X-Auth-Token: ¤"),
    ("token", "{w19}x", "PRIVATE-TOKEN: ¤"),
    ("okta-token", "00{w39}x", "Authorization: SSWS ¤"),
    ("splunk-token", "{u}", "Authorization: Splunk ¤"),
    // Keys with a name.
    ("aws-secret-key", "{b40}", "AWS_SECRET_ACCESS_KEY=¤"),
    ("aws-secret-key", "{b40}", "aws_secret_access_key = ¤"),
    ("aws-secret-key", "{b40}", "AK¦IA7QK2MZV4XN3RBJ5T,¤\n"),
    ("api-key", "{a40}", "\"SecretAccessKey\": \"¤\""),
    ("mistral-key", "{a32}", "MISTRAL_API_KEY=¤"),
    ("cohere-key", "{a40}", "CO_API_KEY=¤"),
    ("cohere-key", "{a40}", "cohere_api_key: \"¤\""),
    ("together-key", "{h64}", "TOGETHER_API_KEY=¤"),
    ("deepseek-key", "{a32}", "DEEPSEEK_API_KEY=¤"),
    ("voyage-key", "{a43}", "VOYAGE_API_KEY=¤"),
    ("deepgram-key", "{h40}", "DEEPGRAM_API_KEY=¤"),
    ("datadog-key", "{h32}", "DD_API_KEY=¤"),
    ("datadog-key", "{h40}", "datadog_app_key: ¤"),
    ("cloudflare-token", "{a40}", "CLOUDFLARE_API_TOKEN=¤"),
    ("fastly-token", "{a32}", "FASTLY_API_TOKEN=¤"),
    ("token", "{a24}", "vercel --token ¤ deploy"),
    ("heroku-key", "{u}", "HEROKU_API_KEY=¤"),
    ("algolia-key", "{h32}", "ALGOLIA_ADMIN_KEY=¤"),
    ("okta-token", "00{w39}x", "OKTA_API_TOKEN=¤"),
    ("auth0-secret", "{w63}x", "AUTH0_CLIENT_SECRET=¤"),
    ("twilio-key", "{h32}", "TWILIO_AUTH_TOKEN=¤"),
    ("paypal-token", "{w79}x", "PAYPAL_CLIENT_SECRET=¤"),
    ("plaid-token", "{h30}", "PLAID_SECRET=¤"),
    ("pagerduty-key", "{a20}", "PAGERDUTY_API_KEY=¤"),
    ("atlassian-token", "{a24}", "JIRA_API_TOKEN=¤"),
    ("discord-token", "{a60}", "DISCORD_BOT_TOKEN=¤"),
    ("azure-key", "{b86}==", "AZURE_STORAGE_KEY=¤"),
    (
        "api-key",
        "{b86}==",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=¤;EndpointSuffix=host",
    ),
    ("azure-signature", "{a43}%3D", "https://x.blob.host/c?sv=2024&sig=¤&se=2026"),
    ("signature", "{h64}", "https://b.s3.host/k?X-Amz-Date=1&X-Amz-Signature=¤"),
    ("api-key", "{a32}", "api_key: ¤"),
    ("api-key", "{a32}", "apiKey: '¤',"),
    ("api-key", "{h32}", "const API_KEY = \"¤\";"),
    ("api-key", "{u}", "api-key=¤"),
    ("api-key", "{a20}", "client = Client(api_key=\"¤\")"),
    ("token", "{a32}", "token = '¤'"),
    ("token", "{a32}", "//registry.host/:_authToken=¤"),
    ("token", "{a40}", "git config gitea.token ¤"),
    ("token", "{a32}", "--token ¤"),
    ("token", "{a32}", "access_token=¤&expires_in=3600"),
    ("token", "{a32}", "{\"refresh_token\":\"¤\"}"),
    ("token", "{u}", "\"authToken\": \"¤\""),
    ("secret", "{a32}", "client_secret=¤"),
    ("api-key", "{h64}", "SECRET_KEY_BASE=¤"),
    ("secret", "{a50}", "JWT_SECRET: ¤"),
    ("secret", "{u}", "VAULT_SECRET_ID=¤"),
    ("private-key", "{b43}=", "PrivateKey = ¤"),
    ("api-key", "{b43}=", "encryption_key: ¤"),
    ("secret", "{a40}", "STRIPE_KEY=¤"),
    ("secret", "dXNlcjpodW50ZXIy", "\"auths\": {\"host\": {\"auth\": \"¤\"}}"),
    ("telegram-token", "{n9}:{a34}x", "TELEGRAM_TOKEN=¤"),
    ("aws-secret-key", "{b40}", "AWS Secret Access Key [None]: ¤"),
    ("api-key", "{a20}", "API key: ¤"),
    ("api-key", "{a20}", "here is my api key: ¤, use it"),
    ("api-key", "{a32}", "API key (production): ¤"),
    ("token", "{a24}", "the access token is ¤"),
    ("token", "{a40}", "my token ¤ has expired"),
    ("token", "{a40}", "| Token | ¤ |"),
    ("secret", "{232}", "otpauth://totp/x?secret=¤&issuer=y"),
    ("private-key", "LS0tLS1CRUdJ|TiBSU0EgUFJJVkFURSBLRVkt{b400}", "client-key-data: ¤"),
    ("cookie", "{a40}", "curl -b 'sid=¤' https://host"),
    // URLs that are secrets themselves.
    ("slack-webhook", "T{A8}/B{A8}/{a24}", "https://hooks.¦slack.com/services/¤"),
    ("discord-webhook", "{w67}x", "https://discord.¦com/api/webhooks/123456789012345678/¤"),
    (
        "teams-webhook",
        "{u}@{u}/IncomingWebhook/{h32}/{u}",
        "https://x.webhook.¦office.com/webhookb2/¤",
    ),
    ("zapier-webhook", "123456/{l7}", "https://hooks.¦zapier.com/hooks/catch/¤/"),
    ("discord-webhook", "{w67}x", "https://discord.¦com/api/v10/webhooks/123456789012345678/¤"),
    ("telegram-token", "{n10}:A|A{w33}x", "https://api.telegram.org/bot¤/getMe"),
    ("convex-key", "{a50}==", "pr¦od:happy-animal-123|¤"),
    ("rpc-key", "{w31}x", "RPC_URL=https://eth-mainnet.g.alchemy.com/v2/¤"),
    ("rpc-key", "{h32}", "https://mainnet.infura.io/v3/¤"),
    ("ifttt-key", "{w21}x", "https://maker.ifttt.com/trigger/x/with/key/¤"),
    ("make-webhook", "{l32}", "https://hook.eu1.make.com/¤"),
    ("healthchecks-url", "{u}", "https://hc-ping.com/¤"),
    ("mattermost-webhook", "7{l25}", "https://chat.host/hooks/¤"),
    ("n8n-webhook", "{u}", "https://n8n.host/webhook/¤"),
    // Secrets that only the name identifies.
    ("secret", "blaue-katze-am-see", "TEST_LOGIN_SECRET=¤"),
    ("api-key", "wombat-nine-lemon", "ADMIN_API_KEY=¤\nPORT=80"),
    ("secret", "wombat", "SERVICE_CREDENTIALS=¤\n"),
    ("password", "Falcon!Berlin41", "PGPASSWORD=¤ psql"),
    ("password", "Falcon(Berlin41", "export DB_PASSWORD=¤\n"),
    ("password", "falcon.berlin", "db:\n  password: ¤\n"),
    ("password", "@Falcon41berlin", "DB_PASSWORD=¤\n"),
    ("password", "Falcon<Berlin&41", "DB_PASSWORD=¤\nPORT=80"),
    // Other notations and languages.
    ("password", "Falcon41", "<key>Password</key>\n  <string>¤</string>"),
    ("password", "Falcon!Berlin", "| User | Password |\n|---|---|\n| bob | ¤ |\n"),
    ("password", "swordfish", "user,password\nbob,¤\n"),
    ("password", "swordfish", " id | password \n----+-----------\n  1 | ¤\n(1 row)\n"),
    ("password", "swordfish", " password  \n-----------\n ¤\n(1 row)\n"),
    (
        "password",
        "swordfish",
        "-[ RECORD 1 ]-------\nid       | 1\npassword | ¤\n-[ RECORD 2 ]-------\nid       | 2\n",
    ),
    (
        "password",
        "swordfish",
        "+----+-----------+\n| id | password  |\n+----+-----------+\n|  1 | ¤ |\n+----+-----------+\n",
    ),
    // Codes of a few digits.
    ("pin", "4821", "PIN: ¤"),
    ("pin", "4821", "The PIN is ¤."),
    ("pin", "4821", "{\"pin\": \"¤\"}"),
    ("pin", "4821", "card:\n  pin: ¤\n  type: debit\n"),
    ("pin", "4821", "sim_pin: ¤ # of the router"),
    ("pin", "4821", "pin: '¤'\n"),
    ("pin", "482193", "The door opens, my pin: ¤."),
    ("pin", "4821", "- **Pin:** ¤\n"),
    ("pin", "4821", "use pin code: ¤, then press enter"),
    ("pin", "4821", "{user: 'ada', pin: ¤}"),
    ("one-time-code", "482913", "your verification code is ¤"),
    ("one-time-code", "482 913", "Your one-time code for GitHub: ¤. It expires soon."),
    ("one-time-code", "482913", "¤ is your Acme verification code."),
    ("one-time-code", "482913", "OTP: ¤\n"),
    ("one-time-code", "482913", "Your login code for Acme: ¤"),
    ("one-time-code", "482913", "The verification code for Acme is ¤."),
    ("one-time-code", "482913", "{\"otp\": ¤}"),
    ("pin", "4821", "{\"pin\": ¤}"),
    ("one-time-code", "482913", "Ihr Bestätigungscode lautet ¤"),
    ("one-time-code", "482913", "{\"verificationCode\": \"¤\"}"),
    ("recovery-code", "kJ8s-2Lq0", "Recovery code: ¤"),
    ("card-number", "4539 5787 6362 1486", "card number ¤"),
    ("account-number", "DE02 1203 0000 0000 2020 51", "IBAN: ¤"),
    ("password", "swordfish", "password: |\n  ¤\nport: 80"),
    ("password", "Falcon!Berlin", "password    ¤\nuser        bob\n"),
    ("password", "swordfish", "Mot de passe : ¤\n"),
    ("password", "swordfish", "contraseña: ¤\n"),
    ("password", "swordfish", "Kennwort: ¤\n"),
    ("password", "falcon-berlin", "CREATE ROLE bob LOGIN PASSWORD '¤';"),
    ("password", "swordfish", "mysqli_connect('db', 'bob', '¤', 'shop')"),
    ("password", "swordfish", "echo ¤ | docker login -u bob --password-stdin"),
    ("password", "swordfish", "printf '%s' '¤' | docker login --password-stdin"),
    ("password", "swordfish", "docker login --password-stdin <<< '¤'"),
    ("secret", "swordfish", "gh secret set NAME --body '¤'"),
    ("password", "swordfish", "openssl enc -aes-256-cbc -k ¤ -in x"),
    ("password", "swordfish", "redis> AUTH ¤\nOK"),
    ("password", "swordfish", "<input type=\"password\" name=\"x\" value=\"¤\">"),
    ("password", "swordfish", "terraform apply -var=\"db_password=¤\""),
    ("token", "4/0{a60}", "https://host/callback?state=x&code=¤"),
    ("token", "{a40}", "https://host/password-reset/MQ/¤"),
    (
        "seed-phrase",
        "amber that canyon dragon ember falcon ginger hammer island jasmin kettle lemon",
        "mnemonic: \"¤\"",
    ),
    // Others.
    ("vault-unseal-key", "{b43}=", "Unseal Key 1: ¤"),
    ("private-key", "{w85}x", "{\"kty\":\"RSA\",\"d\":\"¤\"}"),
    ("password-hash", "pbkdf2_sha256$600000${a22}${b43}=", "'¤'"),
];

/// Further texts of several lines.
const LINES: &[&str] = &[
    "name,api_key\nann,kJ8s2Lq0Zx9Vb4NmW7\nbob,Tq5Rw8Yp1Zs6Xd3Vf0\n\nname,page\nx,y\n",
    "| User | Password |\n|---|---|\n| ann | Falcon!Berlin |\n| bob | Wombat!Lemon |\n\nEnd\n",
    " id | password | note \n----+----------+------\n  1 | Falcon   | a\n  2 | Wombat   | b\n(2 rows)\n",
    "-[ RECORD 1 ]-----\nid       | 1\npassword | Falcon\nnote     | a\n-[ RECORD 2 ]-----\nid       | 2\npassword | Wombat\n",
    "+----+----------+\n| id | password |\n+----+----------+\n|  1 | Falcon   |\n|  2 | Wombat   |\n+----+----------+\n",
    "  print('Password: ')\n  print('Falcon41')\n",
    "password: \"Falcon41\nport: 80\n",
    "password = 'Falcon!Berlin\nport = 80\n",
    "password: |\n  Falcon41\n  Wombat41\nport: 80\n",
    "**Password: Falcon41**\nnext",
    "[db]\nuser = bob\npassword = FalconBerlin\n",
    "Authorization: Bearer kJ8s2Lq0Zx9Vb4NmW7Tq5Rw8\nHost: x\n",
    "minisign encrypted secret key\nRWRTY0IyKJ8s2Lq0Zx9Vb4NmW7Tq5Rw8Yp1Zs6Xd3Vf0Gh2Jk4Lz7Xc9Vb1Nm\n",
    "AUTH Falcon41\nOK\n",
    "machine host\nlogin bob\npassword Falcon41\n",
    "password: Falcon41 # a note\nport: 80\n",
    "<b>Password:</b> Falcon41\n",
];

pub(super) fn kinds() -> Vec<&'static str> {
    PLANTED.iter().map(|(kind, _, _)| *kind).collect()
}

#[test]
fn secrets_that_adjacent_text_identifies_are_redacted() {
    let redactor = Redactor::new();
    let mut missed = Vec::new();
    for (seed, (kind, template, context)) in PLANTED.iter().enumerate() {
        let secret = secret(template, seed as u64 + 1);
        let text = context.replace('¦', "").replace('¤', &secret);
        let redacted = redactor.redact(&text);
        let mark = format!("[REDACTED:{kind}]");
        if find_leak(&redacted.text, &secret).is_some() || !redacted.text.contains(&mark) {
            missed.push(format!("{kind} {text:?} -> {:?}", redacted.text));
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn text_around_a_secret_is_unchanged() {
    let redactor = Redactor::new();
    for (seed, (kind, template, context)) in PLANTED.iter().enumerate() {
        let secret = secret(template, seed as u64 + 1);
        let context = context.replace('¦', "");
        let (before, after) = context.split_once('¤').unwrap();
        let redacted = redactor.redact(&context.replace('¤', &secret)).text.into_owned();
        // In one text, an access key precedes the secret and is redacted, too.
        let before = before.strip_prefix("AKIA7QK2MZV4XN3RBJ5T").unwrap_or(before);
        let redacted = redacted.trim_start_matches("[REDACTED:aws-access-key]");
        assert!(redacted.starts_with(before), "{kind}: {redacted:?}");
        assert!(redacted.ends_with(after), "{kind}: {redacted:?}");
    }
}

#[test]
fn every_notation_of_a_line_break_gives_the_same_result() {
    let redactor = Redactor::new();
    let planted = PLANTED.iter().enumerate().map(|(seed, (_, template, context))| {
        context.replace('¦', "").replace('¤', &secret(template, seed as u64 + 1))
    });
    let mut differences = Vec::new();
    for text in planted.chain(LINES.iter().map(|text| (*text).to_owned())) {
        for (broken, break_before) in [("\r\n", "\n"), ("\\r\\n", "\\n")] {
            let text = text.replace('\n', break_before);
            let wanted = redactor.redact(&text).text.replace(break_before, broken);
            let redacted = redactor.redact(&text.replace(break_before, broken)).text.into_owned();
            if redacted != wanted {
                differences.push(format!("{wanted:?}, but {redacted:?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_value_before_a_truncation_is_redacted() {
    let redactor = Redactor::new();
    for (seed, (kind, template, context)) in PLANTED.iter().enumerate() {
        let secret = secret(template, seed as u64 + 1);
        let context = context.replace('¦', "");
        let (before, after) = context.split_once('¤').unwrap();
        let is_recognised_by_following_text = after.contains("| ")
            || after.contains("sudo")
            || after.contains("/add")
            || after.starts_with(" is your")
            || after.starts_with('@');
        if is_recognised_by_following_text {
            continue;
        }
        let text = format!("{before}{secret}");
        let redacted = redactor.redact(&text);
        assert_eq!(
            find_leak(&redacted.text, &secret),
            None,
            "{kind}: {text:?} -> {:?}",
            redacted.text
        );
    }
}

#[test]
fn a_long_secret_is_redacted_to_its_end() {
    let redactor = Redactor::new();
    for (context, length) in [
        ("SIGNING_KEY=¤\nPORT=80", 3_000),
        ("signing_key: ¤\n", 20_000),
        ("\"signing_key\": \"¤\"", 6_000),
        ("Authorization: Bearer ¤\n", 4_000),
    ] {
        let secret = secret(&format!("{{b{length}}}"), length);
        let redacted = redactor.redact(&context.replace('¤', &secret)).text.into_owned();
        assert_eq!(find_leak(&redacted, &secret), None, "{context}: {} left", redacted.len());
    }
}

#[test]
fn every_kind_is_parsed_from_its_mark() {
    let redactor = Redactor::new();
    for kind in kinds() {
        let text = format!("x [REDACTED:{kind}]: {}", secret("{a32}", 5));
        assert_eq!(redactor.redact(&text).text, text, "{kind}");
    }
}

#[test]
fn both_of_two_neighbouring_secrets_are_redacted() {
    let redactor = Redactor::new();
    for text in [
        "echo 'bob:Falcon41x' | chpasswd\necho 'ann:Berlin52y' | chpasswd",
        "localhost:5432:shop:bob:Falcon41x\nlocalhost:5432:app:ann:Berlin52y",
        "A=bob:Falcon41x@tcp(db1:3306)/a\nB=ann:Berlin52y@tcp(db2:3306)/b",
        "echo Falcon41x | docker login -u a --password-stdin r1\necho Berlin52y | docker login -u b --password-stdin r2",
        "ALTER ROLE a PASSWORD 'Falcon41x';\nALTER ROLE b PASSWORD 'Berlin52y';",
        "~ db_password = \"o\" -> \"Falcon41x\"\n~ api_token = \"p\" -> \"Berlin52y\"",
    ] {
        let redacted = redactor.redact(text).text;
        assert!(!redacted.contains("Falcon41x") && !redacted.contains("Berlin52y"), "{redacted}");
    }
}

#[test]
fn secrets_at_the_ends_of_sentences_and_in_fields_beside_a_text_are_redacted() {
    let redactor = Redactor::new();
    for text in [
        "Login: bob / Falcon41berlin. Then open the page.",
        "log in with bob / Falcon41berlin.",
        "(creds: bob / Falcon41berlin)",
        "sqlcmd -S db -U sa -P Falcon41berlin",
        "twine upload -u bob -p Falcon41berlin dist/*",
        "login bob\npassword Falcon41berlin",
        "{\"Name\":\"db_password\",\"Note\":\"it's old\",\"Value\":\"Falcon41berlin\"}",
        "{\"Value\": \"Falcon41berlin\", \"Name\": \"/prod/db/password\"}",
        "The password (Falcon41berlin): works",
        "HASŁO=Falcon41berlin",
        "CONTRASEÑA=Falcon41berlin",
        "LÖSENORD=Falcon41berlin",
        "ПАРОЛЬ=Falcon41berlin",
        "{\"пароль\": \"Falcon41berlin\"}",
        "Password:\n\n```text title=\"the-long-title.txt\"\nFalcon41berlin\n```",
    ] {
        let redacted = redactor.redact(text).text;
        assert!(!redacted.contains("Falcon41berlin"), "{redacted}");
    }
}
