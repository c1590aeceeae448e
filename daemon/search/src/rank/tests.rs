use super::*;
use crate::{
    index::{Card, EpisodeField, IndexChange, Position},
    model::{Message, Namespace, Project, Role, Timestamp, transcript::Origin},
    passage::PassageKind,
    testing::{TestIndex, card, day, keys, message, now, search, user_messages},
};

/// Checks which sessions each query finds, in any order, before and after a commit.
#[track_caller]
fn check(changes: Vec<IndexChange>, cases: &[(&str, &[u64])]) {
    let index = TestIndex::with(changes);
    for is_written in [false, true] {
        if is_written {
            index.index.commit().unwrap();
        }
        for (question, wanted) in cases {
            let mut found = index.find(question);
            found.sort_unstable();
            assert_eq!(found, *wanted, "{question}, written: {is_written}");
        }
    }
}

#[test]
fn words_are_found_in_any_form_and_identifiers_in_any_spelling() {
    check(
        vec![
            user_messages(card(1), &["the retryCount went up"]),
            user_messages(card(2), &["wrote src/search/mod.rs"]),
            user_messages(card(3), &["支持全文搜索"]),
            user_messages(card(4), &["Der Größenwahn"]),
        ],
        &[
            ("retry_count", &[1]),
            ("retrycount", &[1]),
            ("retries", &[1]),
            ("go", &[1]),
            ("writing", &[2]),
            ("search/mod.rs", &[2]),
            ("全文", &[3]),
            ("搜*", &[3]),
            ("grossenwahn", &[4]),
            ("größen*", &[4]),
            ("nowhere", &[]),
        ],
    );
}

#[test]
fn phrases_rank_higher_and_excluded_words_must_be_absent() {
    let changes = vec![
        user_messages(card(1), &["a dry run of the release", "with docker"]),
        user_messages(card(2), &["run it dry"]),
        user_messages(card(3), &["getDryRun(release)"]),
        user_messages(card(4), &["something else"]),
    ];
    check(
        changes.clone(),
        &[
            ("\"dry run\"", &[1, 2, 3]),
            ("\"dry run\" release", &[1, 2, 3]),
            ("\"nothing like it\" release", &[1, 3]),
            ("\"dry\"", &[1, 2, 3]),
            ("dry -docker", &[2, 3]),
            ("dry -\"dry run\"", &[2]),
            ("dry -rele*", &[2]),
            ("-\"docker\"", &[2, 3, 4]),
            ("-docker", &[2, 3, 4]),
        ],
    );
    let index = TestIndex::with(changes);
    assert_eq!(index.find("\"run it\" release dry")[0], 2);
    assert_eq!(index.find("\"dry run of\" run")[0], 1);
}

#[test]
fn a_file_filter_may_be_a_path_of_many_folders() {
    let deep = "/home/ada/code/company/monorepo/services/payments/backend/src/main/java/com/example/\
                payments/ChargeService.java";
    let edit =
        Message { files: vec![deep.to_owned()], ..message(Role::Tool, "changed the charge") };
    check(
        vec![
            IndexChange::Messages { card: card(1), messages: vec![edit] },
            user_messages(card(2), &["a charge"]),
        ],
        &[
            (&format!("charge file:{deep}"), &[1]),
            (&format!("charge file:{deep}:12"), &[1]),
            (&format!("charge -file:{deep}"), &[2]),
            ("charge file:ChargeService.java", &[1]),
            (&format!("charge file:{}", deep.replace("example", "other")), &[]),
            (&format!("charge file:{deep}/x.java"), &[]),
        ],
    );
}

#[test]
fn an_excluded_prefix_excludes_its_rare_words() {
    let common: Vec<String> = (0..200).map(|number| format!("test{number}x")).collect();
    let texts: Vec<&str> = common.iter().map(String::as_str).collect();
    let many = common.join(" ");
    check(
        vec![
            user_messages(card(1), &texts),
            user_messages(card(2), &[many.as_str()]),
            user_messages(card(3), &["build testrare"]),
            user_messages(card(4), &["build a contest"]),
        ],
        &[("build -test*", &[4]), ("build -\"build test*\"", &[4])],
    );
}

#[test]
fn options_and_addresses_are_words() {
    check(
        vec![
            user_messages(card(1), &["terraform apply -destroy asks for an approval"]),
            user_messages(card(2), &["gcc -Wall finds an unused variable"]),
            user_messages(card(3), &["opened file:///srv/report.html in the browser"]),
        ],
        &[
            ("terraform apply -destroy", &[1]),
            ("unused variable -Wall", &[2]),
            ("-Wall", &[2]),
            ("browser file:///srv/report.html", &[3]),
        ],
    );
}

#[test]
fn a_pasted_log_is_searched_by_its_plain_words() {
    let index = TestIndex::with(vec![
        user_messages(card(1), &["the importer drops the last row of each sheet"]),
        user_messages(card(2), &["rows of the table are sorted"]),
    ]);
    for lines in [10, 100, 5_000] {
        let noise =
            (0..lines).map(|line| format!("level:{line:x} 0x{line:08x}abc -x{line} id={line}zz"));
        let noise = noise.collect::<Vec<_>>().join("\n");
        for log in [
            format!("importer drops the last row\n{noise}"),
            format!("{noise}\nimporter drops the last row"),
            format!("{noise}\nimporter drops the last row\n{noise}"),
        ] {
            assert_eq!(index.find(&log).first(), Some(&1), "{lines}");
        }
    }
}

#[test]
fn a_similar_word_near_the_other_words_is_preferred() {
    let mut changes = vec![user_messages(card(1), &["the mailer host marlin has its own quota"])];
    for (key, word) in (2..).zip(["marlon", "marlen", "marlan", "marlun", "marlyn"]) {
        let text = format!("{word} asked for a review of the parser");
        changes.push(user_messages(card(key), &[text.as_str(), text.as_str(), text.as_str()]));
    }
    changes
        .push(user_messages(card(9), &["a maple tree", "the lemon of the mailer", "λεμον tree"]));
    let index = TestIndex::with(changes);
    let used = |question: &str| -> Vec<String> {
        index
            .search(question)
            .spelled
            .into_iter()
            .flat_map(|spelling| spelling.replacements)
            .collect()
    };
    assert_eq!(used("mailer marlxn quota"), ["marlin"]);
    assert_eq!(index.find("mailer marlxn quota")[0], 1);
    // A short word is replaced only by a word with two letters swapped, or by a word that shares a
    // passage with another word of the query.
    assert_eq!(used("tree mapla"), ["maple"]);
    assert_eq!(used("quota mapla"), [""; 0]);
    assert_eq!(used("quota mapel"), ["maple"]);
    // Of a word of four letters, a letter may also be missing, but no letter is replaced.
    assert_eq!(used("tree mape"), ["maple"]);
    assert_eq!(used("quota mape"), [""; 0]);
    assert_eq!(used("maple trea"), [""; 0]);
    // Lengths are counted in characters, not in bytes.
    assert_eq!(used("tree λεμαν"), ["λεμον"]);
    assert_eq!(used("quota λεμαν"), [""; 0]);
}

#[test]
fn the_most_frequent_similar_word_of_all_parts_of_the_index_is_used() {
    let index = TestIndex::with(vec![user_messages(
        card(1),
        &["marlinotiab", "marlinotiac", "marlinotiad"],
    )]);
    index.index.commit().unwrap();
    for key in 2..5 {
        index.apply(user_messages(card(key), &["marlinotizz"]));
    }
    let spelled = index.search("marlinotiqq").spelled;
    assert_eq!(spelled[0].replacements[0], "marlinotizz", "{spelled:?}");
}

#[test]
fn words_of_many_passages_are_counted_in_each_of_them() {
    let mut changes = Vec::new();
    let mut wanted = Vec::new();
    for key in 1..=1_300 {
        let is_rare = [1, 512, 513, 514, 1_024, 1_025, 1_300].contains(&key);
        changes
            .push(user_messages(card(key), &[if is_rare { "usual anchor" } else { "usual text" }]));
        wanted.extend(is_rare.then_some(key));
    }
    let index = TestIndex::with(changes);
    for is_written in [false, true] {
        if is_written {
            index.index.commit().unwrap();
        }
        let results = index.search("usual anchor");
        let mut found = keys(&results)[..wanted.len()].to_vec();
        found.sort_unstable();
        assert_eq!(found, wanted, "written: {is_written}");
        assert_eq!(results.total, 1_300);
        assert_eq!(index.search("anchor").total, wanted.len());
    }
}

#[test]
fn an_unknown_word_is_replaced_by_a_similar_word() {
    let index = TestIndex::with(vec![
        user_messages(card(1), &["the histogram of latencies"]),
        user_messages(card(2), &["Der Kontoauszug und der Abgleich sind in der Tabelle"]),
        user_messages(card(3), &["Остатки на складе"]),
        user_messages(card(4), &["the cache is warm"]),
    ]);
    for is_written in [false, true] {
        if is_written {
            index.index.commit().unwrap();
        }
        for (question, wanted) in [
            ("histgram", 1),
            ("hitsogram", 1),
            ("Kontoauszugsabgleich", 2),
            ("Kontoauszüge", 2),
            ("остатков", 3),
        ] {
            assert_eq!(index.find(question), [wanted], "{question}, written: {is_written}");
        }
        assert_eq!(index.find("zzzzzzz"), [0; 0]);
    }
    let spelled = index.search("histgram of latencies").spelled;
    assert_eq!(
        spelled,
        [Spelling { searched: "histgram".into(), replacements: vec!["histogram".into()] }]
    );
    assert_eq!(index.search("histogram of latencies").spelled, []);
    assert_eq!(index.search("warum histogram").spelled, [], "a word of a known language");
    // A query with many unknown words is not prose.
    assert_eq!(index.search("histgram qqqqqqa qqqqqqb qqqqqqc").spelled.len(), 1);
    assert_eq!(index.search("histgram qqqqqqa qqqqqqb qqqqqqc qqqqqqd").spelled, []);
}

#[test]
fn single_characters_and_both_widths_are_found() {
    check(
        vec![
            user_messages(card(1), &["我給優惠券加鎖"]),
            user_messages(card(2), &["ﾃﾞｰﾀﾍﾞｰｽ"]),
            user_messages(card(3), &["ＡＰＩ の テスト"]),
        ],
        &[("鎖", &[1]), ("優", &[1]), ("データベース", &[2]), ("api", &[3]), ("ﾃｽﾄ", &[3])],
    );
}

#[test]
fn an_identifier_finds_the_latest_session_first() {
    let index = TestIndex::with(vec![
        user_messages(at(1, day(1, 5)), &["src/limits.rs and src/limits.rs: TOLL-7 in take_token"]),
        user_messages(
            at(2, day(2, 5)),
            &["one more look at src/limits.rs, then other things for TOLL-7"],
        ),
        user_messages(at(3, day(3, 5)), &["take the token of src"]),
    ]);
    for identifier in ["limits.rs", "src/limits.rs", "TOLL-7"] {
        assert_eq!(index.find(identifier)[..2], [2, 1], "{identifier}");
    }
    assert_eq!(index.find("take_token")[0], 1);
}

fn at(session: u64, ended_at: Timestamp) -> Card {
    Card { started_at: Some(ended_at), ended_at, ..card(session) }
}

fn episode(card: Card, kind: PassageKind, text: &str, branch: &str) -> IndexChange {
    let fields = vec![EpisodeField { kind, text: text.to_owned() }];
    IndexChange::Episode { card, fields, branches: vec![branch.to_owned()] }
}

#[test]
fn sessions_that_changed_a_file_come_before_those_that_mention_it_and_the_latest_first() {
    let files = "src/plan.rs\nsrc/other.rs\nMakefile\nlib/retry-count.ts\nsrc/tokenizer/mod.rs";
    let index = TestIndex::with(vec![
        episode(at(1, day(1, 5)), PassageKind::File, files, "main"),
        episode(at(2, day(1, 7)), PassageKind::File, files, "main"),
        user_messages(at(3, day(2, 5)), &["what do src/plan.rs, the Makefile and retry-count do"]),
        user_messages(
            at(4, day(1, 1)),
            &["src/plan.rs, retry-count, Makefile and the tokenizer again"],
        ),
        user_messages(
            at(5, day(2, 6)),
            &["tokenizer, tokenizer and the tokenizer of each tokenizer"],
        ),
    ]);
    for name in [
        "plan.rs",
        "`src/plan.rs`",
        "src/plan.rs:7",
        "Makefile",
        "makefile",
        "retry-count",
        "Makefile?",
    ] {
        assert_eq!(index.find(name)[..2], [2, 1], "{name}");
    }
    // A folder's name is a plain word, and so is a file's name in a query with other words.
    assert_eq!(index.find("tokenizer")[0], 5);
    assert_eq!(index.find("what about the Makefile")[0], 3);
}

#[test]
fn sessions_that_edited_a_symbol_come_before_those_that_mention_it_and_the_latest_first() {
    let calls = |session, month_day: (i8, i8), tool: &str, text: &str| IndexChange::Messages {
        card: at(session, day(month_day.0, month_day.1)),
        messages: vec![Message {
            tool: Some(tool.to_owned()),
            files: text.contains("src/").then(|| "src/a.rs".to_owned()).into_iter().collect(),
            ..message(Role::Tool, text)
        }],
    };
    let edit = "src/a.rs (+1 -1)\n-fn parse_header() {}\n+fn parse_header(text: &str) {}";
    let mention = "Grep: parse_header, parse_header and parse_header";
    let index = TestIndex::with(vec![
        calls(1, (1, 1), "Edit", edit),
        // Codex applies patches by its shell tool.
        calls(2, (1, 3), "exec_command", edit),
        calls(3, (1, 2), "write_file", edit),
        calls(4, (1, 9), "Grep", mention),
        calls(5, (1, 8), "TodoWrite", mention),
        calls(6, (1, 7), "github_create_issue", "title=parse_header drops a byte\n- parse_header"),
        calls(9, (1, 5), "write_stdin", "write_stdin: chars=-parse_header\n-parse_header"),
        calls(
            10,
            (1, 4),
            "Edit",
            "Edit: src/a.rs (+1 -1) → failed: no parse_header\n-fn parse_header",
        ),
        calls(7, (1, 6), "Edit", "src/b.rs (+1 -1)\n-fn parse_headers() {}"),
        user_messages(at(8, day(2, 1)), &["what does parse_header do, and parseHeader?"]),
    ]);
    for is_written in [false, true] {
        if is_written {
            index.index.commit().unwrap();
        }
        let found = index.find("parse_header");
        assert_eq!(found[..9], [2, 3, 1, 8, 4, 5, 6, 9, 10], "{is_written}");
        assert_eq!(index.find("parse_header()")[..3], [2, 3, 1]);
        assert_eq!(index.find("parse_header tool:Edit")[0], 1);
    }
    // The text decides about a query with other words.
    assert_eq!(index.find("what does parse_header do")[0], 8);
}

#[test]
fn a_changed_file_of_another_project_does_not_hide_the_sessions_that_edited_a_symbol() {
    let other = Card { namespace: Namespace::from_number(2), ..at(1, day(1, 5)) };
    let edit = "Edit: src/a.rs (+1 -0)\n+fn parse_header() {}";
    let index = TestIndex::with(vec![
        episode(other, PassageKind::File, "src/parse_header.py", "main"),
        IndexChange::Messages {
            card: at(2, day(1, 6)),
            messages: vec![Message {
                tool: Some("Edit".to_owned()),
                files: vec!["src/a.rs".to_owned()],
                ..message(Role::Tool, edit)
            }],
        },
        user_messages(at(3, day(2, 1)), &["what does parse_header do, and parse_header?"]),
    ]);
    let found = |namespace| {
        let namespaces = Some(vec![Namespace::from_number(namespace)]);
        keys(&search(&index.index, "parse_header", &Scope { namespaces, ..Scope::default() }, None))
    };
    assert_eq!(found(1), [2, 3]);
    assert_eq!(found(2), [1]);
    assert_eq!(index.find("parse_header")[0], 1, "without a scope, the file decides");
}

#[test]
fn sessions_that_only_mention_a_plain_word_are_ranked_by_their_text() {
    let index = TestIndex::with(vec![
        episode(at(1, day(1, 5)), PassageKind::File, "src/tokenizer.rs", "main"),
        user_messages(
            at(2, day(2, 5)),
            &["a long text about other things, and also about the tokenizer"],
        ),
        user_messages(at(3, day(2, 1)), &["tokenizer: the tokenizer splits"]),
    ]);
    assert_eq!(index.find("tokenizer"), [1, 3, 2]);
}

#[test]
fn the_session_that_made_a_commit_comes_before_later_questions_about_it() {
    let done = "Limit the retries for TOLL-7 (commit `e4f5a6b`)";
    let index = TestIndex::with(vec![
        episode(at(1, day(1, 5)), PassageKind::Body, done, "main"),
        episode(at(2, day(1, 4)), PassageKind::Title, "Wait", "feat/toll-8-wait"),
        user_messages(
            at(3, day(2, 5)),
            &["what did e4f5a6b0c1d2 do, was it for TOLL-7 or TOLL-8?"],
        ),
        user_messages(at(4, day(2, 6)), &["e4f5a6b, TOLL-7, TOLL-8"]),
        user_messages(at(5, day(2, 7)), &["git checkout feat/TOLL-12-limit-retries", "fix #13"]),
        user_messages(at(6, day(2, 8)), &["TOLL-14_fix and TOLL-150, 17 times a toll"]),
    ]);
    for (name, wanted) in [("e4f5a6b", 1), ("e4f5a6b0c1d2", 1), ("TOLL-7", 1), ("toll-8", 2)] {
        assert_eq!(index.find(name)[0], wanted, "{name}");
    }
    assert_eq!(index.find("e4f5a6b role:user"), [4]);
    for (name, unknown) in [
        ("TOLL-9", Some("TOLL-9")),
        ("TOLL-7", None),
        ("toll-8", None),
        ("TOLL-7 role:tool", None),
        ("TOLL-12", None),
        ("TOLL-14", None),
        ("TOLL-12 role:tool", None),
        ("#13 role:tool", None),
        ("TOLL-9 role:tool", Some("TOLL-9")),
        ("TOLL-12 agent:codex", Some("TOLL-12")),
        ("TOLL-15", Some("TOLL-15")),
        ("TOLL-17", Some("TOLL-17")),
        ("#17", Some("#17")),
        ("e4f5a6c", None),
        ("retries for TOLL-9", None),
    ] {
        assert_eq!(index.search(name).unknown_ticket.as_deref(), unknown, "{name}");
    }
}

#[test]
fn the_first_sessions_of_an_identifier_are_chosen_by_time_and_not_by_score() {
    let mut changes = vec![episode(at(1, day(1, 1)), PassageKind::File, "src/config.rs", "main")];
    for key in 2..=400 {
        let text = "config.rs config.rs config.rs is long".to_owned();
        changes.push(user_messages(at(key, day(1, 2)), &[text.as_str()]));
    }
    let latest = "config.rs ".to_owned() + &"and other words ".repeat(40);
    changes.push(user_messages(at(500, day(2, 1)), &[latest.as_str()]));
    let index = TestIndex::with(changes);
    for is_written in [false, true] {
        if is_written {
            index.index.commit().unwrap();
        }
        assert_eq!(index.find("config.rs")[..2], [1, 500], "written: {is_written}");
        assert_eq!(index.search("config.rs").total, 401);
    }
}

#[test]
fn an_error_message_finds_the_call_that_failed_with_it_first() {
    let failed =
        "Bash: `make` → failed (exit 2): ld: error: cannot find the entry symbol in start.o";
    let call = Message { tool: Some("Bash".to_owned()), ..message(Role::Tool, failed) };
    let index = TestIndex::with(vec![
        IndexChange::Messages { card: card(1), messages: vec![call] },
        user_messages(
            card(2),
            &["the entry: I cannot find the symbol, what is the start of this error"],
        ),
        user_messages(card(3), &["find the symbol of the entry", "start.o has no error", "ld"]),
    ]);
    let line = "ld: error: cannot find the entry symbol in start.o";
    assert_eq!(index.find(line)[0], 1);
    assert_eq!(index.find(&format!("make\n{line}\nmake: *** [all] stopped"))[0], 1);
}

#[test]
fn a_commit_is_found_by_longer_and_shorter_forms_of_its_hash() {
    check(
        vec![
            user_messages(card(1), &["[main e4f5a6b] Limit the retries"]),
            user_messages(card(2), &["commit 0c9d8e7a1b2c3d4e5f60718293a4b5c6d7e8f901"]),
        ],
        &[("e4f5a6b0c1d2e3f4a5b60718293a4b5c6d7e8f90", &[1]), ("0c9d8e7a", &[2])],
    );
}

#[test]
fn a_compound_is_found_by_its_last_part() {
    check(
        vec![
            user_messages(card(1), &["Die Datensicherung läuft nicht, wenn der Dienst steht"]),
            user_messages(card(2), &["the thermostat polls too quickly"]),
        ],
        &[("Sicherung", &[1]), ("thermstatt", &[2])],
    );
}

#[test]
fn traditional_and_simplified_characters_find_each_other() {
    check(
        vec![user_messages(card(1), &["购物车会清空"]), user_messages(card(2), &["數據庫很慢"])],
        &[("購物車", &[1]), ("购物车", &[1]), ("数据库", &[2]), ("數據庫", &[2]), ("库", &[2])],
    );
}

#[test]
fn words_of_other_languages_are_found_in_any_form() {
    check(
        vec![
            user_messages(
                card(1),
                &["Die Mahnungen gehen auch an Kunden, die schon bezahlt haben"],
            ),
            user_messages(
                card(2),
                &["Les réservations des lecteurs ont disparu après la mise à jour"],
            ),
            user_messages(card(3), &["Los huéspedes pueden reservar la misma habitación"]),
            user_messages(card(4), &["Списания проводятся дважды"]),
            user_messages(
                card(5),
                &["Palvelussa on vika, kun asiakas ei ole maksanut ja kortti on vanha"],
            ),
        ],
        &[
            ("Mahnung", &[1]),
            ("réservation", &[2]),
            ("habitaciones", &[3]),
            ("списание", &[4]),
            ("palvelusta", &[5]),
        ],
    );
}

#[test]
fn a_question_about_a_day_has_the_sessions_of_that_day_first() {
    let index = TestIndex::with(vec![
        user_messages(card(1), &["the parser"]),
        IndexChange::Messages {
            card: Card { started_at: Some(day(3, 3)), ended_at: day(3, 3), ..card(2) },
            messages: vec![Message { at: Some(day(3, 3)), ..message(Role::User, "a lexer") }],
        },
    ]);
    let question = "the grammar that we wrote on 3 March";
    assert_eq!(index.find(question), [2]);
}

#[test]
fn filters_restrict_sessions_and_passages() {
    let other = |session| Card {
        namespace: Namespace::from_number(0xbeef),
        project: Some(Project::new("/home/ann/web-site")),
        agent: "codex".to_owned(),
        ..card(session)
    };
    let again =
        Message { branch: Some("main".to_owned()), ..message(Role::User, "the button again") };
    let edit = Message {
        seq: 7,
        role: Role::Tool,
        tool: Some("mcp__git__push".to_owned()),
        files: vec!["/home/ann/web-site/src/Page.tsx".to_owned()],
        branch: Some("feat/login".to_owned()),
        at: Some(day(2, 10)),
        ..message(Role::Tool, "changed the button")
    };
    check(
        vec![
            user_messages(card(1), &["a button"]),
            IndexChange::Messages { card: other(2), messages: vec![again, edit] },
            IndexChange::Episode {
                card: card(1),
                fields: vec![EpisodeField {
                    kind: PassageKind::Decision,
                    text: "one button".to_owned(),
                }],
                branches: vec!["fix/2".to_owned()],
            },
        ],
        &[
            ("button", &[1, 2]),
            ("button project:app", &[1]),
            ("button project:web-site", &[2]),
            ("button project:site", &[2]),
            ("button project:ann/web-site", &[2]),
            ("button project:0000beef", &[2]),
            ("button project:app project:site", &[1, 2]),
            ("button -project:app", &[2]),
            ("button agent:Codex", &[2]),
            ("button -agent:codex project:app", &[1]),
            ("button file:page.tsx", &[2]),
            ("button file:src/Page.tsx", &[2]),
            ("button file:src/Page.tsx:12", &[2]),
            ("button file:src/Page.tsx:12:3", &[2]),
            ("button file:12", &[]),
            ("button file:src", &[2]),
            ("button file:age.tsx", &[]),
            ("button -file:page", &[1]),
            ("button tool:push", &[2]),
            ("again tool:push", &[]),
            ("button branch:main", &[2]),
            ("button branch:feat/login", &[2]),
            ("button branch:fix", &[1]),
            ("again branch:login", &[]),
            ("button role:user", &[1, 2]),
            ("button role:tool", &[2]),
            ("button role:user -tool:push project:site", &[2]),
            ("button in:decisions", &[1]),
            ("button in:messages project:app", &[1]),
            ("again role:tool", &[]),
            ("button date:2026-02-10", &[2]),
            ("button before:2026-02-20", &[2]),
            ("button after:2026-02-20", &[1, 2]),
            ("button after:2026-02-20 before:2026-02-25", &[]),
            ("button -date:2026-03-01", &[2]),
            ("project:site", &[2]),
            ("tool:push", &[2]),
            ("date:2026-03-01", &[1, 2]),
            ("in:decisions", &[1]),
            ("agent:gemini", &[]),
        ],
    );
}

#[test]
fn the_scope_restricts_the_results() {
    let other_project = |session| Card { namespace: Namespace::from_number(2), ..card(session) };
    let index = TestIndex::with([
        user_messages(card(1), &["apple"]),
        user_messages(other_project(2), &["apple"]),
    ]);
    let find = |scope: Scope| keys(&search(&index.index, "apple", &scope, None));
    let namespaces = |numbers: &[u32]| {
        Some(numbers.iter().map(|number| Namespace::from_number(*number)).collect())
    };
    assert_eq!(find(Scope { namespaces: namespaces(&[2]), ..Scope::default() }), [2]);
    assert_eq!(find(Scope { namespaces: namespaces(&[]), ..Scope::default() }), [0; 0]);
    assert_eq!(find(Scope { within: Some(SessionKey(1)), ..Scope::default() }), [1]);
    assert_eq!(find(Scope { without: vec![SessionKey(1)], ..Scope::default() }), [2]);
    for near in [1, 2] {
        let near = vec![Namespace::from_number(near)];
        let first = find(Scope { near: near.clone(), ..Scope::default() })[0];
        assert_eq!(vec![Namespace::from_number(u32::try_from(first).unwrap())], near);
    }
}

/// With equal scores, the higher session number comes first. The better session therefore has
/// number 1.
#[test]
fn sessions_with_stronger_signals_come_first() {
    let by_role = |session, role| IndexChange::Messages {
        card: card(session),
        messages: vec![message(role, "the parser loses comments")],
    };
    let on = |session, at| Card { started_at: Some(at), ended_at: at, ..card(session) };
    let of = |session, path| Card { project: Some(Project::new(path)), ..card(session) };
    for (better, worse, question) in [
        (
            user_messages(card(1), &["expired tokens"]),
            user_messages(card(2), &["tokens and more tokens"]),
            "expired tokens",
        ),
        (
            user_messages(card(1), &["the dry run was"]),
            user_messages(card(2), &["the run was dry"]),
            "dry run",
        ),
        (
            user_messages(card(1), &["and now the audit pool size is 7"]),
            user_messages(card(2), &["the pool size, the pool size", "the audit pool"]),
            "audit pool size",
        ),
        (
            user_messages(card(1), &["it was tested"]),
            user_messages(card(2), &["it was testing"]),
            "tested",
        ),
        (
            user_messages(card(1), &["apple", "apple", "apple"]),
            user_messages(card(2), &["apple", "pear", "plum"]),
            "apple",
        ),
        (
            user_messages(card(1), &["it was Ann"]),
            user_messages(card(2), &["it was found"]),
            "who found Ann",
        ),
        (by_role(1, Role::User), by_role(2, Role::Tool), "parser comments"),
        (by_role(1, Role::User), by_role(2, Role::Agent), "parser comments"),
        (by_role(1, Role::Agent), by_role(2, Role::Tool), "parser comments"),
        (
            user_messages(on(1, day(3, 17)), &["parser"]),
            user_messages(on(2, day(1, 5)), &["parser"]),
            "parser",
        ),
        (
            user_messages(on(1, day(1, 5)), &["the parser"]),
            user_messages(on(2, day(3, 17)), &["the parser"]),
            "the parser in January",
        ),
        (
            user_messages(of(1, "/x/web-site"), &["the parser"]),
            user_messages(of(2, "/x/other"), &["the parser"]),
            "parser of the web site",
        ),
    ] {
        assert_eq!(TestIndex::with([better, worse]).find(question), [1, 2], "{question}");
    }
}

#[test]
fn neighbouring_messages_are_scored_together() {
    let filler: Vec<String> =
        (0..60).map(|n| format!("filler {n} {}", "word ".repeat(60))).collect();
    let mut near: Vec<&str> = filler.iter().map(String::as_str).collect();
    let mut far = near.clone();
    near[30] = "the lexer";
    near[31] = "drops newlines";
    far[2] = "the lexer";
    far[57] = "drops newlines";
    let index = TestIndex::with([user_messages(card(1), &near), user_messages(card(2), &far)]);
    assert_eq!(index.find("lexer drops newlines"), [1, 2]);
}

#[test]
fn a_list_has_the_latest_first() {
    let ended =
        |session, on| user_messages(Card { ended_at: day(3, on), ..card(session) }, &["hello"]);
    let index = TestIndex::with([ended(1, 5), ended(2, 9), ended(3, 7)]);
    assert_eq!(index.find(""), [2, 3, 1]);
    assert_eq!(index.find("project:app"), [2, 3, 1]);
    assert_eq!(index.find("role:user"), [2, 3, 1]);
}

#[test]
fn a_query_of_only_stop_words_searches_them() {
    let index = TestIndex::with([
        user_messages(card(1), &["to be or not to be"]),
        user_messages(card(2), &["apple"]),
    ]);
    assert_eq!(index.find("to be or not to be"), [1]);
    assert_eq!(index.find("who are the"), [0; 0]);
}

#[test]
fn an_explanation_adds_up_to_the_score() {
    let index = TestIndex::with([
        user_messages(card(1), &["the parser loses comments", "parsers again"]),
        user_messages(card(2), &["comments"]),
    ]);
    let results = index.search("parser comments in March");
    for hit in &results.sessions {
        let sum: f32 = hit.explanation.signals.iter().map(|signal| signal.share).sum();
        assert!((sum - hit.score).abs() < 1e-4);
    }
    let explanation = &results.sessions[0].explanation;
    let parser = explanation.words.iter().find(|word| word.word == "parser").unwrap();
    assert_eq!((parser.exact, parser.any_form), (1, 2));
    let shown = explanation.to_string();
    for part in ["best passages", "date", "parser 1 (2 in any form)"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn a_second_ranker_influences_the_order_but_does_not_determine_it() {
    struct FixedRanker;
    impl SecondRanker for FixedRanker {
        fn rank(&self, _: usize, admits: &dyn Fn(SessionKey) -> bool) -> Vec<(SessionKey, f32)> {
            let all = [(1, 0.2), (2, 0.1), (3, 0.9), (4, 0.8)];
            let admitted = all.into_iter().map(|(key, score)| (SessionKey(key), score));
            admitted.filter(|(session, _)| admits(*session)).collect()
        }

        fn floor(&self) -> f32 {
            0.15
        }
    }
    let index = TestIndex::with([
        user_messages(card(1), &["the parser loses comments"]),
        user_messages(card(2), &["comments by people on many other things"]),
        user_messages(card(3), &["something in other words"]),
        user_messages(Card { agent: "codex".to_owned(), ..card(4) }, &["other words still"]),
    ]);
    let ask = |question: &str| {
        let results = search(&index.index, question, &Scope::default(), Some(&FixedRanker));
        (keys(&results), results)
    };
    let (found, results) = ask("parser comments agent:claude");
    assert_eq!(found, [1, 3, 2]);
    assert!(results.sessions[1].passages.is_empty());
    assert_eq!(ask("absentword agent:claude").0, [3, 1], "session 2 is below the floor");
}

#[test]
fn a_second_ranker_does_not_change_the_order_of_sessions_with_an_identifier() {
    struct Preferring;
    impl SecondRanker for Preferring {
        fn rank(&self, _: usize, _: &dyn Fn(SessionKey) -> bool) -> Vec<(SessionKey, f32)> {
            (1..=30).map(|key| (SessionKey(key), if key == 3 { 0.9 } else { 0.1 })).collect()
        }

        fn floor(&self) -> f32 {
            0.0
        }
    }
    let dated = |key| at(key, day(1, 31 - i8::try_from(key).unwrap()));
    let index =
        TestIndex::with((1..=30).map(|key| user_messages(dated(key), &["see src/plan.rs"])));
    let results = search(&index.index, "src/plan.rs", &Scope::default(), Some(&Preferring));
    assert_eq!(keys(&results), (1..=10).collect::<Vec<_>>(), "the latest comes first");
}

#[test]
fn a_duplicate_message_counts_once() {
    let index = TestIndex::with([
        user_messages(card(1), &["the parser"]),
        user_messages(card(1), &["the parser"]),
        user_messages(card(2), &["the parser"]),
    ]);
    let results = index.search("parser");
    assert_eq!(results.sessions[0].explanation.words[0].exact, 1);
}

#[test]
fn any_query_is_answered_without_panic() {
    let edit = Message {
        tool: Some("Edit".to_owned()),
        files: vec!["src/a.rs".to_owned()],
        origin: Origin { source: 3, line: 1 },
        ..message(Role::Tool, "token expired in src/a.rs, 搜索 C++ 1.2.3")
    };
    let index = TestIndex::with([user_messages(card(1), &["token", "a b c d e f g"])]);
    index.index.commit().unwrap();
    index.index.apply(IndexChange::Messages { card: card(2), messages: vec![edit] }, Position(9));
    let pieces = [
        "token",
        "\"token expired\"",
        "\"",
        "-",
        "*",
        "to*",
        ":",
        "file:a.rs",
        "-file:",
        "date:today",
        "since:x",
        "in:title",
        "role:tool",
        "tool:Edit",
        "(",
        ")",
        "[",
        "~",
        "^",
        "\\",
        "AND",
        "NOT",
        "é",
        "搜索",
        "搜*",
        "\u{0}",
        "👩‍💻",
        "'",
        "/",
        "::",
        "@",
        "c++",
        "-x",
        "-\"a b\"",
        "last week",
        "1.2.3",
        "a.b.c/d",
        "~fail",
        "card 1",
        "project:x",
        "\u{200d}",
        "the",
    ];
    let mut seed: u64 = 1;
    for _ in 0..600 {
        let mut question = String::new();
        for _ in 0..6 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            question.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            question.push(if seed >> 40 & 3 == 0 { '\u{a0}' } else { ' ' });
        }
        let results = index.search(&question);
        assert!(results.sessions.iter().all(|hit| hit.score.is_finite()), "{question:?}");
    }
    index.search(&"token ".repeat(3_000));
    let query = Query::parse("token", &now());
    let request = RankRequest {
        query: &query,
        scope: &Scope::default(),
        now: Timestamp::MAX,
        limit: 0,
        weights: &Weights::default(),
        second: None,
        session_filter: None,
    };
    assert_eq!(index.index.search(&request).unwrap().sessions, []);
}

#[test]
fn the_filter_of_a_request_applies_before_any_limit() {
    let ended = |session: u64| {
        let ended_at = day(3, 1 + i8::try_from(session % 20).unwrap());
        Card { ended_at, ..card(session) }
    };
    let index =
        TestIndex::with((0..300).map(|number| user_messages(ended(number), &["a common lantern"])));
    // A session that is neither among the best nor among the latest.
    let wanted = keys(&index.search("lantern"));
    let hidden = (0..300).find(|number| number % 20 == 0 && !wanted.contains(number)).unwrap();
    let only = |session: SessionKey| session.0 == hidden;
    for (question, total) in [("lantern", 1), ("", 300)] {
        let query = Query::parse(question, &now());
        let request = RankRequest {
            query: &query,
            scope: &Scope::default(),
            now: Timestamp::MAX,
            limit: 1,
            weights: &Weights::default(),
            second: None,
            session_filter: Some(&only),
        };
        let results = index.index.search(&request).unwrap();
        assert_eq!((keys(&results), results.total), (vec![hidden], total), "{question:?}");
    }
}

/// Returns the numbers of the messages that are shown of the first session, best first.
fn shown(messages: &[(Role, &str)], question: &str) -> Vec<u32> {
    let messages = (0..).zip(messages).map(|(seq, (role, text))| Message {
        seq,
        origin: Origin { source: 0, line: u64::from(seq) + 1 },
        ..message(*role, text)
    });
    let change = IndexChange::Messages { card: card(1), messages: messages.collect() };
    let index = TestIndex::with([change]);
    let hit = index.search(question).sessions.remove(0);
    let place = |passage: &PassageHit| match passage.place {
        HitLocation::Message { seq, .. } => seq,
        HitLocation::Episode { .. } => unreachable!("the session has no episode"),
    };
    hit.passages.iter().map(place).collect()
}

#[test]
fn messages_of_the_agent_are_shown_before_the_messages_of_the_user_and_calls() {
    let messages = [
        (Role::User, "why is the pool full"),
        (Role::Tool, "why is the pool full"),
        (Role::Agent, "why is the pool full"),
    ];
    assert_eq!(shown(&messages, "pool full"), [2, 0, 1]);
    // The call that may have failed with an error is shown like a message of the agent.
    let error = "thread 'main' panicked at src/pool.rs:3:5: pool is full";
    let messages = [(Role::User, error), (Role::Tool, error)];
    assert_eq!(shown(&messages, error), [1, 0]);
}

#[test]
fn a_word_of_all_messages_of_a_session_counts_less_for_the_messages_that_are_shown() {
    let about_pools = [(Role::Agent, "the pool and the pool again"); 8];
    let answer = (Role::Agent, "the limit is twenty for now");
    let messages: Vec<_> = about_pools.into_iter().chain([answer]).collect();
    assert_eq!(shown(&messages, "limit of the pool")[0], 8);
}

#[test]
fn the_last_message_of_a_turn_is_shown_before_the_messages_of_the_work() {
    let cause = (Role::Agent, "The pool is full because a request holds two connections");
    let (prompt, call, done) =
        ((Role::User, "Look"), (Role::Tool, "Bash: ls"), (Role::Agent, "Done"));
    let question = "why is the pool full";
    assert_eq!(shown(&[prompt, cause, call, done, prompt, cause], question), [5, 1]);
    assert_eq!(shown(&[prompt, cause, prompt, cause, call, done], question), [1, 3]);
    // The summary of the session, which the agent writes while the user is away, is in no turn.
    let recap = (Role::Recap, "Done");
    assert_eq!(shown(&[prompt, cause, call, done, prompt, cause, recap], question), [5, 1]);
    // Without the user's messages, the turns are unknown.
    let of_agent = format!("{question} role:assistant");
    assert_eq!(shown(&[prompt, cause, call, done, prompt, cause], &of_agent), [1, 5]);
}

#[test]
fn the_message_after_a_step_with_the_words_is_shown_before_others() {
    let finding = "Each request of the pool holds two connections";
    let long = "Let me see why the pool loses its requests. The log has the same lines as before, \
                in the same order, at the same times, with the same numbers, from the same \
                processes and the same users, who wrote the same words in the same places, so \
                that I learned nothing new from it and have to look at all the other files \
                again, one after the other, slowly";
    let messages = |before: &'static str| {
        [
            (Role::User, "Look"),
            (Role::Agent, before),
            (Role::Tool, "Bash: ls"),
            (Role::Agent, finding),
            (Role::Tool, "Bash: ls"),
            (Role::Agent, "Two requests of the pool wait"),
            (Role::Tool, "Bash: ls"),
            (Role::Agent, "Done"),
        ]
    };
    let order = |before: &'static str| {
        let mut shown = shown(&messages(before), "why does the pool lose requests");
        shown.retain(|seq| [3, 5].contains(seq));
        shown
    };
    assert_eq!(order("Let me see"), [5, 3], "the shorter message is better");
    assert_eq!(order("Let me see why the pool loses its requests"), [3, 5]);
    assert_eq!(order(long), [5, 3], "a long message is no step");
}

#[test]
fn the_messages_after_a_prompt_with_the_words_come_before_those_after_another_prompt() {
    let messages = |first, second| {
        [
            (Role::User, first),
            (Role::Agent, "Two requests of the pool wait for it"),
            (Role::User, second),
            (Role::Agent, "Two requests of the pool wait for it"),
        ]
    };
    let (asks, other) = ("Why does the pool lose its requests?", "Look again");
    let question = "why does the pool lose requests";
    let of_agent = |first, second| {
        let mut shown = shown(&messages(first, second), question);
        shown.retain(|seq| seq % 2 == 1);
        shown
    };
    assert_eq!(of_agent(asks, other), [1, 3]);
    assert_eq!(of_agent(other, asks), [3, 1]);
}
