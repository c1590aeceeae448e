//! Lists the contexts of passwords.

/// A text with a place for a password.
pub(crate) struct Surrounding {
    pub(crate) name: &'static str,
    /// The character `¤` is the place of the password.
    pub(crate) template: &'static str,
    pub(crate) carrier: Carrier,
}

/// How a context encodes the password.
#[derive(Clone, Copy)]
pub(crate) enum Carrier {
    /// Unchanged, up to the end of the line.
    Line,
    /// Unchanged, as a word of a command or a text.
    Word,
    /// In single quotation marks.
    Single,
    /// In double quotation marks, with escapes.
    Double,
    /// In double quotation marks inside a JSON string.
    Nested,
    /// With the entities of XML.
    Xml,
    /// With `%` escapes.
    Url,
    /// Only generated passwords: 12 or more letters and digits, 3 or more of them capital letters.
    Token,
    /// In a table, whose cells are separated by bars, commas or semicolons.
    Cell,
}

impl Carrier {
    /// Returns the encoded password; `None` if a context of this kind cannot contain the password.
    pub(crate) fn write(self, password: &str) -> Option<String> {
        let has = |signs: &str| password.contains(|c| signs.contains(c));
        let escaped = |mark: &str| password.replace('\\', "\\\\").replace('"', mark);
        let is_word = !has(" \"'`\\");
        match self {
            Carrier::Line => (is_word && !has("|")).then(|| password.to_owned()),
            Carrier::Word => (is_word && !has(";|$")).then(|| password.to_owned()),
            Carrier::Single => (!has("'\\")).then(|| password.to_owned()),
            Carrier::Double => Some(escaped("\\\"")),
            Carrier::Nested => (!has("\"")).then(|| escaped("\\\\\\\"")),
            Carrier::Xml => {
                Some(password.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;"))
            }
            Carrier::Url => Some(encoded(password)),
            Carrier::Token => {
                let is_generated = password.bytes().all(|byte| byte.is_ascii_alphanumeric())
                    && password.len() >= 12
                    && password.bytes().filter(u8::is_ascii_uppercase).count() > 2;
                is_generated.then(|| password.to_owned())
            }
            Carrier::Cell => (is_word && !has("|,;")).then(|| password.to_owned()),
        }
    }
}

fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!*()".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

const fn context(name: &'static str, carrier: Carrier, template: &'static str) -> Surrounding {
    Surrounding { name, template, carrier }
}

use Carrier::{Cell, Double, Line, Nested, Single, Token, Url, Word, Xml};

#[rustfmt::skip]
pub(crate) const CONTEXTS: &[Surrounding] = &[
    // Files of settings.
    context("env file", Line, "DB_HOST=db\nDB_PASSWORD=¤\nDB_PORT=5432\n"),
    context("env file, last line", Line, "PORT=80\nSMTP_PASS=¤"),
    context("env file, a secret", Line, "TEST_LOGIN_SECRET=¤\nPORT=80\n"),
    context("env file, a key", Line, "PORT=80\nADMIN_API_KEY=¤\n"),
    context("env file, a token", Line, "DEPLOY_TOKEN=¤\nPORT=80\n"),
    context("env file, a credential", Line, "SERVICE_CREDENTIAL=¤\nPORT=80\n"),
    context("env file, pwd", Line, "FTP_PWD=¤\n"),
    context("env file, double quotes", Double, "DB_PASSWORD=\"¤\"\nPORT=80\n"),
    context("env file, single quotes", Single, "DB_PASSWORD='¤'\nPORT=80\n"),
    context("env file with line numbers", Line, "     3→DB_HOST=db\n     4→DB_PASSWORD=¤\n     5→PORT=80"),
    context("env file in a diff", Line, "-DB_PASSWORD=old\n+DB_PASSWORD=¤\n PORT=80\n"),
    context("env file by grep", Line, "config/.env:12:DB_PASSWORD=¤\nconfig/.env:13:PORT=80\n"),
    context("printenv", Line, "HOME=/home/ann\nPGPASSWORD=¤\nSHELL=/bin/bash\n"),
    context("yaml", Line, "database:\n  user: bob\n  password: ¤\n  port: 5432\n"),
    context("yaml, upper case", Line, "    environment:\n      MYSQL_ROOT_PASSWORD: ¤\n      TZ: UTC\n"),
    context("yaml, list of pairs", Line, "    environment:\n      - POSTGRES_PASSWORD=¤\n      - TZ=UTC\n"),
    context("yaml, quoted", Double, "smtp:\n  password: \"¤\"\n  port: 25\n"),
    context("yaml, single quotes", Single, "smtp:\n  password: '¤'\n  port: 25\n"),
    context("yaml, block", Line, "db:\n  password: |\n    ¤\n  port: 5432\n"),
    context("yaml, folded block", Line, "db:\n  admin_password: >-\n    ¤\n  port: 5432\n"),
    context("yaml, name and value", Line, "- name: DB_PASSWORD\n  value: ¤\n- name: PORT\n"),
    context("yaml with line numbers", Line, "     1→database:\n     2→  password: ¤\n     3→  port: 1"),
    context("yaml, flow", Double, "login: { user: bob, password: \"¤\" }\n"),
    context("ansible variable", Line, "ansible_user: bob\nansible_become_pass: ¤\n"),
    context("ansible inventory", Word, "web1 ansible_user=bob ansible_password=¤\n"),
    context("kubernetes secret", Line, "kind: Secret\nstringData:\n  password: ¤\n"),
    context("properties", Line, "spring.datasource.username=bob\nspring.datasource.password=¤\nserver.port=80\n"),
    context("properties, spaced", Line, "db.user = bob\ndb.password = ¤\n"),
    context("ini", Line, "[client]\nuser = bob\npassword = ¤\nport = 3306\n"),
    context("ini, tight", Line, "[client]\nuser=bob\npassword=¤\nport=3306\n"),
    context("toml", Double, "[db]\nuser = \"bob\"\npassword = \"¤\"\n"),
    context("json", Double, "{\"user\": \"bob\", \"password\": \"¤\", \"port\": 5432}"),
    context("json over lines", Double, "{\n  \"user\": \"bob\",\n  \"dbPassword\": \"¤\"\n}"),
    context("json in json", Nested, "{\"body\": \"{\\\"user\\\":\\\"bob\\\",\\\"password\\\":\\\"¤\\\"}\"}"),
    context("env file in json", Line, "{\"stdout\":\"DB_HOST=db\\nDB_PASSWORD=¤\\nPORT=80\\n\"}"),
    context("yaml in json", Line, "{\"content\":\"db:\\n  user: bob\\n  password: ¤\\n  port: 1\\n\"}"),
    context("plist", Xml, "<dict>\n<key>Password</key>\n<string>¤</string>\n</dict>"),
    context("xml element", Xml, "<server><username>bob</username><password>¤</password></server>"),
    context("xml attributes", Xml, "<add key=\"SmtpPassword\" value=\"¤\" />"),
    context("xml name and value", Xml, "<property><name>db.password</name><value>¤</value></property>"),
    context("xml attribute", Xml, "<user name=\"bob\" password=\"¤\" roles=\"admin\"/>"),
    context("html input", Xml, "<input type=\"password\" name=\"pw\" value=\"¤\">"),
    context("html input, another order", Xml, "<input value=\"¤\" id=\"x\" type=\"password\">"),
    context("html table", Xml, "<tr><td>Password</td><td>¤</td></tr>"),
    context("connection string", Line, "Server=db;Database=x;User Id=sa;Password=¤"),
    context("jdbc", Url, "jdbc:mysql://db/x?user=bob&password=¤"),
    context("netrc", Word, "machine host login bob password ¤\n"),
    context("redis.conf", Word, "port 6379\nrequirepass ¤\n"),
    // Commands.
    context("export", Word, "export DB_PASSWORD=¤ && make deploy"),
    context("export, quoted", Single, "export DB_PASSWORD='¤'"),
    context("before a command", Word, "PGPASSWORD=¤ psql -h db -U bob shop"),
    context("before a command, quoted", Single, "PGPASSWORD='¤' psql -h db -U bob shop"),
    context("after cd", Word, "cd app && MYSQL_PWD=¤ mysql -u root shop"),
    context("fish", Single, "set -gx DB_PASSWORD '¤'"),
    context("powershell", Single, "$env:DB_PASSWORD = '¤'"),
    context("windows", Word, "set DB_PASSWORD=¤\r\n"),
    context("setx", Word, "setx DB_PASSWORD ¤"),
    context("--password=", Word, "app --user bob --password=¤ --host db"),
    context("--password= at the end", Word, "app --user bob --password=¤"),
    context("--password", Word, "app --user bob --password ¤ --host db"),
    context("--password at the end", Word, "app --password ¤\n"),
    context("--password, quoted", Single, "app --password '¤' run"),
    context("--password=, quoted", Double, "app --password=\"¤\" run"),
    context("-D", Word, "java -Dspring.datasource.password=¤ -jar app.jar"),
    context("mysql -p", Word, "mysql -u root -p¤ shop"),
    context("mysql --password=", Word, "mysqldump -u root --password=¤ shop > shop.sql"),
    context("sshpass", Single, "sshpass -p '¤' ssh bob@host"),
    context("curl -u", Single, "curl -u 'bob:¤' https://host/x"),
    context("curl --data", Double, "curl -d '{\"user\":\"bob\",\"password\":\"¤\"}' https://host/login"),
    context("curl --data-urlencode", Url, "curl -d 'user=bob&password=¤' https://host/login"),
    context("docker run -e", Word, "docker run -e POSTGRES_PASSWORD=¤ -p 5432:5432 postgres"),
    context("docker run -e, quoted", Double, "docker run -e \"POSTGRES_PASSWORD=¤\" postgres"),
    context("docker login", Word, "docker login -u bob -p ¤ registry.host"),
    context("docker login by stdin", Single, "echo '¤' | docker login -u bob --password-stdin registry.host"),
    context("docker login by printf", Single, "printf '%s' '¤' | docker login -u bob --password-stdin"),
    context("gh auth login", Word, "echo ¤ | gh auth login --with-token"),
    context("gh secret set", Single, "gh secret set DEPLOY_PASSWORD --body '¤' --repo a/b"),
    context("dockerfile", Word, "FROM debian\nENV DB_PASSWORD=¤\nRUN make\n"),
    context("dockerfile, old", Word, "FROM debian\nENV DB_PASSWORD ¤\nRUN make\n"),
    context("terraform -var", Double, "terraform apply -var=\"db_password=¤\""),
    context("terraform -var, separate", Single, "terraform apply -var 'db_password=¤'"),
    context("helm --set", Word, "helm install db chart --set auth.password=¤ --wait"),
    context("kubectl create secret", Word, "kubectl create secret generic db --from-literal=password=¤ -n shop"),
    context("kubectl create secret, quoted", Single, "kubectl create secret generic db --from-literal=password='¤'"),
    context("vault kv put", Word, "vault kv put secret/db password=¤"),
    context("vault kv get", Line, "Key         Value\n---         -----\npassword    ¤\nuser        bob\n"),
    context("redis-cli -a", Word, "redis-cli -h cache -a ¤ ping"),
    context("redis AUTH", Word, "redis> AUTH ¤\nOK"),
    context("openssl -k", Word, "openssl enc -aes-256-cbc -d -in x.enc -k ¤"),
    context("openssl pass:", Word, "openssl rsa -in key.pem -passin pass:¤ -out plain.pem"),
    context("chpasswd", Single, "echo 'bob:¤' | sudo chpasswd"),
    context("sudo -S", Single, "echo '¤' | sudo -S apt-get update"),
    context("htpasswd", Word, "htpasswd -b /etc/nginx/users bob ¤"),
    context("ldapsearch", Single, "ldapsearch -D cn=admin -w '¤' -b dc=x"),
    context("heroku config", Word, "heroku config:set SESSION_SECRET=¤ -a shop"),
    context("aws", Single, "aws secretsmanager create-secret --name db --secret-string '¤'"),
    context("ansible -e", Double, "ansible-playbook site.yml -e \"ansible_password=¤\""),
    context("git remote", Url, "git clone https://bob:¤@git.host/a/b.git"),
    context("database url", Url, "DATABASE_URL=postgres://bob:¤@db:5432/shop"),
    context("reset link", Token, "https://host/reset?token=¤&lang=en"),
    context("reset link, in the path", Token, "Reset it here: https://host/password-reset/MQ/¤ (for an hour)"),
    context("redirect with a code", Token, "http://localhost:8080/callback?state=xyz&code=¤"),
    // Code.
    context("sql, create role", Single, "CREATE ROLE bob WITH LOGIN PASSWORD '¤';"),
    context("sql, alter user", Single, "ALTER USER bob WITH ENCRYPTED PASSWORD '¤';"),
    context("sql, identified by", Single, "CREATE USER 'bob'@'%' IDENTIFIED BY '¤';"),
    context("php, mysqli_connect", Single, "$db = mysqli_connect('db', 'bob', '¤', 'shop');"),
    context("php, PDO", Single, "$db = new PDO('mysql:host=db;dbname=shop', 'bob', '¤');"),
    context("php, array", Single, "'db' => ['user' => 'bob', 'password' => '¤'],"),
    context("php, define", Single, "define('DB_PASSWORD', '¤');"),
    context("js, const", Single, "const dbPassword = '¤';"),
    context("js, object", Single, "const c = new Client({ user: 'bob', password: '¤' });"),
    context("js, default value", Single, "const p = process.env.DB_PASSWORD || '¤';"),
    context("python, assignment", Double, "db_password = \"¤\"\n"),
    context("python, argument", Single, "conn = connect(host='db', password='¤', port=1)"),
    context("python, getenv", Double, "p = os.getenv(\"DB_PASSWORD\", \"¤\")"),
    context("go, assignment", Double, "\tpassword := \"¤\"\n"),
    context("go, struct", Double, "cfg := Config{User: \"bob\", Password: \"¤\"}"),
    context("go, Setenv", Double, "os.Setenv(\"DB_PASSWORD\", \"¤\")"),
    context("java, assignment", Double, "private static final String PASSWORD = \"¤\";"),
    context("java, setProperty", Double, "props.setProperty(\"db.password\", \"¤\");"),
    context("java, getConnection", Double, "DriverManager.getConnection(url, \"bob\", \"¤\");"),
    context("rust, let", Double, "let password: &str = \"¤\";"),
    context("rust, setter", Double, "Config::new().with_password(\"¤\")"),
    context("c#, property", Double, "var c = new Login { Password = \"¤\" };"),
    context("ruby, hash", Single, "{ user: 'bob', password: '¤' }"),
    context("gradle", Single, "    storePassword '¤'\n    keyAlias 'x'\n"),
    context("terraform", Double, "resource \"db\" \"x\" {\n  password = \"¤\"\n}"),
    // Prose and tables.
    context("Password:", Line, "Username: bob\nPassword: ¤\n"),
    context("Password: in a list", Line, "- User: bob\n- Password: ¤\n"),
    context("Password: in bold", Line, "**User:** bob\n**Password:** ¤\n"),
    context("password with backticks", Word, "The password is `¤`."),
    context("password in quotes", Double, "the root password is \"¤\""),
    context("password in code", Word, "Log in with `password: ¤`"),
    context("markdown table, column", Cell, "| User | Password |\n| --- | --- |\n| bob | ¤ |\n| ann | ¤ |\n"),
    context("markdown table, row", Cell, "| Field | Value |\n|---|---|\n| Password | `¤` |\n"),
    context("csv", Cell, "user,password,role\nbob,¤,admin\nann,¤,reader\n"),
    context("csv, semicolons", Cell, "Name;Passwort\nBob;¤\n"),
    context("german", Line, "Benutzer: bob\nPasswort: ¤\n"),
    context("german, Kennwort", Line, "Benutzer: bob\nKennwort: ¤\n"),
    context("german, in a name", Line, "DB_KENNWORT=¤\nPORT=80\n"),
    context("spanish", Line, "usuario: bob\ncontraseña: ¤\n"),
    context("spanish, without tilde", Double, "{\"usuario\": \"bob\", \"contrasena\": \"¤\"}"),
    context("french", Line, "Identifiant : bob\nMot de passe : ¤\n"),
    context("french, in a name", Line, "SMTP_MDP=¤\nPORT=25\n"),
    context("portuguese", Line, "usuario: bob\nsenha: ¤\n"),
];
