//! Passwords in commands, statements and files of tools, and their parts after special characters.

use crate::tests::fake_secrets::{assert_kept, assert_replaced};

#[test]
fn the_end_of_a_password_after_a_special_character_is_redacted() {
    assert_replaced(&[
        ("Tr0ub4dor&3", "Use password ¤ for the admin account"),
        ("Tr0ub4dor&3", "The password is ¤ and it works."),
        ("Tr0ub4dor&3", "My password: ¤, please keep it"),
        ("Tr0ub4dor;3", "the password is ¤ and it works"),
        ("Tr0ub4dor,3x!", "the password is ¤ and it works"),
        ("Tr0ub\"4dor", "password: ¤\nport: 80"),
        ("Tr0ub\"4dor", "DB_PASSWORD=¤\nX=1"),
        ("p@ss(word)1", "the password is ¤ and it works"),
        ("Zebra,panther62", "docker run -e POSTGRES_PASSWORD=¤ -p 5432:5432 postgres"),
        ("Marble'jasmin17", "docker run -e \"POSTGRES_PASSWORD=¤\" postgres"),
        ("Harbor#88katze", "port 6379\nrequirepass ¤\n"),
        ("Tiger'cobalt30", "<input value=\"¤\" id=\"x\" type=\"password\">"),
        ("Tiger\"cobalt30", "<input type='password' value='¤'>"),
        ("Timber-pebble", "SERVICE_CREDENTIAL=¤\nPORT=80\n"),
        ("Som'mer2024", "Host=db;Username=ada;Password=¤"),
    ]);
}

#[test]
fn text_after_a_password_stays() {
    assert_replaced(&[
        ("Tr0ub4dor", "https://host/?password=¤&user=ada"),
        ("Tr0ub4dor", "see password=¤&user=ada there"),
        ("Tr0ub4dor", "<p>password: ¤&nbsp;works</p>"),
        ("Tr0ub4dor", "<p>password: ¤&amp;user=ada</p>"),
        ("Tr0ub4dor", "[\"password: ¤\",\"next\"]"),
        ("Tr0ub4dor", "'password: ¤'; f()"),
        ("Tr0ub4dor", "Password=¤;User=ada;"),
        ("Tr0ub4dor", "the password is ¤; then log in"),
        ("Tr0ub4dor", "the password is ¤ & the user is ada"),
        ("Tr0ub4dor", "the password is ¤'s"),
        ("Tr0ub4dor", "f(password='¤',user='ada')"),
        ("Tr0ub4dor", "the password is ¤, the user is ada"),
        ("Tr0ub4dor", "mount -o password=¤,username=ada //s/x /mnt"),
    ]);
}

#[test]
fn passwords_of_commands_are_redacted() {
    assert_replaced(&[
        ("Falcon41!", "kubectl create secret generic x --from-literal=value=¤"),
        ("Falcon41!", "vault kv put secret/db pw=¤"),
        ("Falcon41!", "echo -n ¤ | base64"),
        ("Falcon41!", "echo -n 'ada:¤' | base64 -w0"),
        ("Falcon41!", "rabbitmqctl add_user ada ¤"),
        ("Falcon41!", "mosquitto_pub -h mq -u ada -P ¤ -t x"),
        ("Falcon41!", "ipmitool -H x -U ada -P ¤ power status"),
        ("Falcon41!", "mc alias set x http://minio:9000 ada ¤"),
        ("Falcon41!", "bw unlock ¤"),
        ("Falcon41!", "bundle config gems.example.org ada:¤"),
        ("Falcon41!", "security unlock-keychain -p '¤' login.keychain"),
        ("Falcon41!", "security add-generic-password -a ada -s x -w ¤"),
        ("abcd-efgh-ijkl-mnop", "xcrun altool -u ada -p ¤"),
        ("Falcon41!", "az acr login -n x -u ada -p ¤"),
        ("Falcon41!", "cypher-shell -u neo4j -p ¤"),
        ("Falcon41!", "scp -P 22 ada:¤@host:x ."),
        ("Falcon41!", "docker secret create db - <<< ¤"),
        ("Falcon41!", "xfreerdp /v:host /u:ada /p:¤"),
        ("Falcon41!", "etcdctl --user root:¤ get x"),
        ("Falcon41!", "stats auth admin:¤"),
        ("Falcon41!", "ACL SETUSER ada on >¤ ~* +@all"),
        ("8f3ad92eb0ab17c1b5f6c4a8d1e2f3a4b5c6d7e8", "wandb login ¤"),
        ("Falcon41!", "echo \"¤\" > ~/.vault_pass"),
        ("Falcon41!", "echo ¤ > /run/secrets/db"),
        ("Falcon41!", "{\"Type\": \"SecureString\", \"Value\": \"¤\", \"Version\": 1}"),
        ("Falcon41!", "{\"id\": \"https://x.vault.azure.net/secrets/a/1\", \"value\": \"¤\"}"),
        ("Falcon41!", "expect \"word\"\nsend \"¤\\r\""),
    ]);
}

#[test]
fn other_arguments_of_commands_stay() {
    assert_kept(&[
        "kubectl create configmap x --from-literal=value=Falcon41!",
        "kubectl create secret generic x --from-literal=user=ada",
        "echo RmFsY29uNDEh | base64 -d",
        "echo $PASSWORD | base64",
        "rabbitmqctl list_users --formatter json",
        "mosquitto_sub -h mq -t sensors/room2",
        "bw unlock --check",
        "bundle config set path vendor/bundle",
        "security find-generic-password -a ada",
        "send \"yes\\r\"",
        "scp web:data1.txt ada@host:x",
        "docker secret create db db.txt",
        "etcdctl --user root get x41!",
        "ACL SETUSER ada on nopass ~* +@all",
        "wandb login --relogin",
        "echo \"Falcon41!\" > notes.txt",
        "echo \"done\" > secret.txt",
        "{\"Type\": \"String\", \"Value\": \"Falcon41!\"}",
    ]);
}

#[test]
fn passwords_in_statements_and_calls_are_redacted() {
    assert_replaced(&[
        ("Falcon41!", "INSERT INTO users (name, password) VALUES ('ada', '¤');"),
        ("kJ8s2Lq0Zx9Vb4Nm", "insert into a (id, api_key) values (1, '¤')"),
        ("Falcon41!", "INSERT IGNORE INTO users (name, password) VALUES ('ada', '¤');"),
        ("Falcon41!", "REPLACE INTO users (name, password) VALUES ('ada', '¤');"),
        ("Falcon41!", "Insert into users (name, password) values ('ada', '¤');"),
        ("Falcon41!", "db.run(\"insert or replace into users (password) values (\\\"¤\\\")\")"),
        ("Falcon41!", "SELECT crypt('¤', gen_salt('bf'));"),
        ("Falcon41!", "WHERE password = MD5('¤')"),
        ("Falcon41!", "let creds = (\"ada\", \"¤\");"),
        ("Falcon41!", "bcrypt.hashpw(b\"¤\", bcrypt.gensalt())"),
        ("Falcon41!", "jwt.encode(payload, \"¤\", algorithm=\"HS256\")"),
        ("Falcon41!", "session({ secret: '¤' })"),
        ("Falcon41!", "passwordInput.value = '¤'"),
        ("9f86d081884c7d659a2feaa0c55ad015", "AES_KEY = b\"¤\""),
        ("kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx4=", "Fernet(b'¤')"),
        ("Falcon41!", "variable \"db_password\" {\n  type = string\n  default = \"¤\"\n}"),
    ]);
}

#[test]
fn other_statements_and_calls_stay() {
    assert_kept(&[
        "INSERT INTO users (name, email) VALUES ('ada', 'Falcon41!');",
        "REPLACE INTO users (name, email) VALUES ('ada', 'Falcon41!');",
        "Insert into the form (password) the values ('Falcon41!')",
        "SELECT md5('Falcon41!')",
        "WHERE password = MD5('?')",
        "creds = (\"ada\", \"bob\")",
        "session({ secret: 'session' })",
        "secret: '$SESSION_SECRET_41'",
        "AES_KEY_SIZE = 32",
        "CREDENTIAL=Timber-pebble",
        "SERVICE_CREDENTIAL=load_credential()",
        "requirepass # none",
        "Fernet(key)",
        "variable \"db_password\" {\n  type = string\n}",
        "variable \"db_user\" {\n  default = \"Falcon41!\"\n}",
        "--- PASS: TestDecode_Trailing/value#01 (0.00s)",
        "PASS: TestDecode41",
    ]);
}

#[test]
fn passwords_in_messages_are_redacted() {
    assert_replaced(&[
        ("Falcon41!", "PW: ¤"),
        ("Falcon41!", "ssh ada@host (pw: ¤)"),
        ("Falcon41#berlin", "the prod password changed, it's ¤ now"),
        ("Falcon41!", "wifi: HomeNet / ¤"),
        ("Falcon41!", "WIFI:S:HomeNet;T:WPA;P:¤;;"),
        ("qzkx jvwp bmhg tfrd", "gmail app password: ¤"),
        ("qzkx jvwp bmhg tfrd", "GMAIL_APP_PASSWORD=¤"),
        ("Falcon41!", "test account: ada@example.org / ¤"),
        ("Falcon41!", "ada@example.org:¤"),
        ("Falcon41!", "The login data: ada / ¤"),
        ("Falcon41!", "Anmeldung mit ada / ¤"),
    ]);
}

#[test]
fn other_messages_stay() {
    assert_kept(&[
        "the password changed, it's on the wiki now",
        "the password has changed, now log in again",
        "wifi: on / off",
        "WIFI:S:HomeNet;T:nopass;;",
        "the app password must have more than four letters",
        "ada@example.org / bob@example.org",
        "scp ada@example.org:backup2024 .",
        "git@github.com:org/repo.git",
        "rsync -a ada@example.org:/srv/data1 .",
        "PW: 12, pw: width",
    ]);
}

#[test]
fn ports_and_folders_beside_mongo_stay() {
    assert_kept(&[
        "docker run -d --name mongo -p 27017:27017 mongo:7",
        "docker run -d --name mongo -u 1000 -p 27017:27017 mongo:7",
        "docker exec mongo mkdir -p /data/backup",
        "kubectl exec mongo -- mkdir -p /backup/2024",
        "git log mongo -p HEAD~3",
        "mongo -u admin -p OR mongo, then use admin",
        "mongo -u $ADMIN -p $ADMIN_PASSWORD<<EOF",
        "grep -rn mongo src -w hunter12",
        "docker run -d -p 27017:27017 --name mongo -p 127.0.0.1:27017:27017 -u 1000 mongo:7",
        "docker run --name mongo -u 1000 -p $PORT:27017 mongo:7",
        "mongo -p 27017:27017",
        "mongo mkdir -p /data/backup",
        "ldapsearch -h host -p 389 -x",
        "ldapadd -P 3 -f x.ldif",
    ]);
    assert_replaced(&[
        ("hunter2xk", "mongo -u admin -p ¤"),
        ("hunter2xk", "mongo -u admin -p ¤ --authenticationDatabase admin"),
        ("hunter2xk", "mongo db1:27017/shop --username=admin -p¤"),
        ("hunter:2xk", "docker exec -it mongo mongo -u root -p '¤'"),
        ("hunter2xk", "\"mongo -u admin -p ¤\""),
        ("hunter2xk", "mongo -u admin -p ¤<<EOF"),
        ("hunter2xk", "mongo admin -p ¤ -u root"),
        ("hunter2xk", "mongo -p ¤ --username=root db"),
        ("hun:ter2xk", "mongo -u admin -p ¤ db"),
        ("hunter2xk", "mongo admin -p ¤"),
        ("hunter2xk", "cd db; mongo --host db1:27017 -p ¤"),
        ("hunter2xk", "mongosh -u admin -p ¤"),
        ("hunter2xk", "mongodump -h db -p ¤ -d shop"),
        ("hunter2xk", "ldapsearch -h host -p 389 -x -w ¤"),
        ("hunter2xk", "ldapmodify -D cn=admin -w¤ -f x.ldif"),
    ]);
}

#[test]
fn the_generated_password_of_mysql_is_redacted() {
    assert_replaced(&[
        (
            "q!dW7sk%fK2p",
            "[Note] [MY-010454] [Server] A temporary password is generated for root@localhost: ¤",
        ),
        (
            "iTag*AfrH5ej",
            "[Note] A temporary password is generated for root@localhost: ¤\n[Note] Ready",
        ),
        ("iTag*AfrH5ej", "\"A temporary password is generated for root@localhost: ¤\""),
    ]);
    assert_kept(&[
        "A temporary password is generated for each user.",
        "A temporary password is generated for bob: see the log",
        "grep 'temporary password is generated for' /var/log/mysqld.log",
        "A temporary password is generated for root@localhost: [REDACTED:password]",
    ]);
}

#[test]
fn passwords_that_are_piped_or_given_as_text_are_redacted() {
    assert_replaced(&[
        ("hunter22\\nhunter22", "echo -e \"¤\" | passwd bob"),
        ("hunter22\\nhunter22\\n", "printf '¤' | sudo passwd root"),
        ("hunter22; echo hunter22", "(echo ¤) | smbpasswd -a -s bob"),
        ("hunter22'; echo 'hunter22", "(echo '¤') | sudo passwd bob"),
        ("hunter22", "yes ¤ | passwd bob"),
        ("hunter2x", "wrangler secret put DB_PASS <<< \"¤\""),
        ("hunter22", "kinit bob <<< ¤"),
        ("hunter22", "gpg --batch --passphrase-fd 0 <<< ¤"),
        ("hunter22", "cryptsetup open /dev/sdb x <<< '¤'"),
        ("hunter22", "mosquitto_passwd -b file bob ¤"),
        ("hunter22", "mosquitto_passwd -c -b /etc/mosquitto/file bob ¤\n"),
        ("hunter22", "htpasswd -nb bob ¤"),
        ("hunter22", "mount -t cifs //h/s /m -o user=bob,pass=¤"),
        ("hunter22", "sudo mount.cifs //h/s /m -o pass=¤,user=bob"),
    ]);
    assert_kept(&[
        "echo bob | grep -f - /etc/passwd",
        "echo done2024 | tee /etc/passwd",
        "echo \"$PW\\n$PW\" | passwd bob",
        "(echo $PW; echo $PW) | passwd bob",
        "(echo \"$PW\"; echo \"$PW\") | smbpasswd -a -s bob",
        "printf '%s\\n%s\\n' \"$PW\" \"$PW\" | passwd bob",
        "yes | passwd bob",
        "echo hunter22 | passwd-check",
        "wrangler secret put DB_PASS <<< \"$PW\"",
        "kinit bob <<< $PW",
        "kinit bob < file1",
        "mosquitto_passwd -c file2 bob",
        "mosquitto_passwd -D file2 bob",
        "mount -t cifs //h/s /m -o credentials=/etc/cifs2,uid=1000",
        "mount -t cifs //h/s /m -o user=bob,pass=$PW1",
    ]);
}
