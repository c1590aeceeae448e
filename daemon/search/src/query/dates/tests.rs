use jiff::{civil::date, tz};

use super::*;

/// Wednesday, 18 March 2026, 15:00, at UTC+1.
fn now() -> Zoned {
    let zone = tz::TimeZone::fixed(tz::offset(1));
    date(2026, 3, 18).at(15, 0, 0, 0).to_zoned(zone).unwrap()
}

/// Formats `from..to` in local days, with `-` for an open end, and with the time unless it is
/// midnight.
fn shown(range: TimeRange) -> String {
    let day = |at: Timestamp| match at {
        Timestamp::MAX | Timestamp::MIN => "-".to_owned(),
        at => {
            let local = jiff::Timestamp::from_microsecond(at.micros()).unwrap();
            let local = local.to_zoned(now().time_zone().clone());
            let format = match (local.hour(), local.minute()) {
                (0, 0) => "%Y-%m-%d",
                (_, 0) => "%Y-%m-%dT%H",
                _ => "%Y-%m-%dT%H:%M",
            };
            local.strftime(format).to_string()
        }
    };
    format!("{}..{}", day(range.from), day(range.to))
}

/// Returns the dates in `text` as `words=from..to`.
fn found(text: &str) -> Vec<String> {
    let dates = mentions(text, &now()).into_iter();
    dates.map(|mention| format!("{}={}", &text[mention.span], shown(mention.range))).collect()
}

#[test]
fn dates_in_questions_are_found() {
    for (text, wanted) in [
        ("what broke yesterday", "yesterday=2026-03-17..2026-03-18"),
        ("the day before yesterday we", "the day before yesterday=2026-03-16..2026-03-17"),
        ("today's build", "today=2026-03-18..2026-03-19"),
        ("what did we decide last week?", "last week=2026-03-09..2026-03-16"),
        ("this month", "this month=2026-03-01..2026-04-01"),
        ("in the last 3 days", "in the last 3 days=2026-03-15..2026-03-19"),
        ("in the past week", "in the past week=2026-03-11..2026-03-19"),
        ("3 days ago", "3 days ago=2026-03-14..2026-03-17"),
        ("two weeks ago", "two weeks ago=2026-02-28..2026-03-09"),
        ("a couple of weeks ago", "a couple of weeks ago=2026-02-28..2026-03-09"),
        ("about a month ago", "about a month ago=2026-02-02..2026-03-07"),
        ("in March", "in March=2026-03-01..2026-04-01"),
        ("in march", "in march=2026-03-01..2026-04-01"),
        ("in May", "in May=2025-05-01..2025-06-01"),
        ("in May 2023", "in May 2023=2023-05-01..2023-06-01"),
        ("during early December", "during early December=2025-12-01..2025-12-11"),
        ("on 29 February", "on 29 February=2024-02-29..2024-03-01"),
        ("on the 31st", "on the 31st=2026-01-31..2026-02-01"),
        ("two weeks ago today", "two weeks ago today=2026-03-04..2026-03-05"),
        ("Monday 3 November", "Monday 3 November=2025-11-03..2025-11-04"),
        ("on Tue, 2026-03-03", "on Tue, 2026-03-03=2026-03-03..2026-03-04"),
        ("mid October", "mid October=2025-10-10..2025-10-22"),
        ("at the end of January 2026", "at the end of January 2026=2026-01-20..2026-02-01"),
        ("in the second week of November", "in the second week of November=2025-11-08..2025-11-15"),
        ("the last week of February", "the last week of February=2026-02-22..2026-03-01"),
        ("in the week of 4 March", "in the week of 4 March=2026-03-02..2026-03-09"),
        ("the week before 3 March", "the week before 3 March=2026-02-24..2026-03-03"),
        ("the day after January 5", "the day after January 5=2026-01-06..2026-01-07"),
        ("from 18 to 20 February", "from 18 to 20 February=2026-02-18..2026-02-21"),
        ("on 21 and 22 January", "on 21 and 22 January=2026-01-21..2026-01-23"),
        ("last March", "last March=2025-03-01..2025-04-01"),
        ("on January 21st, 2026", "on January 21st, 2026=2026-01-21..2026-01-22"),
        ("on 21 January", "on 21 January=2026-01-21..2026-01-22"),
        ("the 21st of December", "the 21st of December=2025-12-21..2025-12-22"),
        ("on the 5th", "on the 5th=2026-03-05..2026-03-06"),
        ("on the 21st", "on the 21st=2026-02-21..2026-02-22"),
        ("on 2026-01-21", "on 2026-01-21=2026-01-21..2026-01-22"),
        ("2026-01-21T10:00", "2026-01-21T10:00=2026-01-21..2026-01-22"),
        ("21.01.2026", "21.01.2026=2026-01-21..2026-01-22"),
        ("01/21/2026", "01/21/2026=2026-01-21..2026-01-22"),
        ("21/01/2026", "21/01/2026=2026-01-21..2026-01-22"),
        ("since Monday", "since Monday=2026-03-16..-"),
        ("on Wednesday", "on Wednesday=2026-03-11..2026-03-12"),
        ("last friday", "last friday=2026-03-13..2026-03-14"),
        ("last weekend", "last weekend=2026-03-14..2026-03-16"),
        ("since 3 March", "since 3 March=2026-03-03..-"),
        ("before February", "before February=-..2026-02-01"),
        ("until last week", "until last week=-..2026-03-16"),
        (
            "between January 5 and January 9",
            "between January 5 and January 9=2026-01-05..2026-01-10",
        ),
        ("from January to March", "from January to March=2026-01-01..2026-04-01"),
        ("18 May", "18 May=2025-05-18..2025-05-19"),
        ("on 18 may", "on 18 may=2025-05-18..2025-05-19"),
        ("18 may 2025", "18 may 2025=2025-05-18..2025-05-19"),
        ("the 3rd of may", "the 3rd of may=2025-05-03..2025-05-04"),
        ("monday", "monday=2026-03-16..2026-03-17"),
        ("Review Monday's crash", "Monday=2026-03-16..2026-03-17"),
        ("Fix Monday's crash", "Monday=2026-03-16..2026-03-17"),
        ("in 2025", "in 2025=2025-01-01..2026-01-01"),
        ("the other day", "the other day=2026-03-11..2026-03-19"),
        ("2 hours ago", "2 hours ago=2026-03-18T11..2026-03-18T15"),
        ("75 minutes ago", "75 minutes ago=2026-03-18T13:30..2026-03-18T14"),
        ("in the last 30 minutes", "in the last 30 minutes=2026-03-18T14:30..2026-03-18T15"),
        ("in the past half hour", "in the past half hour=2026-03-18T14:30..2026-03-18T15"),
        ("half an hour ago", "half an hour ago=2026-03-18T14:15..2026-03-18T14:45"),
        ("the past couple of weeks", "the past couple of weeks=2026-03-04..2026-03-19"),
        ("in the last few days", "in the last few days=2026-03-15..2026-03-19"),
        ("over the last couple days", "the last couple days=2026-03-16..2026-03-19"),
        ("before 5 hours ago", "before 5 hours ago=-..2026-03-18T08"),
        ("until 5 hours ago", "until 5 hours ago=-..2026-03-18T12"),
        ("last quarter", "last quarter=2025-10-01..2026-01-01"),
    ] {
        assert_eq!(found(text), [wanted], "{text}");
    }
}

#[test]
fn dates_that_recur_end_after_their_start() {
    let found_on = |day: i8, text: &str| {
        let now = date(2026, 3, day).at(15, 0, 0, 0).to_zoned(now().time_zone().clone()).unwrap();
        let found = mentions(text, &now).into_iter().map(|mention| shown(mention.range));
        found.collect::<Vec<_>>().join(" ")
    };
    // 18 March is a Wednesday.
    for (day, text, wanted) in [
        (17, "from Monday to Friday", "2026-03-09..2026-03-14"),
        (21, "from Monday to Friday", "2026-03-16..2026-03-21"),
        (18, "between Monday and Wednesday", "2026-03-16..2026-03-19"),
        (18, "from Thursday to Wednesday", "2026-03-12..2026-03-19"),
        (18, "from March to May", "2025-03-01..2025-06-01"),
        (18, "from January to March", "2026-01-01..2026-04-01"),
        (18, "from 20 March to 5 April", "2025-03-20..2025-04-06"),
        (18, "from the 5th to the 21st", "2026-02-05..2026-02-22"),
        (18, "from 5 March 2026 to 1 March 2026", "2026-03-05..2026-03-06"),
        (18, "from Monday to 3 March", "2026-03-02..2026-03-04"),
        (18, "from March to May 2023", "2023-03-01..2023-06-01"),
        (18, "from Monday to 3 March 2020", "2026-03-16..2026-03-17"),
        (18, "from yesterday to Friday", "2026-03-17..2026-03-18"),
        (18, "last weekend", "2026-03-14..2026-03-16"),
        (21, "last weekend", "2026-03-14..2026-03-16"),
        (22, "last weekend", "2026-03-14..2026-03-16"),
        (23, "last weekend", "2026-03-21..2026-03-23"),
        (21, "this weekend", "2026-03-21..2026-03-23"),
        (22, "this weekend", "2026-03-21..2026-03-23"),
        (21, "this Saturday", "2026-03-21..2026-03-22"),
        (21, "last Saturday", "2026-03-14..2026-03-15"),
        (21, "on Saturday", "2026-03-14..2026-03-15"),
        (18, "this Monday", "2026-03-16..2026-03-17"),
    ] {
        assert_eq!(found_on(day, text), wanted, "{text} on {day} March");
    }
}

#[test]
fn dates_in_other_languages_are_found() {
    for (text, wanted) in [
        ("was lief heute", "heute=2026-03-18..2026-03-19"),
        ("was lief gestern Abend", "gestern Abend=2026-03-17..2026-03-18"),
        ("vorgestern", "vorgestern=2026-03-16..2026-03-17"),
        ("in der letzten Woche", "letzten Woche=2026-03-09..2026-03-16"),
        ("diesen Monat", "diesen Monat=2026-03-01..2026-04-01"),
        ("vor 75 Minuten", "vor 75 Minuten=2026-03-18T13:30..2026-03-18T14"),
        ("75分钟前的错误", "75分钟前=2026-03-18T13:30..2026-03-18T14"),
        ("vor 3 Tagen", "vor 3 Tagen=2026-03-14..2026-03-17"),
        ("vor zwei Wochen", "vor zwei Wochen=2026-02-28..2026-03-09"),
        ("in den letzten 3 Tagen", "letzten 3 Tagen=2026-03-15..2026-03-19"),
        ("am 3. September", "am 3. September=2025-09-03..2025-09-04"),
        ("am 3. März 2026", "am 3. März 2026=2026-03-03..2026-03-04"),
        ("aujourd\u{2019}hui", "aujourd\u{2019}hui=2026-03-18..2026-03-19"),
        ("qu'est-ce qui a changé hier ?", "hier=2026-03-17..2026-03-18"),
        ("avant-hier", "avant-hier=2026-03-16..2026-03-17"),
        ("la semaine dernière", "la semaine dernière=2026-03-09..2026-03-16"),
        ("il y a 3 jours", "il y a 3 jours=2026-03-14..2026-03-17"),
        ("le 3 septembre", "le 3 septembre=2025-09-03..2025-09-04"),
        ("le 1er mars 2026", "le 1er mars 2026=2026-03-01..2026-03-02"),
        ("hoy", "hoy=2026-03-18..2026-03-19"),
        ("anteayer", "anteayer=2026-03-16..2026-03-17"),
        ("la semana pasada", "la semana pasada=2026-03-09..2026-03-16"),
        ("este mes", "este mes=2026-03-01..2026-04-01"),
        ("hace 3 dias", "hace 3 dias=2026-03-14..2026-03-17"),
        ("el 3 de septiembre de 2025", "el 3 de septiembre de 2025=2025-09-03..2025-09-04"),
        ("oggi", "oggi=2026-03-18..2026-03-19"),
        ("l'altro ieri", "l'altro ieri=2026-03-16..2026-03-17"),
        ("il mese scorso", "il mese scorso=2026-02-01..2026-03-01"),
        ("tre giorni fa", "tre giorni fa=2026-03-14..2026-03-17"),
        ("l'8 settembre", "l'8 settembre=2025-09-08..2025-09-09"),
        ("ontem à noite", "ontem à noite=2026-03-17..2026-03-18"),
        ("há 3 dias", "há 3 dias=2026-03-14..2026-03-17"),
        ("no dia 3 de setembro", "no dia 3 de setembro=2025-09-03..2025-09-04"),
        ("eergisteren", "eergisteren=2026-03-16..2026-03-17"),
        ("vorige week", "vorige week=2026-03-09..2026-03-16"),
        ("3 dagen geleden", "3 dagen geleden=2026-03-14..2026-03-17"),
        ("op 3 maart", "op 3 maart=2026-03-03..2026-03-04"),
        ("позавчера", "позавчера=2026-03-16..2026-03-17"),
        ("на прошлой неделе", "на прошлой неделе=2026-03-09..2026-03-16"),
        ("неделю назад", "неделю назад=2026-03-07..2026-03-16"),
        ("3 дня назад", "3 дня назад=2026-03-14..2026-03-17"),
        ("3 сентября", "3 сентября=2025-09-03..2025-09-04"),
        ("我昨天做了什么", "昨天=2026-03-17..2026-03-18"),
        ("前天的错误", "前天=2026-03-16..2026-03-17"),
        ("上个月的会话", "上个月=2026-02-01..2026-03-01"),
        ("3天前的错误", "3天前=2026-03-14..2026-03-17"),
        ("两周前", "两周前=2026-02-28..2026-03-09"),
        ("9月3日的发布", "9月3日=2025-09-03..2025-09-04"),
        ("２０２５年９月３号", "２０２５年９月３号=2025-09-03..2025-09-04"),
        ("一昨日の変更", "一昨日=2026-03-16..2026-03-17"),
        ("先週の変更", "先週=2026-03-09..2026-03-16"),
        ("3日前に直した", "3日前=2026-03-14..2026-03-17"),
        ("十二日前", "十二日前=2026-03-05..2026-03-08"),
        ("二十三日前", "二十三日前=2026-02-22..2026-02-25"),
        ("二〇二四年九月三日", "二〇二四年九月三日=2024-09-03..2024-09-04"),
        ("函数三天前", "三天前=2026-03-14..2026-03-17"),
        ("三四天前的错误", "四天前=2026-03-13..2026-03-16"),
        ("周一三月五日", "三月五日=2026-03-05..2026-03-06"),
    ] {
        assert_eq!(found(text), [wanted], "{text}");
    }
    let two = ["昨天=2026-03-17..2026-03-18", "今天=2026-03-18..2026-03-19"];
    assert_eq!(found("昨天和今天"), two);
}

#[test]
fn words_of_dates_that_are_also_other_words_need_their_context() {
    for text in [
        "hier",
        "was ist hier kaputt",
        "waarom is hier een fout",
        "mars rover",
        "la mayo y el pan",
        "im Mai Tai",
        "la chiave del 40 marzo",
        "vor dem Start",
        "il y a 3 erreurs",
        "ha 3 errori",
        "今日头条の記事",
        "13月3日",
        "3日",
        "前",
        "十四五天前",
        "三四十天前",
        "一百二十天前",
        "几十天前",
        "三月十四五日",
        "一百零五天前",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn words_that_are_not_dates_are_ignored() {
    for text in [
        "we may march on",
        "the second argument",
        "a week",
        "version 1.2.3",
        "from src/main.rs to lib.rs",
        "port 8080",
        "in 404 cases",
        "sun and sat",
        "the last test",
        "past the end",
        "a last minute change",
        "node 18 may break the build",
        "step 3 may fail twice",
        "why 8 may be too few retries",
        "batches of 2000 rows",
        "retry in 2000 ms",
        "after 2024 tokens",
        "every Monday",
        "the Black Friday banner",
        "the last 5 minutes of the log",
        "a timeout of 30 minutes",
        "the last couple of tests",
        "half an hour",
        "99999999999999999999 days ago",
        "2026-13-45",
        "2026-02-31",
        "on 2026-02-31",
        "31.04.2026",
        "",
    ] {
        assert_eq!(mentions(text, &now()), [], "{text}");
    }
}

#[test]
fn words_of_dates_in_names_are_not_dates() {
    for text in [
        "last_month",
        "last_month_total",
        "this_week",
        "yesterday_sales",
        "monday.com importer",
        "today.tsx",
        "src/today/index.ts",
        "src/last week/index.ts",
        "the Cyber Monday sale",
        "app\\yesterday\\x",
        "this.month = 3",
        "Cron::today",
        "ada@monday.com",
        "load in may.csv",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
    for (text, wanted) in [
        ("retry_count of last week", &["of last week=2026-03-09..2026-03-16"][..]),
        ("yesterday: what broke", &["yesterday=2026-03-17..2026-03-18"]),
        ("fixed in src/a.rs yesterday.", &["yesterday=2026-03-17..2026-03-18"]),
        ("last-week", &["last-week=2026-03-09..2026-03-16"]),
        ("am 3.September", &["am 3.September=2025-09-03..2025-09-04"]),
        ("on 3.Mar.2026", &["on 3.Mar.2026=2026-03-03..2026-03-04"]),
        (
            "what broke last week/this week",
            &["last week=2026-03-09..2026-03-16", "this week=2026-03-16..2026-03-23"],
        ),
        ("What did we change in the API Monday?", &["Monday=2026-03-16..2026-03-17"]),
        ("What broke in CI Friday", &["Friday=2026-03-13..2026-03-14"]),
        ("yesterday/today", &["yesterday=2026-03-17..2026-03-18", "today=2026-03-18..2026-03-19"]),
        (
            "2026-01-05..2026-01-09",
            &["2026-01-05=2026-01-05..2026-01-06", "2026-01-09=2026-01-09..2026-01-10"],
        ),
    ] {
        assert_eq!(found(text), wanted, "{text}");
    }
}

#[test]
fn values_of_filters_are_parsed() {
    for (text, wanted) in [
        ("2026-01-21", "2026-01-21..2026-01-22"),
        ("2026-01", "2026-01-01..2026-02-01"),
        ("2025", "2025-01-01..2026-01-01"),
        ("yesterday", "2026-03-17..2026-03-18"),
        ("last-week", "2026-03-09..2026-03-16"),
        ("last_week", "2026-03-09..2026-03-16"),
        ("last week", "2026-03-09..2026-03-16"),
        ("march", "2026-03-01..2026-04-01"),
        ("may", "2025-05-01..2025-06-01"),
        ("monday", "2026-03-16..2026-03-17"),
        ("7d", "2026-03-11..2026-03-19"),
        ("2026-03-18T08:00:00Z", "2026-03-18T09..2026-03-18T09"),
        ("24h", "2026-03-17T15..2026-03-18T15"),
        ("2026-01-05..2026-01-09", "2026-01-05..2026-01-10"),
        ("2026-01-05..", "2026-01-05..-"),
        ("..2026-01-05", "-..2026-01-06"),
        ("gestern", "2026-03-17..2026-03-18"),
        ("hier", "2026-03-17..2026-03-18"),
        ("vor-3-tagen", "2026-03-15..2026-03-16"),
        ("昨天", "2026-03-17..2026-03-18"),
    ] {
        assert_eq!(value(text, &now()).map(shown).as_deref(), Some(wanted), "{text}");
    }
    for text in [
        "",
        "soon",
        "..",
        "99x",
        "30m",
        "3m",
        "30 m",
        "é",
        "2026-01-21 foo",
        "昨天做",
        "gestern foo",
        "2026-02-31",
        "2026-02-31T10:00:00Z",
        "30 février 2026",
        "2026年2月31日",
    ] {
        assert_eq!(value(text, &now()), None, "{text}");
    }
    for text in [
        "2026-01-09..2026-01-05",
        "2026-01-05..garbage",
        "garbage..2026-01-05",
        "2026-01-05...",
        "2026-01-05..-",
    ] {
        assert_eq!(value(text, &now()), None, "{text}");
    }
}

#[test]
fn values_are_exact_although_people_round() {
    for (text, wanted) in [
        ("2 weeks ago", "2026-03-04..2026-03-05"),
        ("a week ago", "2026-03-11..2026-03-12"),
        ("about a month ago", "2026-02-18..2026-02-19"),
        ("a year ago", "2025-03-18..2025-03-19"),
        ("3 days ago", "2026-03-15..2026-03-16"),
        ("since 2 weeks ago", "2026-03-04..-"),
        ("before 2 weeks ago", "-..2026-03-04"),
        ("2 weeks ago..3 days ago", "2026-03-04..2026-03-16"),
        ("hace 2 semanas", "2026-03-04..2026-03-05"),
        ("两周前", "2026-03-04..2026-03-05"),
        ("5 hours ago", "2026-03-18T10..2026-03-18T11"),
        ("30 minutes ago", "2026-03-18T14:30..2026-03-18T14:31"),
        ("30min", "2026-03-18T14:30..2026-03-18T15"),
        ("3mo", "2025-12-18..2026-03-19"),
    ] {
        assert_eq!(value(text, &now()).map(shown).as_deref(), Some(wanted), "{text}");
    }
}

#[test]
fn only_words_that_the_text_may_contain_are_literal() {
    let literal = |text: &str| mentions(text, &now())[0].is_literal;
    assert!(literal("in March") && literal("2026-01-21"));
    assert!(!literal("last week") && !literal("3 days ago"));
}

#[test]
fn any_mixture_of_date_words_is_parsed_without_panic() {
    let words = [
        "last", "the", "on", "in", "since", "between", "and", "3", "31", "february", "29", "2024",
        "-5", "weeks", "ago", "may", "0", "9999", "years", "a", "couple", "of", "30", "april", "é",
        "vor", "tagen", "il", "y", "mars", "3日", "9月", "昨日", "年前", "十",
    ];
    let mut seed: u64 = 3;
    for _ in 0..5_000 {
        let mut text = String::new();
        for _ in 0..6 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(words[(seed >> 33) as usize % words.len()]);
            text.push(' ');
        }
        mentions(&text, &now());
        value(text.trim(), &now());
    }
}

#[test]
fn a_value_of_many_dots_is_not_a_date() {
    let now = now();
    assert!(value("99999999999999999999小时前", &now).is_some());
    for text in ["..".repeat(2_000_000), "1..".repeat(90), "....".to_owned()] {
        assert_eq!(value(&text, &now), None);
    }
}
