//! English words that say nothing about what a text is about.

use std::{collections::HashSet, sync::LazyLock};

/// Whether a folded word is left out of a question that has better ones.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

static STOP_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| WORDS.split_ascii_whitespace().collect());

/// Function words, the words that make a sentence a question, and what is left of contractions.
const WORDS: &str = "
    a about above after again against all also am an and any anyone anything ain are aren arent around as at
    be became because been before being below between both but by
    came can cannot cant come could couldn couldnt
    did didn didnt do does doesn doesnt doing don done dont down during
    each either else ever every
    few for from further
    get gets getting go goes going gone got
    had hadn hadnt has hasn hasnt have haven havent having he her here hers herself him himself his how however
    i if in into is isn isnt it its itself ive
    just
    last lately let lets like ll
    m made make makes many may maybe me might mine more most much must my myself
    no nor not now
    of off often on once one ones only onto or other others otherwise our ours ourselves out over own
    please
    rather re really recent recently
    s same shall she should shouldn shouldnt since so some somehow someone something sometime somewhere still
    such sure
    t than that thats the their theirs them themselves then there theres these they thing things this
    those though through thus to too
    under until up upon us use used using
    ve very via
    want wanted was wasn wasnt way we well went were weren werent what whatever whats when where whether which
    while who whom whose why will with within without wont would wouldn wouldnt
    yes yet you your yours yourself yourselves
";
