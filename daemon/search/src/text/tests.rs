use super::*;

/// Formats the words of `text` as `text@position`, wholes in brackets.
fn cut(text: &str) -> String {
    let shown = words(text).into_iter().map(|word| match word.form {
        TokenForm::Part => format!("{}@{}", word.text, word.position),
        TokenForm::Whole => format!("[{}]@{}", word.text, word.position),
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, wanted) in cases {
        assert_eq!(cut(text), *wanted, "{text}");
    }
}

#[test]
fn prose_is_cut_into_folded_words() {
    check(&[
        ("Fix the Login, please!", "fix@0 the@1 login@2 please@3"),
        ("Café déjà-vu", "cafe@0 [dejavu]@1 deja@1 vu@2"),
        ("cafe\u{301}", "cafe@0"),
        ("Straße Łódź", "strasse@0 lodz@1"),
        ("don't the user's we'll", "don@0 the@1 user@2 we@3"),
        ("the user\u{2019}s l'application", "the@0 user@1 l@2 application@3"),
        ("Привет, мир", "привет@0 мир@1"),
        ("", ""),
        ("!!! -- ... ???", ""),
        ("end.", "end@0"),
    ]);
}

#[test]
fn identifiers_are_cut_at_case_and_underscore_and_kept_whole() {
    check(&[
        ("getUserName", "[getusername]@0 get@0 user@1 name@2"),
        ("get_user_name", "[getusername]@0 get@0 user@1 name@2"),
        ("get-user-name", "[getusername]@0 get@0 user@1 name@2"),
        ("MAX_RETRY_COUNT", "[maxretrycount]@0 max@0 retry@1 count@2"),
        ("HTTPServer", "[httpserver]@0 http@0 server@1"),
        ("parseHTTPResponse2", "[parsehttpresponse2]@0 parse@0 http@1 response2@2"),
        ("URLs PRs", "urls@0 prs@1"),
        ("GitHub", "[github]@0 git@0 hub@1"),
        ("utf8 sha256 SHA256sum x86_64", "utf8@0 sha256@1 sha256sum@2 [x8664]@3 x86@3 64@4"),
        ("__init__ _private", "init@0 private@1"),
        ("mcp__linear__get_issue", "[mcplineargetissue]@0 mcp@0 linear@1 get@2 issue@3"),
        ("--no-verify -p", "[noverify]@0 no@0 verify@1 p@2"),
        ("ÜberKlasse", "[uberklasse]@0 uber@0 klasse@1"),
    ]);
}

#[test]
fn dotted_and_scoped_names_and_versions_are_kept_whole() {
    check(&[
        ("main.rs", "[main.rs]@0 main@0 rs@1"),
        ("std::vec::Vec", "[std::vec::vec]@0 std@0 vec@1 vec@2"),
        ("1.2.3 v3.14 v2", "1.2.3@0 [v3.14]@1 3.14@1 v2@2"),
        ("tantivy-0.27.0", "[tantivy-0.27.0]@0 tantivy@0 0.27.0@1"),
        ("127.0.0.1:8080", "127.0.0.1@0 8080@1"),
        (".env .env.local", "[.env]@0 env@0 [.env.local]@1 [env.local]@1 env@1 local@2"),
        ("c++ C# i++", "[c++]@0 c@0 [c#]@1 c@1 [i++]@2 i@2"),
        ("#123", "[#123]@0 123@0"),
        ("self.retry_count()", "[self.retry_count]@0 self@0 [retrycount]@1 retry@1 count@2"),
        ("0..10", "0@0 10@1"),
    ]);
}

#[test]
fn paths_are_cut_by_segment_and_kept_whole() {
    check(&[
        (
            "/home/ann/src/main.rs:42",
            "[home/ann/src/main.rs]@0 home@0 ann@1 src@2 [main.rs]@3 main@3 rs@4 42@5",
        ),
        ("./src/../lib", "[src/../lib]@0 src@0 lib@1"),
        ("C:\\Users\\Ann", "c@0 [users/ann]@1 users@1 ann@2"),
        ("~/.claude/projects", "[claude/projects]@0 claude@0 projects@1"),
        ("and/or", "[and/or]@0 and@0 or@1"),
    ]);
}

#[test]
fn addresses_are_cut_at_their_parts() {
    check(&[
        (
            "https://docs.rs/serde_json/latest?q=Value",
            "[docs.rs]@0 [docs.rs/serde_json/latest]@0 docs@0 rs@1 [serdejson]@2 serde@2 json@3 latest@4 \
             q@5 value@6",
        ),
        ("ann@example.com", "[ann@example.com]@0 ann@0 [example.com]@1 example@1 com@2"),
        ("@types/node", "[types/node]@0 types@0 node@1"),
    ]);
}

#[test]
fn scripts_without_spaces_are_cut_into_pairs() {
    check(&[
        ("全文搜索", "全文@0 文搜@1 搜索@2"),
        ("搜", "搜@0"),
        ("用tokio写", "用@0 tokio@1 写@2"),
        ("ガイド", "ガイ@0 イド@1"),
        ("한국어 검색", "한국@0 국어@1 검색@2"),
    ]);
}

#[test]
fn spans_are_bytes_of_the_original() {
    let text = "Der GrößenWahn (v1.2.3)";
    for word in words(text) {
        assert!(text.get(word.span.clone()).is_some(), "{word:?}");
    }
    let whole =
        words(text).into_iter().find(|word| word.form == TokenForm::Whole && word.position == 1);
    assert_eq!(&text[whole.unwrap().span], "GrößenWahn");
}

#[test]
fn encoded_data_has_no_words() {
    assert_eq!(cut(&"A".repeat(5_000)), "");
    let encoded: String = (0..20_000).map(|n| if n % 70 == 69 { '/' } else { 'q' }).collect();
    assert!(words(&encoded).len() <= 1);
}

#[test]
fn the_positions_of_a_word_never_decrease() {
    let text = "a a.a a/a.a a-a_a::a aA AAa a@a.a/a #a .a";
    let mut last: std::collections::HashMap<String, u32> = std::collections::HashMap::new();
    for word in words(text) {
        if let Some(before) = last.insert(word.text, word.position) {
            assert!(before <= word.position);
        }
    }
}

#[test]
fn any_text_is_cut_without_panic_and_in_order() {
    let pieces = [
        "a",
        "Z",
        "9",
        "_",
        "-",
        ".",
        "/",
        "\\",
        ":",
        "@",
        "#",
        "+",
        "'",
        "\u{2019}",
        " ",
        "\n",
        "é",
        "e\u{301}",
        "ß",
        "搜",
        "ガ",
        "한",
        "ไทย",
        "👩‍💻",
        "\u{200d}",
        "ﬁ",
        "İ",
        "\u{0}",
        "ǅ",
    ];
    let mut seed: u64 = 7;
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..24 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let mut position = 0;
        for word in words(&text) {
            assert!(text.get(word.span.clone()).is_some_and(|span| !span.is_empty()), "{text:?}");
            assert!(word.position >= position && word.position <= position + 1, "{text:?}");
            assert!(!word.text.is_empty(), "{text:?}");
            position = word.position;
        }
    }
}

#[test]
fn forms_of_a_word_share_a_stem() {
    for (one, other) in [
        ("failing", "failure"),
        ("tests", "testing"),
        ("went", "go"),
        ("wrote", "writing"),
        ("configuration", "config"),
        ("repositories", "repo"),
        ("db", "databases"),
        ("decided", "decision"),
        ("chose", "choices"),
        ("colours", "color"),
        ("behaviour", "behavior"),
        ("organised", "organizing"),
        ("analysed", "analysis"),
        ("promises", "promised"),
        ("licence", "license"),
        ("k8s", "kubernetes"),
        ("i18n", "internationalization"),
    ] {
        assert_eq!(stem::stem(one), stem::stem(other), "{one}, {other}");
    }
    for (one, other) in
        [("left", "leave"), ("test", "text"), ("port", "import"), ("i18n", "internal")]
    {
        assert_ne!(stem::stem(one), stem::stem(other), "{one}, {other}");
    }
    for word in ["utf8", "s3", "привет", "x", "cafés"] {
        assert_eq!(stem::stem(word), None, "{word}");
    }
}

#[test]
fn words_with_little_meaning_are_recognised() {
    use stop::{StopClass, stop_class};
    for word in ["the", "what", "didn", "where"] {
        assert_eq!(stop_class(word), Some(StopClass::Stop), "{word}");
    }
    assert_eq!(stop_class("without"), Some(StopClass::Faint));
    assert_eq!(stop_class("test"), None);
}

#[test]
fn a_cached_stem_is_the_stem_of_its_word() {
    let words = ["testing", "went", "colour", "ab", "a", "x2", "größe", "", "configs", "tests"];
    let many = (0..20_000).map(|number| {
        format!("w{}ing", "abcdefghij".repeat(number % 4) + &"z".repeat(number % 17))
    });
    for word in words.iter().map(|word| (*word).to_owned()).chain(many) {
        for _ in 0..2 {
            stem::with_stem(&word, |cached| {
                assert_eq!(cached, stem::stem(&word).as_deref(), "{word}");
            });
        }
    }
}
