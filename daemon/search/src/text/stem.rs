//! Finds the stem that all forms of an English word share.
//!
//! [`stem`] uses the Snowball stemmer for English, lists of irregular forms, and a list of the
//! short forms that developers use (`config`, `repo`). Other languages are in
//! [`crate::text::language`].

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::LazyLock,
};

use frostem::{Algorithm, Stemmer};

/// Returns the stem of a folded word. Returns `None` for a word of one byte or of more than
/// [`LONGEST_STEMMED`] bytes, and for a word with digits or non-English letters, unless a list of
/// this module contains it (`k8s`).
pub(crate) fn stem(word: &str) -> Option<Cow<'_, str>> {
    if word.len() < 2 || word.len() > LONGEST_STEMMED {
        return None;
    }
    if let Some(base) = BASES.get(word) {
        return Some(STEMMER.stem(base));
    }
    if !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    if word.len() < 3 {
        return Some(Cow::Borrowed(word));
    }
    match americanized(word) {
        Some(word) => Some(Cow::Owned(STEMMER.stem(&word).into_owned())),
        None => Some(STEMMER.stem(word)),
    }
}

/// Calls `use_stem` with the result of [`stem`]. Each thread caches the stems of some words,
/// because a text repeats most of its words.
pub(crate) fn with_stem<R>(word: &str, use_stem: impl FnOnce(Option<&str>) -> R) -> R {
    thread_local! {
        static CACHE: RefCell<Vec<CachedStem>> = RefCell::new(vec![CachedStem::default(); CACHED_STEMS]);
    }
    static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    if word.len() > LONGEST_STEMMED {
        return use_stem(None);
    }
    #[expect(clippy::cast_possible_truncation, reason = "only the lowest bits are used")]
    let at = HASHER.hash_one(word) as usize % CACHED_STEMS;
    CACHE.with_borrow_mut(|cache| {
        let cached = &mut cache[at];
        if cached.word != word {
            cached.word.clear();
            cached.word.push_str(word);
            cached.stem = stem(word).map(Cow::into_owned);
        }
        use_stem(cached.stem.as_deref())
    })
}

/// Number of words whose stems a thread caches, at about 80 bytes each. A word has one possible
/// slot in the cache. A later word with this slot replaces the word.
const CACHED_STEMS: usize = 4_096;

#[derive(Clone, Default)]
struct CachedStem {
    word: String,
    stem: Option<String>,
}

/// Whether the word is in one of the lists of this module (`went`, `config`). Stemmers do not find
/// the base of such a word.
pub(crate) fn is_irregular(word: &str) -> bool {
    BASES.contains_key(word)
}

/// Replaces British endings by American ones: `-ize` for `-ise`, `-yze` for `-yse`, `-or` for
/// `-our`. Other words with these endings (`promise`) change, too, consistently in all their forms.
fn americanized(word: &str) -> Option<String> {
    if word.len() < 6 {
        return None;
    }
    for (british, american, endings) in SPELLINGS {
        for ending in *endings {
            if let Some(rest) = word.strip_suffix(ending)
                && let Some(start) = rest.strip_suffix(british)
            {
                return Some(format!("{start}{american}{ending}"));
            }
        }
    }
    None
}

/// The British ending, the American ending, and the letters that may follow.
const SPELLINGS: &[(&str, &str, &[&str])] = &[
    ("is", "iz", &["e", "ed", "es", "er", "ers", "ing", "ation", "ations"]),
    ("ys", "yz", &["e", "ed", "es", "er", "ers", "ing"]),
    ("our", "or", &["", "s", "ed", "ing", "al", "ful", "ite", "ites", "able"]),
];

/// Maximum length, in bytes, of an English word.
const LONGEST_STEMMED: usize = 32;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));

static BASES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let mut bases = HashMap::new();
    for line in [IRREGULAR, DERIVED, SHORT, SPELLED, WHOLE].into_iter().flat_map(str::lines) {
        let mut words = line.split_ascii_whitespace();
        if let Some(base) = words.next() {
            bases.extend(words.map(|word| (word, base)));
        }
    }
    bases
});

/// Each line has a base and its irregular forms. Forms that are equally often another word (`left`,
/// `bound`, `stuck`) are omitted.
const IRREGULAR: &str = "
become became
begin began begun
bend bent
bite bit bitten
blow blew blown
break broke broken
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
come came
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
fly flew flown flies
forget forgot forgotten
freeze froze frozen
give gave given
go went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
know knew known
lay laid
lead led
learn learnt
lend lent
lose lost
make made
mean meant
meet met
pay paid
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
shake shook shaken
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
speak spoke spoken
spell spelt
spend spent
spin spun
stand stood
steal stole stolen
strike struck
swear swore sworn
sweep swept
swim swam swum
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
win won
write wrote written
rewrite rewrote rewritten
rebuild rebuilt
rerun reran
override overrode overridden
overwrite overwrote overwritten
child children
foot feet
man men
mouse mice
tooth teeth
woman women
index indices
matrix matrices
vertex vertices
criterion criteria
";

/// Verbs and derived nouns that the stemmer does not unify.
const DERIVED: &str = "
analyze analysis analyses
choose choice choices
convert conversion conversions
decide decision decisions
describe description descriptions
fail failure failures
grow growth
lose loss losses
receive receipt
resolve resolution resolutions
subscribe subscription subscriptions
succeed success successes successful successfully
weigh weight weights
";

/// Long forms and the short forms that developers write.
const SHORT: &str = "
administrator admin admins
argument arg args
asynchronous async
authentication auth authn
button btn
command cmd cmds
configure config configs configuration configurations cfg conf
credential creds cred
database db dbs
dependency dep deps
directory dir dirs
document doc docs documentation
environment env envs
initialize init
internationalization i18n
kubernetes k8s
message msg msgs
package pkg pkgs
parameter param params
postgresql postgres
regex regexp regexes
repository repo repos
specification spec specs
statistics stats stat
synchronize sync synced syncing
temporary temp tmp
utility util utils
";

/// Words of developers that the stemmers of other languages would cut to another word (`login` to
/// `log`). Each line has a base, then the base again as a form of itself, and its plural.
const WHOLE: &str = "
admin admin admins
login login logins
logon logon logons
mixin mixin mixins
origin origin origins
plugin plugin plugins
";

/// Words with two spellings.
const SPELLED: &str = "
canceled cancelled
canceling cancelling
catalog catalogue catalogues
center centre centres
color colour colours
defense defence
dialog dialogue dialogues
fiber fibre
gray grey
jewelry jewellery
labeled labelled
labeling labelling
license licence licences
modeling modelling
practice practise
program programme programmes
theater theatre theatres
traveled travelled
traveling travelling
";
