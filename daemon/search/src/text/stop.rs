//! English words with little meaning.
//!
//! For other languages, there are no stop words. By the word lists in `language.rs` and
//! `everyday.rs`, the search recognises the language of a text, questions about a day, and words
//! that are no typing errors.

use std::{collections::HashMap, sync::LazyLock};

/// How meaningless a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopClass {
    /// A stop word, which is ignored if the query has better words.
    Stop,
    /// A word with little meaning, such as a word about time or place.
    Faint,
}

/// Returns how meaningless a folded word is; `None` for a meaningful word.
pub(crate) fn stop_class(word: &str) -> Option<StopClass> {
    WORDS.get(word).copied()
}

/// Whether a folded word describes no subject in a query with a date: "what broke yesterday"
/// requests all sessions of that day.
pub(crate) fn is_of_every_day(word: &str) -> bool {
    OF_EVERY_DAY.split_ascii_whitespace().any(|one| one == word)
}

static WORDS: LazyLock<HashMap<&'static str, StopClass>> = LazyLock::new(|| {
    let stop = STOP_WORDS.split_ascii_whitespace().map(|word| (word, StopClass::Stop));
    let faint = FAINT.split_ascii_whitespace().map(|word| (word, StopClass::Faint));
    stop.chain(faint).collect()
});

const OF_EVERY_DAY: &str = "
    accomplish accomplished add added adding anything
    break breaking broke broken build building built
    change changed changes changing complete completed continue continued
    decide decided deciding decision decisions discuss discussed
    everything
    fail failed failing fails far find finish finished fix fixed fixes fixing
    give
    happen happened happens
    implement implemented implementing
    learn learned learning leave left list
    made
    pick progress
    recap
    session sessions show stop stopped summarise summarize summary
    task tasks
    work worked working wrong
";

/// Function words, question words, and fragments of contractions.
const STOP_WORDS: &str = "
    a about ain all also am an and any are aren arent as at
    be been being both but by
    can cant could couldn couldnt
    d did didn didnt do does doesn doesnt doing don done dont
    each either
    for from
    get gets getting got
    had hadn hadnt has hasn hasnt have haven havent having he her hers herself him himself his how
    i if im in into is isn isnt it its itself ive
    just
    let lets like ll
    m may me might mine must my myself
    no nor not
    of on one or other our ours ourselves
    please
    re really
    s shall she should shouldn shouldnt so some something such
    t than that thats the their theirs them themselves then there theres these they this those to too
    us
    ve very
    was wasn wasnt we were weren werent what whatever whats when where which who whom whose why will
    with won would wouldn wouldnt
    you your yours yourself
";

/// Words about time, place, order and manner, verbs that go with any noun, and words about
/// speaking.
const FAINT: &str = "
    above after again against along already always anyone anything around away
    back because became before behind below between
    cannot came come conversation conversations
    discuss discussed discussing discussion down during
    else enough ever every everything
    few first further
    go goes going gone
    here however
    instead
    last later
    made make makes making many maybe more most much
    never new next now
    off often once ones only onto others otherwise out over own
    quite
    rather recently
    same see seem session sessions since somehow someone sometimes somewhere still
    talk talked talking tell though through thing things together
    under until up upon use used using usually
    via
    want wanted way well went whether while whole within without
    yes yet
";
