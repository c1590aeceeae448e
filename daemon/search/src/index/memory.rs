//! An inverted index of the passages that are not on disk yet.

use std::collections::HashMap;

use crate::{
    index::{attributes, facts::Facts, passages::PassageRow, terms},
    text::language::LanguageSet,
};

#[derive(Default)]
pub(crate) struct MemoryShard {
    words: HashMap<Box<str>, PostingList>,
    /// The documents with each attribute. The key is the attribute's letter, a colon and the term.
    attributes: HashMap<String, Vec<u32>>,
    sessions: HashMap<u64, Vec<u32>>,
    facts: Vec<Facts>,
    is_dead: Vec<bool>,
    dead: u32,
    length: u64,
    languages: LanguageSet,
}

#[derive(Default)]
pub(crate) struct PostingList {
    documents: Vec<u32>,
    /// For each document, the index of its first position in `positions`.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

/// A property by which passages are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Attribute {
    File,
    Tool,
    Branch,
    /// A name of the session's work; see [`work`](crate::index::work).
    Work,
}

impl MemoryShard {
    pub(crate) fn add(&mut self, passage: &PassageRow) {
        let document = self.end();
        let mut length = 0;
        terms::each_term(&passage.text, &mut |term, position| {
            length += 1;
            if !self.words.contains_key(term) {
                self.words.insert(term.into(), PostingList::default());
                if let Some(language) = terms::language_of(term) {
                    self.languages = self.languages.with(language);
                }
            }
            if let Some(list) = self.words.get_mut(term) {
                list.add(document, position);
            }
        });
        let mut add = |attribute: Attribute, terms: Vec<String>| {
            for term in terms {
                let documents = self.attributes.entry(key(attribute, &term)).or_default();
                if documents.last() != Some(&document) {
                    documents.push(document);
                }
            }
        };
        passage.files.iter().for_each(|path| add(Attribute::File, attributes::of_file(path)));
        passage.tool.iter().for_each(|name| add(Attribute::Tool, attributes::of_tool(name)));
        passage
            .branches
            .iter()
            .for_each(|name| add(Attribute::Branch, attributes::of_branch(name)));
        add(Attribute::Work, passage.work.clone());
        self.sessions.entry(passage.session).or_default().push(document);
        self.facts.push(Facts {
            session: passage.session,
            source: passage.source,
            seq: passage.seq,
            part: passage.part,
            kind: Some(passage.kind),
            at: passage.at,
            length,
        });
        self.is_dead.push(false);
        self.length += u64::from(length);
    }

    pub(crate) fn remove(&mut self, is_deleted: impl Fn(&Facts) -> bool) {
        for (facts, is_dead) in self.facts.iter().zip(&mut self.is_dead) {
            if !*is_dead && is_deleted(facts) {
                *is_dead = true;
                self.dead += 1;
                self.length -= u64::from(facts.length);
            }
        }
    }

    pub(crate) fn end(&self) -> u32 {
        u32::try_from(self.facts.len()).expect("the number of passages in memory is bounded")
    }

    pub(crate) fn documents(&self) -> u32 {
        self.end() - self.dead
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the languages, other than English, of the texts in the shard.
    pub(crate) fn languages(&self) -> LanguageSet {
        self.languages
    }

    pub(crate) fn is_alive(&self, document: u32) -> bool {
        !self.is_dead[document as usize]
    }

    pub(crate) fn facts(&self, document: u32) -> &Facts {
        &self.facts[document as usize]
    }

    pub(crate) fn postings(&self, word: &str) -> Option<&PostingList> {
        self.words.get(word)
    }

    pub(crate) fn words_with_prefix(&self, prefix: &str, limit: usize) -> Vec<(String, u32)> {
        let found = self.words.iter().filter(|(word, _)| word.starts_with(prefix));
        let mut words: Vec<(String, u32)> =
            found.map(|(word, list)| (word.to_string(), list.frequency())).collect();
        words.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        words.truncate(limit);
        words
    }

    /// Returns the words for which `is_near` is true, with their frequencies.
    pub(crate) fn words_where(&self, is_near: impl Fn(&str) -> bool) -> Vec<(String, u32)> {
        let near = self.words.iter().filter(|(word, _)| is_near(word));
        near.map(|(word, list)| (word.to_string(), list.frequency())).collect()
    }

    /// Calls `visit` for every term that begins with `prefix`. Reads all terms.
    pub(crate) fn each_term_with_prefix(&self, prefix: &str, visit: &mut dyn FnMut(&str)) {
        self.words.keys().filter(|term| term.starts_with(prefix)).for_each(|term| visit(term));
    }

    pub(crate) fn documents_with(&self, attribute: Attribute, term: &str) -> &[u32] {
        self.attributes.get(&key(attribute, term)).map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn documents_of(&self, session: u64) -> &[u32] {
        self.sessions.get(&session).map(Vec::as_slice).unwrap_or_default()
    }
}

impl PostingList {
    fn add(&mut self, document: u32, position: u32) {
        if self.documents.last() != Some(&document) {
            self.documents.push(document);
            self.starts.push(u32::try_from(self.positions.len()).unwrap_or(u32::MAX));
        }
        self.positions.push(position);
    }

    pub(crate) fn frequency(&self) -> u32 {
        u32::try_from(self.documents.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn documents(&self) -> &[u32] {
        &self.documents
    }

    /// Returns the positions in the document at `index` of [`PostingList::documents`].
    pub(crate) fn positions(&self, index: usize) -> &[u32] {
        let start = self.starts[index] as usize;
        let end = self.starts.get(index + 1).map_or(self.positions.len(), |end| *end as usize);
        &self.positions[start..end]
    }
}

fn key(attribute: Attribute, term: &str) -> String {
    let letter = match attribute {
        Attribute::File => 'f',
        Attribute::Tool => 't',
        Attribute::Branch => 'b',
        Attribute::Work => 'w',
    };
    format!("{letter}:{term}")
}
