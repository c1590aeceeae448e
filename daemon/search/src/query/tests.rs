use jiff::{civil::date, tz::TimeZone};

use super::*;
use crate::passage::PassageKind;

fn now() -> Zoned {
    date(2026, 3, 18).at(15, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap()
}

fn parse(text: &str) -> Query {
    Query::parse(text, &now())
}

/// Formats the words of a query: stop words in `()`, faint words with `-`, names with `^`, words of
/// dates in `<>`, parts of wholes in `{}`, wholes in `[]`.
fn words(text: &str) -> String {
    let shown = parse(text).words.into_iter().map(|word| match (word.form, word.role) {
        (WordForm::Whole, _) => format!("[{}]", word.text),
        (WordForm::Prefix, _) => format!("{}*", word.text),
        (_, WordRole::Content) => word.text,
        (_, WordRole::Name) => format!("^{}", word.text),
        (_, WordRole::Stop) => format!("({})", word.text),
        (_, WordRole::Faint) => format!("-{}", word.text),
        (_, WordRole::InDate) => format!("<{}>", word.text),
        (_, WordRole::InWhole) => format!("{{{}}}", word.text),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn condition(filter: Filter) -> FilterClause {
    FilterClause { filter, is_negated: false }
}

#[test]
fn plain_words_are_ranked_and_stop_words_marked() {
    for (text, wanted) in [
        ("Why did the login fail?", "(why) (did) (the) login fail"),
        ("Did Ann fail? Ben fixed JSON", "(did) ^ann fail ben fixed ^json"),
        ("retry_count in http.rs", "[retrycount] {retry} {count} (in) [http.rs] {http} {rs}"),
        ("what stalled last week", "(what) stalled"),
        ("last_month_total", "[lastmonthtotal] {last} {month} {total}"),
        ("last_month", "[lastmonth] {last} {month}"),
        ("Black Friday banner", "black ^friday banner"),
        ("the Good Friday holiday", "(the) ^good ^friday holiday"),
        ("Sunday scheduler job", "<sunday> scheduler job"),
        ("cron every Monday 9am", "cron -every ^monday 9am"),
        ("the crash on Monday", "(the) crash"),
        ("Fix the crash Monday", "fix (the) crash <monday>"),
        ("what crashed last Monday", "(what) crashed"),
        ("yesterday-sales report", "[yesterdaysales] {sales} report"),
        ("what stalled last-week", "(what) stalled"),
        ("what stalled in March", "(what) stalled <in> <march>"),
        ("conf* file", "conf* file"),
        ("http://x.com/a", "[x.com] [x.com/a] {x} {com} {a}"),
        ("std::vec", "[std::vec] {std} {vec}"),
        ("foo:bar", "foo bar"),
        ("project:", "project"),
        ("role:nobody", "role nobody"),
        ("date:whenever", "date whenever"),
        ("\"unclosed phrase", "unclosed phrase"),
        ("5\" nails", "5 nails"),
        ("- -- * \"\" '' :", ""),
        ("git push --force -f", "git push force f"),
        ("rm -rf x", "rm rf x"),
        ("a*", "(a)"),
        ("搜*", "搜*"),
        ("搜", "搜*"),
    ] {
        assert_eq!(words(text), wanted, "{text}");
    }
}

#[test]
fn quotes_make_phrases_and_a_minus_excludes() {
    let query = parse("fix \"connection reset\" \u{201c}Exact\u{201d} -\"dry run\" -conf*");
    let phrase = |text: &str| Phrase {
        parts: text.split(' ').map(str::to_owned).collect(),
        is_prefix: false,
    };
    assert_eq!(query.phrases, [phrase("connection reset"), phrase("exact")]);
    let german = "\u{201e}Connection reset\u{201c} x \u{bb}exact\u{ab}";
    assert_eq!(parse(german).phrases, query.phrases);
    assert_eq!(parse("\u{201e}Connection reset\u{201d} \u{ab}exact\u{bb}").phrases, query.phrases);
    assert_eq!(parse("-docker*.").excluded_phrases(), ["docker*"]);
    let conf = Phrase { is_prefix: true, ..phrase("conf") };
    assert_eq!(query.excluded, [phrase("dry run"), conf]);
    assert_eq!(words("fix \"connection reset\""), "fix connection reset");
}

#[test]
fn only_a_clear_minus_excludes() {
    for (text, excluded) in [
        ("retry -docker", 1),
        ("retry -docker project:api", 1),
        ("-\"docker\" retry", 1),
        ("-docker retry", 0),
        ("-docker", 1),
        ("project:api -docker -compose", 2),
        ("-verbose --force", 0),
        ("-Wall", 0),
        ("npm -yarn", 1),
        ("docker -compose", 1),
        ("git -push", 1),
        ("retry -docker compose", 0),
        ("retry -Wall", 0),
        ("build -DNDEBUG", 0),
        ("terraform apply -destroy", 0),
        ("ssh host -vvv", 0),
        ("docker run nginx -itd", 0),
        ("app --force -verbose", 0),
        ("a log\nretry -docker", 0),
        ("compiles with -wall", 0),
        ("compiles with -wall -werror", 0),
        ("the build uses -static", 0),
        ("the option -static", 0),
        ("mise run lint -fix", 0),
        ("after cargo build -release", 0),
        ("retry with backoff -docker", 1),
        ("a failed run in CI -docker", 1),
        ("a slow build -docker", 1),
        ("the use of retries -docker", 1),
        ("a git hook -husky", 1),
        ("how to make tests -slow", 1),
        ("retry with -\"dry run\"", 1),
        ("client -toll?", 1),
        ("retry pool -docker.", 1),
        ("retry -docker, project:api", 1),
        ("retry pool -docker*.", 1),
        ("server -next.js.", 0),
        ("retry -Wall?", 0),
        ("language -c++.", 0),
        ("toll -\u{201e}toll client\u{201c}", 1),
        ("toll -\u{bb}toll client\u{ab}", 1),
        ("toll -\u{201e}toll client", 0),
    ] {
        assert_eq!(parse(text).excluded.len(), excluded, "{text}");
    }
}

#[test]
fn excluded_words_are_listed_as_they_are_searched() {
    let query = parse("fix -\"Dry run\" -conf*");
    assert_eq!(query.excluded_phrases(), ["dry run", "conf*"]);
    assert_eq!(parse("compiles with -wall").excluded_phrases(), [""; 0]);
}

#[test]
fn words_with_a_minus_that_are_searched_at_the_end_of_a_query_are_listed() {
    for (text, searched) in [
        ("license -MIT", &["-MIT"][..]),
        ("server -next.js", &["-next.js"]),
        ("retry -Wall", &["-Wall"]),
        ("license -mit", &[]),
        ("license -\"MIT\"", &[]),
        ("gcc -Wall main.c", &[]),
        ("compiles with -Wall", &[]),
        ("-Wall", &[]),
        ("retry -Docker compose", &[]),
    ] {
        assert_eq!(parse(text).searched_minus_words(), searched, "{text}");
    }
}

#[test]
fn only_a_query_without_other_conditions_is_only_a_time() {
    for text in [
        "yesterday",
        "what did we do last week?",
        "date:2026-03-01",
        "what did we do on Monday and Friday",
    ] {
        assert!(parse(text).only_time().is_some(), "{text}");
    }
    for text in [
        "",
        "after:2026-03-01",
        "yesterday project:api",
        "login yesterday",
        "-docker",
        "-date:2026-03-01",
    ] {
        assert!(parse(text).only_time().is_none(), "{text}");
    }
}

#[test]
fn repeated_lines_of_a_pasted_text_are_read_once() {
    let line = "the pool of the login is full\n";
    let log = format!("{}other line", line.repeat(60_000));
    assert!(log.len() > Query::LONGEST);
    let query = parse(&log);
    assert_eq!(query.free_text, format!("{line}other line"));
    assert!(!query.is_shortened());
    assert_eq!(parse("full full").words.len(), 2);
    let long: String = (0..200_000).map(|number| format!("full{number}\n")).collect();
    assert!(parse(&long).is_shortened());
}

#[test]
fn a_query_that_only_excludes_is_a_list() {
    for text in ["-docker", "-docker -\"dry run\"", "project:api -docker"] {
        let query = parse(text);
        assert!(query.is_list() && !query.is_blank(), "{text}");
    }
}

#[test]
fn a_query_without_words_is_blank() {
    let long = "b".repeat(65);
    for text in ["", "  ", "!!!", "\"", "*", "- --", &long] {
        assert!(parse(text).is_blank(), "{text}");
    }
    for text in ["the", "\"the\"", "-docker", "agent:codex", "yesterday", "搜", &long[1..]] {
        assert!(!parse(text).is_blank(), "{text}");
    }
}

#[test]
fn filters_with_invalid_values_are_words_and_are_reported() {
    let invalid = |text: &str| -> Vec<String> {
        parse(text).invalid_filters().iter().map(|filter| filter.text.clone()).collect()
    };
    for (text, filters) in [
        ("date:2026-13-45", vec!["date:2026-13-45"]),
        ("slow before:nonsense -in:foo", vec!["before:nonsense", "-in:foo"]),
        ("date:\"no day\" role:boss x", vec!["date:\"no day\"", "role:boss"]),
        ("date:2026-02-28 role:user in:errors colour:red file:x", vec![]),
        ("date:..2026-13-45 before:-1d", vec!["date:..2026-13-45", "before:-1d"]),
        ("after:30m before:..2026-01-05", vec!["after:30m", "before:..2026-01-05"]),
        ("after:30min before:2026-01-05..", vec![]),
        ("failed in: foo, date:: x, in://x", vec![]),
        ("a log\ndate:nonsense", vec![]),
    ] {
        assert_eq!(invalid(text), filters, "{text}");
    }
    let query = parse("role:boss");
    assert_eq!(query.invalid_filters()[0].form, "`user`, `assistant`, `tool` or `recap`");
}

#[test]
fn a_pasted_text_and_an_address_have_no_filters() {
    for text in ["file:///x", "project::api", "failed\nfile:src/a.rs project:x"] {
        assert_eq!(parse(text).conditions, [], "{text}");
    }
}

#[test]
fn known_fields_are_filters() {
    let query =
        parse("project:api -agent:Codex file:src/lib.rs role:agent in:title slow, tool:Bash");
    assert_eq!(
        query.conditions,
        [
            condition(Filter::Project("api".to_owned())),
            FilterClause { filter: Filter::Agent("codex".to_owned()), is_negated: true },
            condition(Filter::File("src/lib.rs".to_owned())),
            condition(Filter::Kinds(Kinds::of(&[PassageKind::Agent]))),
            condition(Filter::Kinds(Kinds::of(&[PassageKind::Title]))),
            condition(Filter::Tool("Bash".to_owned())),
        ]
    );
    assert_eq!(query.words.len(), 1);
}

#[test]
fn a_project_filter_includes_all_directories_of_the_project() {
    let mut query = parse("project:api -project:old slow");
    let [one, two, three] = [1, 2, 3].map(Namespace::from_number);
    let named = |name: &str| match name {
        "api" => vec![one, two],
        "old" => vec![three],
        _ => Vec::new(),
    };
    query.widen_projects(&named);
    let of = |namespace: Namespace| Filter::Project(namespace.to_string());
    assert_eq!(
        query.conditions[2..],
        [
            condition(of(one)),
            condition(of(two)),
            FilterClause { filter: of(three), is_negated: true },
        ]
    );
    assert_eq!(Namespace::parse(&one.to_string()), Some(one));
}

#[test]
fn dates_in_filters_are_conditions_and_dates_in_questions_are_not() {
    let query = parse("date:\"last week\" before:2026-03-01 what stalled yesterday");
    assert_eq!(query.conditions.len(), 2);
    assert_eq!(query.dates().len(), 1);
    assert_eq!(query.words.iter().filter(|word| word.role == WordRole::Content).count(), 1);
}

#[test]
fn a_caller_may_add_filters() {
    let mut query = parse("slow");
    assert!(query.require("tool", "Bash", &now()));
    assert!(query.require("after", "2026-01-05T10:00:00Z", &now()));
    assert!(!query.require("role", "nobody", &now()));
    assert!(!query.require("colour", "red", &now()));
    assert_eq!(query.conditions.len(), 2);
}

#[test]
fn a_query_of_filters_alone_is_a_list() {
    assert!(parse("project:api date:today").is_list());
    assert!(parse("").is_list());
    assert!(!parse("the").is_list());
    assert!(!parse("\"the\"").is_list());
}

#[test]
fn a_question_about_a_time_without_a_subject_is_a_list() {
    for question in [
        "yesterday",
        "what did we do yesterday?",
        "what did I work on yesterday",
        "what broke yesterday",
        "did we fix anything yesterday",
        "summary of yesterday",
        "show me what we did yesterday",
        "list the sessions of yesterday",
        "where did we leave off yesterday",
        "where did we stop yesterday",
        "pick up where we left off yesterday",
        "what were we fixing yesterday",
        "what was I implementing yesterday",
        "which tasks did I complete yesterday",
        "give me a recap of yesterday",
        "find yesterday's sessions",
    ] {
        let query = parse(question);
        assert!(query.is_list(), "{question}");
        assert_eq!(query.conditions, parse("date:yesterday").conditions, "{question}");
    }
    let mut query = parse("what did we do");
    assert!(!query.is_list());
    assert!(query.require("after", "2026-01-05", &now()));
    assert!(query.is_list());
    for question in [
        "march",
        "what slowed down yesterday",
        "\"work\" yesterday",
        "work queue yesterday",
        "the stop button yesterday",
        "list view of yesterday",
        "show the login bug of yesterday",
        "show me the list",
        "continue the tasks",
    ] {
        let query = parse(question);
        assert!(!query.is_list() && query.conditions.is_empty(), "{question}");
    }
}

#[test]
fn a_question_about_a_day_in_another_language_is_a_list_of_that_day() {
    for question in [
        "was habe ich gestern gemacht?",
        "Woran haben wir gestern gearbeitet?",
        "Welche Änderungen wurden gestern gemacht",
        "qu'est-ce que j'ai fait hier ?",
        "qu'avons-nous changé hier",
        "sur quoi ai-je travaillé hier",
        "¿qué hice ayer?",
        "¿En qué trabajamos ayer?",
        "cosa ho fatto ieri",
        "su cosa abbiamo lavorato ieri?",
        "o que eu fiz ontem?",
        "wat heb ik gisteren gedaan",
        "waar werkten we gisteren aan",
        "что я делал вчера",
        "над чем мы работали вчера?",
        "昨天我做了什么",
        "我昨天做了什么？",
        "昨天，我们修改了什么",
        "昨日何をしましたか",
        "昨日は何をやった？",
        "what did I do on 2026-03-17",
        "was haben wir am 2026-03-17 gemacht",
        "昨天",
        "ieri",
    ] {
        let query = parse(question);
        assert!(query.is_list(), "{question}: {:?}", query.words);
        assert_eq!(query.conditions, parse("date:yesterday").conditions, "{question}");
    }
    for (question, day) in [
        ("was habe ich am 3. September gemacht", "2025-09-03"),
        ("qu'ai-je fait le 3 septembre", "2025-09-03"),
        ("9月3日做了什么", "2025-09-03"),
    ] {
        assert_eq!(parse(question).conditions, parse(&format!("date:{day}")).conditions);
    }
    for question in [
        "was habe ich gestern am Cache gemacht",
        "warum habe ich das gemacht",
        "was ist hier passiert",
        "war yesterday",
        "war on 2026-03-17",
        "qu'est-ce que le cache a fait hier",
        "昨天的缓存",
        "昨天我用tokio做了什么",
        "昨日のキャッシュ",
    ] {
        let query = parse(question);
        assert!(!query.is_list() && query.conditions.is_empty(), "{question}");
    }
}

#[test]
fn a_span_of_days_is_a_list_of_these_days() {
    for question in [
        "between 2026-02-01 and 2026-02-06",
        "between February 1 and February 6",
        "from 1 Feb to 6 Feb 2026",
        "what did we do between 1 February and 6 February",
    ] {
        let query = parse(question);
        assert!(query.is_list(), "{question}");
        assert_eq!(query.conditions, parse("date:2026-02-01..2026-02-06").conditions, "{question}");
    }
    assert_eq!(parse("in 2025").conditions, parse("date:2025").conditions);
    let weeks = parse("in the last two weeks of February").conditions;
    assert_eq!(weeks, parse("date:2026-02-15..2026-02-28").conditions);
}

#[test]
fn the_time_between_two_dates_is_not_listed() {
    // Friday, 13 March, and Monday, 16 March.
    let days = parse("-date:2026-03-14..2026-03-15 date:2026-03-13..2026-03-16").conditions;
    for question in ["what did we do on Monday and Friday", "Friday and Monday"] {
        assert_eq!(parse(question).conditions, days, "{question}");
    }
    let two_days = parse("date:2026-03-16..2026-03-17").conditions;
    assert_eq!(parse("on Monday and yesterday").conditions, two_days);
}

#[test]
fn a_line_of_a_log_consists_of_words() {
    for line in [
        "2026-11-25T10:00:00 branch:feature-x polls -fast",
        "2026-11-25 10:00:00,123 branch:feature-x polls -fast",
        "[10:00:00.123] branch:feature-x polls -fast",
        "level=info branch:feature-x polls -fast",
    ] {
        let query = parse(line);
        assert!(query.conditions.is_empty() && query.excluded.is_empty(), "{line}");
    }
    assert_eq!(parse("2026-11-25 branch:feature-x").conditions.len(), 2);
}

#[test]
fn filters_before_words_are_filters() {
    for (text, conditions, wanted) in [
        ("project:api agent:codex some words", 2, "(some) words"),
        ("file:src/a.rs branch:main role:user tool:Bash slow", 4, "slow"),
        ("in:decisions date:2026-01 after:2025 before:2027 slow", 4, "slow"),
        ("project:api timeout level=error", 1, "timeout level error"),
        ("project:api level=error timeout -fast", 1, "level error timeout fast"),
        ("project:api 10:00:00 timeout -fast", 1, "10 00 00 timeout fast"),
        ("-agent:codex \"dry run\" slow", 1, "dry run slow"),
        ("colour:red project:api slow", 1, "colour red slow"),
    ] {
        assert_eq!(parse(text).conditions.len(), conditions, "{text}");
        assert_eq!(words(text), wanted, "{text}");
    }
}

#[test]
fn only_documented_names_are_filters() {
    for name in ["path", "on", "since", "until", "PATH"] {
        assert!(parse(&format!("{name}:today slow")).conditions.is_empty(), "{name}");
    }
}

#[test]
fn any_text_is_parsed_without_panic() {
    let pieces = [
        "\"",
        "-",
        "*",
        ":",
        "file:",
        "date:",
        "role:",
        "in:",
        "last week",
        "2026-01-01",
        "..",
        "(",
        ")",
        "[",
        "~",
        "^",
        "\\",
        "AND",
        "OR",
        "NOT",
        "a",
        "foo",
        "é",
        "搜",
        "\u{201c}",
        "\u{201d}",
        "\u{ab}",
        " ",
        "\t",
        "\n",
        "\u{0}",
        "👩‍💻",
        "'",
        "/",
        "::",
        "@",
        "#",
    ];
    let mut seed: u64 = 11;
    for _ in 0..5_000 {
        let mut text = String::new();
        for _ in 0..10 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let query = parse(&text);
        assert!(query.phrases.iter().all(|phrase| !phrase.parts.is_empty()), "{text:?}");
    }
    parse(&"\"".repeat(10_001));
    parse(&"-".repeat(10_001));
    parse(&"file:".repeat(2_001));
}
