//! Lists the shapes of passwords that people choose and machines generate.

use graphiti_tests::Random;

/// A form that passwords have.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// `‹W›` is a word that begins with a capital letter, `‹w›` a word in lower case, `‹d2›` two
    /// digits, `‹a8›` eight letters or digits.
    pub(crate) template: &'static str,
}

const fn shape(name: &'static str, template: &'static str) -> Shape {
    Shape { name, template }
}

pub(crate) const SHAPES: &[Shape] = &[
    shape("word!word", "‹W›!‹W›‹d2›"),
    shape("word!word, no digit", "‹W›!‹w›"),
    shape("word.word", "‹w›.‹w›"),
    shape("Word.Word41", "‹W›.‹W›‹d2›"),
    shape("word?word", "‹W›?‹w›‹d2›"),
    shape("word(word", "‹W›(‹W›‹d2›"),
    shape("word(41)word", "‹W›(‹d2›)‹w›"),
    shape("word[word", "‹W›[‹W›‹d2›"),
    shape("word[4]word", "‹W›[‹d1›]‹w›"),
    shape("word{word", "‹W›{‹w›‹d2›"),
    shape("word<word", "‹W›<‹W›‹d2›"),
    shape("first !", "!‹W›‹d2›‹w›"),
    shape("first @", "@‹W›‹d2›‹w›"),
    shape("first &", "&‹W›‹d2›‹w›"),
    shape("first *", "*‹W›‹d2›‹w›"),
    shape("first ~", "~‹W›‹d2›‹w›"),
    shape("first :", ":‹W›‹d2›‹w›"),
    shape("first /", "/‹W›‹d2›‹w›"),
    shape("first #", "#‹W›‹d2›‹w›"),
    shape("first %", "%‹W›‹d2›‹w›"),
    shape("first ^", "^‹W›‹d2›‹w›"),
    shape("first +", "+‹W›‹d2›‹w›"),
    shape("first =", "=‹W›‹d2›‹w›"),
    shape("first -", "-‹W›‹d2›‹w›"),
    shape("first .", ".‹W›‹d2›‹w›"),
    shape("first (", "(‹W›‹d2›‹w›"),
    shape("first [", "[‹W›‹d2›‹w›"),
    shape("first {", "{‹W›‹d2›‹w›"),
    shape("last !", "‹W›‹w›‹d2›!"),
    shape("last ?", "‹W›‹d2›‹w›?"),
    shape("last )", "‹W›‹d2›‹w›)"),
    shape("word@word", "‹W›@‹W›‹d2›"),
    shape("word#word", "‹W›#‹d2›‹w›"),
    shape("word$word", "‹W›$‹w›‹d2›"),
    shape("word%word", "‹W›%‹w›‹d2›"),
    shape("word&word", "‹W›&‹W›‹d2›"),
    shape("word*word", "‹W›*‹W›‹d2›"),
    shape("word+word", "‹w›+‹w›+‹d2›"),
    shape("word=word", "‹W›=‹w›‹d2›"),
    shape("word:word", "‹W›:‹w›‹d2›"),
    shape("word,word", "‹W›,‹w›‹d2›"),
    shape("word;word", "‹W›;‹w›‹d2›"),
    shape("word/word", "‹W›/‹w›‹d2›"),
    shape("word~word", "‹W›~‹w›‹d2›"),
    shape("two words with a dash and digits", "‹W›-‹w›-‹d2›"),
    shape("three words with dashes", "‹w›-‹w›-‹w›"),
    shape("four words with dashes", "‹w›-‹w›-‹w›-‹w›"),
    shape("words with underscores", "‹w›_‹w›_‹d2›"),
    shape("words with dots", "‹w›.‹w›.‹w›.‹d2›"),
    shape("words together", "‹W›‹W›‹d2›"),
    shape("one word", "‹w›"),
    shape("one word and a year", "‹W›2026"),
    shape("one word, a year, a sign", "‹W›2026!"),
    shape("letters replaced by signs", "P‹a1›s$w0rd‹d2›‹w›"),
    shape("neighbouring keys", "qwertz‹d3›!"),
    shape("digits", "‹d8›"),
    shape("short", "‹a4›!"),
    shape("short, letters and digits", "‹w›‹d1›"),
    shape("random 12", "‹a12›"),
    shape("random 24", "‹a24›"),
    shape("random 48", "‹a48›"),
    shape("random with signs", "‹a4›!‹a3›#‹a3›^‹a4›"),
    shape("base64", "‹a22›=="),
    shape("umlauts", "‹W›-Äpfel-grün‹d2›"),
    shape("another alphabet", "пароль‹d3›звезда"),
    shape("words in quotes", "‹w› ‹w› ‹w› ‹w›"),
    shape("a sentence in quotes", "the ‹w› is in a ‹w› ‹d2›"),
    shape("a quotation mark inside", "‹W›'‹w›‹d2›"),
];

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "amber", "badger", "berlin", "blanket", "bottle", "canyon", "carrot", "castle", "cobalt",
    "copper", "dragon", "ember", "falcon", "feather", "fenster", "garten", "ginger", "glacier",
    "hammer", "harbor", "himmel", "island", "jasmin", "katze", "kettle", "kiesel", "lemon",
    "lantern", "magnet", "marble", "meadow", "mirror", "nebel", "oktober", "orchid", "otter",
    "panther", "pebble", "pepper", "pirate", "quartz", "rabbit", "raven", "regen", "river",
    "rocket", "saddle", "saffron", "schnee", "silver", "sommer", "spider", "sunset", "tiger",
    "timber", "tulpe", "velvet", "violin", "walnut", "winter", "wombat", "zebra",
];

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Returns a password of this template.
pub(crate) fn password(template: &str, random: &mut Random) -> String {
    let mut made = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('‹') {
        let (class, after) = behind.split_once('›').unwrap();
        made.push_str(before);
        let count = class[1..].parse().unwrap_or(0);
        match &class[..1] {
            "w" => made.push_str(WORDS[random.below(WORDS.len())]),
            "W" => {
                let word = WORDS[random.below(WORDS.len())];
                made.push_str(&word[..1].to_uppercase());
                made.push_str(&word[1..]);
            }
            "d" => made.extend((0..count).map(|_| char::from(b'0' + random.below(10) as u8))),
            _ => made.extend((0..count).map(|_| char::from(LETTERS[random.below(LETTERS.len())]))),
        }
        rest = after;
    }
    made + rest
}
