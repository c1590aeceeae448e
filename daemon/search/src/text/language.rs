//! Recognises the language of a text that is not English, and stems its words.
//!
//! A language is recognised by its function words, or by its script if no other language in
//! [`LANGUAGES`] has this script. If no language is recognised, only [`crate::text::stem`] is used.

use std::{collections::HashMap, ops::RangeInclusive, sync::LazyLock};

use frostem::{Algorithm, Stemmer};

/// A language, as its number in [`LANGUAGES`]. The number is part of the index's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Language(usize);

/// The languages with their most frequent function words.
const LANGUAGES: [(Algorithm, &str); 18] = [
    (
        Algorithm::German,
        "aber als auch auf aus bei bis das dass dem den der des die durch ein eine einem einen einer
        eines er es für fur gegen haben ich ihr im ist jetzt kann können mit nach nicht noch nur oder ob
        schon sich sie sind soll sollen und uns vom von vor weil wenn werden wie wir wird zu zum zur
        über uber",
    ),
    (
        Algorithm::French,
        "au aux avec ce ces cette chaque dans des du elle en entre est et été ete il ils je la le
        les leur mais ne nous ont ou où par pas pour que qui sa sans ses son sont sur un une vers
        vous",
    ),
    (
        Algorithm::Spanish,
        "al como con cuando de del el ella en entre es esta este hay la las lo los más mas ni nos
        para pero por porque que qué se sin sobre son su sus también un una unos ya y",
    ),
    (
        Algorithm::Italian,
        "al alla anche che chi come con da dal dalla degli dei del della delle di e è gli ha il la
        le lo ma nel nella non perché per più piu quando sono sul sulla un una uno",
    ),
    (
        Algorithm::Portuguese,
        "ao aos as como com da das de do dos e é em entre esta este foi já ja mais mas na não nao
        nas nos o os ou para pela pelo por porque quando que se sem são sao também um uma",
    ),
    (
        Algorithm::Dutch,
        "aan als bij dan dat de deze dit door een en er het hij ik maar met naar niet nog
        of om onze ook op over te tot uit van voor waar wat wij wordt worden ze zijn zo",
    ),
    (Algorithm::Russian, ""),
    (
        Algorithm::Swedish,
        "att av de den det detta eller en ett från för han har hur i inte jag kan men med mot när
        och också om på sedan ska skall som till under upp ut var vi vid är över",
    ),
    (
        Algorithm::Danish,
        "af at blev bliver de den der det efter eller en er et for fra han har hvad hvis hvor i
        ikke jeg kan men med må når og også om op på skal som til var ved vi være",
    ),
    (
        Algorithm::Norwegian,
        "av at ble blir de den der det etter eller en er et for fra han har hva hvis hvor i ikke
        jeg kan men med må når og også om opp på skal som til var ved vi være",
    ),
    (
        Algorithm::Finnish,
        "ei että ettei hän ja joka jos kanssa koska kuin kun me mikä mitä mutta myös niin nyt olla
        oli on ovat se sen siis tai tämä vain voi",
    ),
    (
        Algorithm::Hungarian,
        "a az egy ez és hogy ha is kell meg már mert mint mit nem csak de vagy van volt lehet még
        majd amely ami azt ezt után között",
    ),
    (
        Algorithm::Romanian,
        "acest această am ar ca că care ce cu dar de din este fi în la mai nu o pe pentru prin sau
        sunt și să un unei unui va fost după când",
    ),
    (
        Algorithm::Turkish,
        "ama bir bu da daha de değil en için ile ise kadar mi mı nasıl ne neden olan olarak sonra
        şu ve veya ya yok var çok gibi",
    ),
    (
        Algorithm::Polish,
        "ale ani aby bez być czy dla do gdy i jak jako jest już jeśli ktory który która lub ma może
        na nie o od oraz po pod przed przez przy są się tak to tylko tym w we z za że",
    ),
    (Algorithm::Greek, ""),
    (Algorithm::Arabic, ""),
    (Algorithm::Tamil, ""),
];

/// The languages that are recognised by their script, with the characters of the script.
const SCRIPTS: [(Language, RangeInclusive<char>); 4] = [
    (Language::RUSSIAN, '\u{400}'..='\u{4ff}'),
    (Language::GREEK, '\u{370}'..='\u{3ff}'),
    (Language::ARABIC, '\u{600}'..='\u{6ff}'),
    (Language::TAMIL, '\u{b80}'..='\u{bff}'),
];

/// Number of bytes at the start of a text by which its language is recognised.
const SAMPLE: usize = 480;

static STEMMERS: LazyLock<Vec<Stemmer>> =
    LazyLock::new(|| LANGUAGES.iter().map(|(algorithm, _)| Stemmer::new(*algorithm)).collect());

/// The languages of each function word, as bits.
static FUNCTION_WORDS: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let mut words: HashMap<&'static str, u32> = HashMap::new();
    for (number, (_, of_language)) in LANGUAGES.iter().enumerate() {
        for word in of_language.split_ascii_whitespace() {
            *words.entry(word).or_default() |= 1 << number;
        }
    }
    words
});

/// English function words. They count only for English, even if another language has them, too
/// (`is`).
const ENGLISH: [&str; 16] = [
    "the", "and", "to", "is", "it", "that", "this", "with", "for", "not", "be", "we", "you", "are",
    "have", "from",
];

/// Returns the language of `text` if the language is certain and not English.
pub(crate) fn of_text(text: &str) -> Option<Language> {
    let sample = &text[..text.floor_char_boundary(SAMPLE)];
    let script = || SCRIPTS.iter().find(|(_, script)| has_script(sample, script));
    if let Some((language, script)) = (!sample.is_ascii()).then(script).flatten() {
        let count = sample.chars().filter(|c| script.contains(c)).count();
        return (4 * count > sample.chars().filter(|c| c.is_alphabetic()).count())
            .then_some(*language);
    }
    let mut counts = [0_u8; LANGUAGES.len()];
    let mut english = 0;
    let mut lower = String::new();
    for word in sample.split(|c: char| !c.is_alphabetic()) {
        if !(1..=LONGEST).contains(&word.len()) {
            continue;
        }
        lower.clear();
        if word.is_ascii() {
            lower.push_str(word);
            lower.make_ascii_lowercase();
        } else {
            lower.extend(word.chars().flat_map(char::to_lowercase));
        }
        if ENGLISH.contains(&&*lower) {
            english += 1;
        } else if let Some(bits) = FUNCTION_WORDS.get(&*lower) {
            (0..LANGUAGES.len()).filter(|it| bits & (1 << it) != 0).for_each(|it| counts[it] += 1);
        }
    }
    let (number, most) = counts.iter().enumerate().rev().max_by_key(|(_, count)| **count)?;
    (*most >= MIN_FUNCTION_WORDS && *most > 2 * english).then_some(Language(number))
}

/// Maximum length, in bytes, of a function word.
const LONGEST: usize = 8;
/// Minimum number of function words that make a language certain.
const MIN_FUNCTION_WORDS: u8 = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LanguageSet(u32);

impl LanguageSet {
    pub(crate) fn all() -> LanguageSet {
        Language::all().fold(LanguageSet::default(), LanguageSet::with)
    }

    #[must_use]
    pub(crate) fn with(self, language: Language) -> LanguageSet {
        LanguageSet(self.0 | 1 << language.0)
    }

    #[must_use]
    pub(crate) fn union(self, other: LanguageSet) -> LanguageSet {
        LanguageSet(self.0 | other.0)
    }

    pub(crate) fn intersection(self, other: LanguageSet) -> LanguageSet {
        LanguageSet(self.0 & other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Language> {
        Language::all().filter(move |language| self.0 & (1 << language.0) != 0)
    }
}

impl Language {
    pub(crate) const GERMAN: Language = Language(0);
    pub(crate) const FRENCH: Language = Language(1);
    pub(crate) const SPANISH: Language = Language(2);
    pub(crate) const ITALIAN: Language = Language(3);
    pub(crate) const PORTUGUESE: Language = Language(4);
    pub(crate) const DUTCH: Language = Language(5);
    pub(crate) const RUSSIAN: Language = Language(6);
    const GREEK: Language = Language(15);
    const ARABIC: Language = Language(16);
    const TAMIL: Language = Language(17);

    pub(crate) fn all() -> impl Iterator<Item = Language> {
        (0..LANGUAGES.len()).map(Language)
    }

    /// Whether compounds are written as one word.
    pub(crate) fn joins_compounds(self) -> bool {
        matches!(
            LANGUAGES[self.0].0,
            Algorithm::German
                | Algorithm::Dutch
                | Algorithm::Swedish
                | Algorithm::Danish
                | Algorithm::Norwegian
                | Algorithm::Finnish
                | Algorithm::Hungarian
        )
    }

    /// Returns the most frequent function words; an empty text for a language that is recognised by
    /// its script.
    pub(crate) fn function_words(self) -> &'static str {
        LANGUAGES[self.0].1
    }

    pub(crate) fn number(self) -> usize {
        self.0
    }

    /// Returns the stem of a folded word; `None` for a word that is too short, too long, or has
    /// letters that this language does not have.
    pub(crate) fn stem(self, word: &str) -> Option<String> {
        let script = SCRIPTS.iter().find(|(language, _)| *language == self);
        let is_letter = |c: char| match script {
            Some((_, script)) => script.contains(&c),
            None => c.is_ascii_lowercase(),
        };
        let length = word.chars().count();
        ((3..=40).contains(&length) && word.chars().all(is_letter)).then(|| {
            let stem = STEMMERS[self.0].stem(word).into_owned();
            // A folded word has no accents. The stemmer therefore keeps the `e` of some endings,
            // such as the French `ée`.
            let bare = stem.trim_end_matches('e');
            if bare.len() < 3 { stem } else { bare.to_owned() }
        })
    }
}

fn has_script(text: &str, script: &RangeInclusive<char>) -> bool {
    text.chars().any(|c| script.contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_recognised_by_its_function_words() {
        for (text, wanted) in [
            ("Die Mahnungen gehen auch an Kunden, die schon mit Karte bezahlt haben", Some(0)),
            ("Les réservations des lecteurs disparaissent après la mise à jour", Some(1)),
            ("Los huéspedes pueden reservar la misma habitación dos veces", Some(2)),
            ("Остатки на складе расходятся с учётом", Some(6)),
            ("Kortet debiteras två gånger när kunden inte har betalat", Some(7)),
            ("Tilaukset katoavat, kun asiakas ei ole maksanut ja kortti on vanha", Some(10)),
            ("A számlák nem mennek ki, mert a kártya már lejárt és hibás", Some(11)),
            ("Siparişler neden kayboluyor ve bu hata için ne yaptık", Some(13)),
            ("Zamówienia nie są wysyłane, gdy klient już zapłacił", Some(14)),
            ("Οι παραγγελίες χάνονται μετά την ενημέρωση", Some(15)),
            ("why did the login fail", None),
            ("error in the module, we have to fix it", None),
            ("let x = self.de().la(); // the end", None),
            ("", None),
        ] {
            assert_eq!(of_text(text).map(Language::number), wanted, "{text}");
        }
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (language, one, other) in [
            (0, "mahnungen", "mahnung"),
            (1, "reservations", "reservation"),
            (1, "chiffree", "chiffrer"),
            (2, "habitacion", "habitaciones"),
            (6, "остатки", "остатков"),
            (6, "почтовый", "почтового"),
            (7, "bestallningarna", "bestallning"),
            (10, "palvelussa", "palvelusta"),
            (11, "szamlak", "szamlat"),
            (13, "siparisler", "siparisleri"),
        ] {
            let stem =
                |word| Language(language).stem(word).expect("the word can belong to the language");
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
    }

    #[test]
    fn the_other_languages_have_stemmers_too() {
        for (algorithm, one, other) in [
            (Algorithm::Danish, "ordrerne", "ordrer"),
            (Algorithm::Norwegian, "meldingene", "melding"),
            (Algorithm::Romanian, "comenzilor", "comenzile"),
            (Algorithm::Polish, "zamowienia", "zamowieniami"),
            (Algorithm::Greek, "αρχειο", "αρχεια"),
            (Algorithm::Arabic, "الملفات", "الملف"),
            (Algorithm::Tamil, "கோப்பு", "கோப்புகள்"),
        ] {
            let language = LANGUAGES.iter().position(|(known, _)| *known == algorithm);
            let language = Language(language.expect("the language is in the table"));
            let stem = |word| language.stem(word).expect("the word can belong to the language");
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
    }

    #[test]
    fn the_constants_of_languages_match_the_table() {
        for (language, algorithm) in [
            (Language::GERMAN, Algorithm::German),
            (Language::FRENCH, Algorithm::French),
            (Language::SPANISH, Algorithm::Spanish),
            (Language::ITALIAN, Algorithm::Italian),
            (Language::PORTUGUESE, Algorithm::Portuguese),
            (Language::DUTCH, Algorithm::Dutch),
            (Language::RUSSIAN, Algorithm::Russian),
            (Language::GREEK, Algorithm::Greek),
            (Language::ARABIC, Algorithm::Arabic),
            (Language::TAMIL, Algorithm::Tamil),
        ] {
            assert_eq!(LANGUAGES[language.0].0, algorithm);
        }
    }
}
