//! One segment of the index on disk, with its columns opened.

use std::{collections::HashMap, io, sync::Arc};

use tantivy::{
    DocSet, SegmentReader, TERMINATED, Term,
    columnar::{Column, StrColumn},
    fieldnorm::FieldNormReader,
    index::InvertedIndexReader,
    postings::{SegmentPostings, TermInfo},
    query::FuzzyTermQuery,
    schema::{Field, IndexRecordOption},
};

use crate::{
    index::{
        facts::{CardFacts, Facts},
        schema::{self, ANY_CARD, LAYOUT},
        terms,
    },
    passage::PassageKind,
    text::language::{Language, LanguageSet},
};

pub(crate) struct DiskShard {
    reader: SegmentReader,
    text: Arc<InvertedIndexReader>,
    lengths: Option<FieldNormReader>,
    session: Column<u64>,
    place: Column<u64>,
    part: Column<u64>,
    kind: Column<u64>,
    at: Column<i64>,
    namespace: Option<Column<u64>>,
    started: Option<Column<i64>>,
    project: Option<StrColumn>,
    agent: Option<StrColumn>,
    /// Number of cards that were not deleted when the segment was opened.
    cards: u32,
    languages: LanguageSet,
}

impl DiskShard {
    pub(crate) fn open(reader: &SegmentReader) -> tantivy::Result<DiskShard> {
        let columns = reader.fast_fields();
        let mut shard = DiskShard {
            text: reader.inverted_index(LAYOUT.text)?,
            lengths: reader.fieldnorms_readers().get_field(LAYOUT.text)?,
            session: columns.u64("session")?,
            place: columns.u64("place")?,
            part: columns.u64("part")?,
            kind: columns.u64("kind")?,
            at: columns.i64("at")?,
            namespace: columns.column_opt("namespace")?,
            started: columns.column_opt("started")?,
            project: columns.str("project")?,
            agent: columns.str("agent")?,
            reader: reader.clone(),
            cards: 0,
            languages: LanguageSet::default(),
        };
        for language in Language::all() {
            if shard.has_prefix(&terms::prefix_of(language))? {
                shard.languages = shard.languages.with(language);
            }
        }
        shard.cards = u32::try_from(shard.card_documents()?.len()).unwrap_or(u32::MAX);
        Ok(shard)
    }

    /// Returns the highest document number plus one.
    pub(crate) fn end(&self) -> u32 {
        self.reader.max_doc()
    }

    /// Returns the number of documents that are not deleted, including cards.
    pub(crate) fn documents(&self) -> u32 {
        self.reader.num_docs()
    }

    pub(crate) fn cards(&self) -> u32 {
        self.cards
    }

    /// Returns the languages, other than English, of the texts in the segment.
    pub(crate) fn languages(&self) -> LanguageSet {
        self.languages
    }

    pub(crate) fn bytes(&self) -> io::Result<u64> {
        Ok(self.reader.space_usage()?.total().get_bytes())
    }

    /// Returns the number of term occurrences, including those of deleted documents.
    pub(crate) fn words(&self) -> u64 {
        self.text.total_num_tokens()
    }

    pub(crate) fn is_alive(&self, document: u32) -> bool {
        self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(document))
    }

    pub(crate) fn session(&self, document: u32) -> u64 {
        self.session.values.get_val(document)
    }

    /// Returns source and message number as one number; see [`schema::place`].
    pub(crate) fn place(&self, document: u32) -> u64 {
        self.place.values.get_val(document)
    }

    pub(crate) fn facts(&self, document: u32) -> Facts {
        let place = self.place(document);
        let number = |column: &Column<u64>| column.values.get_val(document);
        Facts {
            session: self.session(document),
            source: (place >> 32) as u32,
            seq: place as u32,
            part: number(&self.part) as u32,
            kind: self.kind(document),
            at: self.at.values.get_val(document),
            length: self.length(document),
        }
    }

    pub(crate) fn kind(&self, document: u32) -> Option<PassageKind> {
        PassageKind::from_number(self.kind.values.get_val(document))
    }

    pub(crate) fn at(&self, document: u32) -> i64 {
        self.at.values.get_val(document)
    }

    pub(crate) fn length(&self, document: u32) -> u32 {
        self.lengths.as_ref().map_or(0, |lengths| lengths.fieldnorm(document))
    }

    pub(crate) fn term(&self, word: &str) -> tantivy::Result<Option<TermInfo>> {
        Ok(self.text.get_term_info(&Term::from_field_text(LAYOUT.text, word))?)
    }

    pub(crate) fn postings(
        &self,
        term: &TermInfo,
        option: IndexRecordOption,
    ) -> tantivy::Result<SegmentPostings> {
        Ok(self.text.read_postings_from_terminfo(term, option)?)
    }

    fn has_prefix(&self, prefix: &str) -> tantivy::Result<bool> {
        let mut stream = self.text.terms().range().ge(prefix.as_bytes()).into_stream()?;
        Ok(stream.next().is_some_and(|(term, _)| term.starts_with(prefix.as_bytes())))
    }

    /// Returns at most `limit` words that begin with `prefix`, the most frequent first.
    pub(crate) fn words_with_prefix(
        &self,
        prefix: &str,
        limit: usize,
    ) -> tantivy::Result<Vec<(String, u32)>> {
        let mut stream = self.text.terms().range().ge(prefix.as_bytes()).into_stream()?;
        let mut words = Vec::new();
        while let Some((term, info)) = stream.next() {
            if !term.starts_with(prefix.as_bytes()) {
                break;
            }
            words.push((String::from_utf8_lossy(term).into_owned(), info.doc_freq));
        }
        words.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        words.truncate(limit);
        Ok(words)
    }

    /// Calls `visit` for every term that begins with `prefix`.
    pub(crate) fn each_term_with_prefix(
        &self,
        prefix: &str,
        visit: &mut dyn FnMut(&str),
    ) -> tantivy::Result<()> {
        let mut stream = self.text.terms().range().ge(prefix.as_bytes()).into_stream()?;
        while let Some((term, _)) = stream.next() {
            let Ok(term) = std::str::from_utf8(term) else { continue };
            if !term.starts_with(prefix) {
                break;
            }
            visit(term);
        }
        Ok(())
    }

    /// Returns the terms that at most `edits` edits turn into `word`, with their frequencies.
    pub(crate) fn words_near(&self, word: &str, edits: u8) -> tantivy::Result<Vec<(String, u32)>> {
        let term = Term::from_field_text(LAYOUT.text, word);
        let automaton = FuzzyTermQuery::new(term, edits, true).automaton()?;
        let mut stream = self.text.terms().search(&automaton).into_stream()?;
        let mut words = Vec::new();
        while let Some((term, info)) = stream.next() {
            words.push((String::from_utf8_lossy(term).into_owned(), info.doc_freq));
        }
        Ok(words)
    }

    /// Returns the documents that have `term` in a field other than the text, without deleted ones.
    pub(crate) fn documents_with(&self, field: Field, term: &str) -> tantivy::Result<Vec<u32>> {
        self.alive_documents(field, &Term::from_field_text(field, term))
    }

    /// Returns a session's documents, including its card.
    pub(crate) fn documents_of(&self, session: u64) -> tantivy::Result<Vec<u32>> {
        self.alive_documents(LAYOUT.session, &schema::session(session))
    }

    /// Returns the card of a session if it is in this segment.
    pub(crate) fn card(&self, session: u64) -> tantivy::Result<Option<CardFacts>> {
        let found = self.alive_documents(LAYOUT.marker, &schema::card_of(session))?;
        found.last().map(|document| self.card_at(*document)).transpose()
    }

    /// Calls `visit` for every card. The numbers of its project and agent are the keys of
    /// [`DiskShard::project_names`] and [`DiskShard::agent_names`].
    pub(crate) fn each_card(&self, visit: &mut dyn FnMut(CardRow)) -> tantivy::Result<()> {
        let name = |column: &Option<StrColumn>, document| {
            column.as_ref().and_then(|column| column.ords().first(document))
        };
        for document in self.card_documents()? {
            visit(CardRow {
                session: self.session(document),
                namespace: self.namespace_at(document),
                project: name(&self.project, document),
                agent: name(&self.agent, document),
                ended: self.at(document),
            });
        }
        Ok(())
    }

    /// Returns the project names of the cards, by number.
    pub(crate) fn project_names(&self) -> tantivy::Result<HashMap<u64, String>> {
        names(self.project.as_ref())
    }

    /// Returns the agent names of the cards, by number.
    pub(crate) fn agent_names(&self) -> tantivy::Result<HashMap<u64, String>> {
        names(self.agent.as_ref())
    }

    fn card_documents(&self) -> tantivy::Result<Vec<u32>> {
        self.alive_documents(LAYOUT.marker, &Term::from_field_text(LAYOUT.marker, ANY_CARD))
    }

    fn card_at(&self, document: u32) -> tantivy::Result<CardFacts> {
        let name = |column: &Option<StrColumn>| -> tantivy::Result<Option<String>> {
            let Some(column) = column else { return Ok(None) };
            let Some(number) = column.ords().first(document) else { return Ok(None) };
            let mut name = String::new();
            Ok(column.ord_to_str(number, &mut name)?.then_some(name))
        };
        let ended = self.at(document);
        Ok(CardFacts {
            namespace: self.namespace_at(document),
            project: name(&self.project)?,
            agent: name(&self.agent)?.unwrap_or_default(),
            started: self
                .started
                .as_ref()
                .and_then(|column| column.first(document))
                .unwrap_or(ended),
            ended,
        })
    }

    fn namespace_at(&self, document: u32) -> u32 {
        let number = self.namespace.as_ref().and_then(|column| column.first(document));
        number.unwrap_or_default() as u32
    }

    fn alive_documents(&self, field: Field, term: &Term) -> tantivy::Result<Vec<u32>> {
        let inverted = self.reader.inverted_index(field)?;
        let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::Basic)? else {
            return Ok(Vec::new());
        };
        let mut documents = Vec::new();
        while postings.doc() != TERMINATED {
            if self.is_alive(postings.doc()) {
                documents.push(postings.doc());
            }
            postings.advance();
        }
        Ok(documents)
    }
}

pub(crate) struct CardRow {
    pub(crate) session: u64,
    pub(crate) namespace: u32,
    pub(crate) project: Option<u64>,
    pub(crate) agent: Option<u64>,
    pub(crate) ended: i64,
}

fn names(column: Option<&StrColumn>) -> tantivy::Result<HashMap<u64, String>> {
    let mut names = HashMap::new();
    let Some(column) = column else { return Ok(names) };
    let mut name = String::new();
    for number in 0..column.dictionary().num_terms() as u64 {
        name.clear();
        if column.ord_to_str(number, &mut name)? {
            names.insert(number, name.clone());
        }
    }
    Ok(names)
}
