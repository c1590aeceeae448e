//! Splits texts into a model's tokens, as BERT's WordPiece tokenizer does.

use std::collections::HashMap;

use serde_json::Value;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

pub(super) struct Vocabulary {
    /// The id of each token.
    numbers: HashMap<String, u32>,
    /// The prefix of tokens that continue a word.
    continuation_prefix: String,
    /// Maximum length, in characters, of a word; longer words are unknown.
    longest: usize,
    lowercase: bool,
    strips_accents: bool,
    begin: Option<u32>,
    end: Option<u32>,
    unknown: Option<u32>,
}

impl Vocabulary {
    /// Reads the file `tokenizer.json` of a model.
    pub(super) fn read(file: &Value) -> Result<Vocabulary, String> {
        let model = &file["model"];
        match model["type"].as_str() {
            Some("WordPiece") => {}
            kind => {
                let kind = kind.unwrap_or("unknown");
                return Err(format!(
                    "its tokenizer is of the kind {kind}; only WordPiece is supported"
                ));
            }
        }
        let vocabulary = model["vocab"].as_object().ok_or("it has no vocabulary")?;
        let number = |number: &Value| number.as_u64().and_then(|number| u32::try_from(number).ok());
        let numbers: HashMap<String, u32> = vocabulary
            .iter()
            .filter_map(|(piece, value)| Some((piece.clone(), number(value)?)))
            .collect();
        let lowercase = setting(&file["normalizer"], "lowercase").unwrap_or(false)
            || has_kind(&file["normalizer"], "Lowercase");
        let strips_accents = setting(&file["normalizer"], "strip_accents").unwrap_or(lowercase)
            || has_kind(&file["normalizer"], "StripAccents");
        let special = |name: &str| numbers.get(name).copied();
        Ok(Vocabulary {
            continuation_prefix: model["continuing_subword_prefix"]
                .as_str()
                .unwrap_or("##")
                .to_owned(),
            longest: model["max_input_chars_per_word"].as_u64().unwrap_or(100) as usize,
            lowercase,
            strips_accents,
            begin: special("[CLS]"),
            end: special("[SEP]"),
            unknown: special(model["unk_token"].as_str().unwrap_or("[UNK]")),
            numbers,
        })
    }

    /// Returns the known tokens of a text, at most `most`.
    pub(super) fn pieces(&self, text: &str, most: usize) -> Vec<u32> {
        let mut pieces = self.cut(text, most);
        pieces.retain(|piece| Some(*piece) != self.unknown);
        pieces
    }

    /// Returns the start token, the tokens of a text and the end token: at most `most` tokens.
    pub(super) fn enclosed(&self, text: &str, most: usize) -> Vec<u32> {
        let pieces = self.cut(text, most.saturating_sub(2));
        self.begin.into_iter().chain(pieces).chain(self.end).collect()
    }

    fn cut(&self, text: &str, most: usize) -> Vec<u32> {
        let mut pieces = Vec::new();
        let mut word = String::new();
        for c in self.normal(text) {
            let is_own_word = is_punctuation(c) || is_ideograph(c);
            if c.is_whitespace() || is_own_word {
                self.cut_word(&word, &mut pieces);
                word.clear();
            } else {
                word.push(c);
            }
            if is_own_word {
                self.cut_word(c.encode_utf8(&mut [0; 4]), &mut pieces);
            }
            if pieces.len() >= most {
                break;
            }
        }
        self.cut_word(&word, &mut pieces);
        pieces.truncate(most);
        pieces
    }

    fn normal<'t>(&self, text: &'t str) -> Box<dyn Iterator<Item = char> + 't> {
        let clean = text.chars().filter_map(|c| match c {
            '\0' | '\u{fffd}' => None,
            c if c.is_whitespace() => Some(' '),
            c if c.is_control() => None,
            c => Some(c),
        });
        let mut normal: Box<dyn Iterator<Item = char> + 't> = Box::new(clean);
        if self.strips_accents {
            normal = Box::new(normal.nfd().filter(|c| !is_combining_mark(*c)));
        }
        if self.lowercase {
            normal = Box::new(normal.flat_map(char::to_lowercase));
        }
        normal
    }

    /// Splits `word` by taking the longest matching token repeatedly. If a part of the word is
    /// unknown, the whole word is unknown.
    fn cut_word(&self, word: &str, pieces: &mut Vec<u32>) {
        if word.is_empty() {
            return;
        }
        let before = pieces.len();
        let mut rest = word;
        let is_short = word.chars().count() <= self.longest;
        while is_short && !rest.is_empty() {
            let Some((length, number)) = self.longest_piece(rest, rest.len() < word.len()) else {
                break;
            };
            pieces.push(number);
            rest = &rest[length..];
        }
        if !is_short || !rest.is_empty() {
            pieces.truncate(before);
            pieces.extend(self.unknown);
        }
    }

    /// Returns the length and the id of the longest token at the start of `text`.
    fn longest_piece(&self, text: &str, continues_word: bool) -> Option<(usize, u32)> {
        let mut piece =
            if continues_word { self.continuation_prefix.clone() } else { String::new() };
        let before = piece.len();
        piece.push_str(text);
        loop {
            if let Some(number) = self.numbers.get(&piece) {
                return Some((piece.len() - before, *number));
            }
            piece.pop();
            if piece.len() <= before {
                return None;
            }
        }
    }
}

/// Returns a setting of a normalizer or of one of its parts.
fn setting(normalizer: &Value, name: &str) -> Option<bool> {
    let parts = normalizer["normalizers"].as_array().into_iter().flatten();
    normalizer[name].as_bool().or_else(|| parts.into_iter().find_map(|part| setting(part, name)))
}

fn has_kind(normalizer: &Value, kind: &str) -> bool {
    let mut parts = normalizer["normalizers"].as_array().into_iter().flatten();
    normalizer["type"] == kind || parts.any(|part| has_kind(part, kind))
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}')
        || matches!(c, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}')
        || matches!(c, '\u{3008}'..='\u{3011}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        || matches!(c, '\u{20000}'..='\u{2ceaf}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words() -> Vocabulary {
        let pieces = ["[UNK]", "[CLS]", "[SEP]", "log", "##in", "##s", "time", "!", "cafe", "語"];
        let vocabulary: serde_json::Map<String, Value> = pieces
            .iter()
            .zip(0..)
            .map(|(piece, number)| ((*piece).to_owned(), json!(number)))
            .collect();
        let file = json!({
            "normalizer": { "type": "BertNormalizer", "lowercase": true, "strip_accents": null },
            "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": vocabulary },
        });
        Vocabulary::read(&file).unwrap()
    }

    #[test]
    fn words_are_split_into_the_longest_tokens() {
        for (text, expected) in [
            ("Logins", vec![3, 4, 5]),
            ("log in", vec![3, 0]),
            ("Café!语語", vec![8, 7, 0, 9]),
            ("time\tLOG\n", vec![6, 3]),
            ("", vec![]),
            ("\u{0}", vec![]),
        ] {
            assert_eq!(words().cut(text, 100), expected, "{text}");
        }
        assert_eq!(words().enclosed("time log", 100), [1, 6, 3, 2]);
        assert_eq!(words().enclosed("time log", 3), [1, 6, 2]);
        assert_eq!(words().pieces("in time", 100), [6]);
        assert_eq!(words().cut(&"x".repeat(1_000), 100), [0]);
    }

    #[test]
    fn another_kind_of_tokenizer_is_refused() {
        let error = Vocabulary::read(&json!({ "model": { "type": "Unigram" } })).err().unwrap();
        assert!(error.contains("Unigram"), "{error}");
    }
}
