//! The schema of passages and cards in the index on disk.

use std::sync::LazyLock;

use tantivy::{
    TantivyDocument, Term,
    schema::{
        FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STRING, Schema, TextFieldIndexing,
        TextOptions,
    },
    tokenizer::{Token, TokenStream, Tokenizer},
};

use crate::index::{
    attributes,
    change::Card,
    passages::{PassageRow, seconds},
    terms,
};

/// The version of fields, terms and passages together. An index of another version is rebuilt from
/// its sources.
pub(crate) const VERSION: u32 = 10;

pub(crate) const TOKENIZER: &str = "graphiti";

/// The value of `kind` for a card.
pub(crate) const CARD_KIND: u64 = 255;

pub(crate) struct Layout {
    pub(crate) schema: Schema,
    pub(crate) text: Field,
    /// `file`, `tool` and `branch` contain names from [`attributes`].
    pub(crate) file: Field,
    pub(crate) tool: Field,
    pub(crate) branch: Field,
    /// Names from [`work`](crate::index::work).
    pub(crate) work: Field,
    /// Identifies documents for lookup and removal; see [`source_marker`], [`card_of`],
    /// [`ANY_CARD`].
    pub(crate) marker: Field,
    pub(crate) session: Field,
    /// Source and message number as one number.
    pub(crate) place: Field,
    pub(crate) part: Field,
    pub(crate) kind: Field,
    pub(crate) at: Field,
    /// This field and the following fields occur only in cards.
    pub(crate) namespace: Field,
    pub(crate) project: Field,
    pub(crate) agent: Field,
    pub(crate) started: Field,
}

pub(crate) static LAYOUT: LazyLock<Layout> = LazyLock::new(|| {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(TOKENIZER)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let column = NumericOptions::default().set_fast();
    let name = TextOptions::default().set_fast("raw");
    Layout {
        text: schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing)),
        file: schema.add_text_field("file", STRING),
        tool: schema.add_text_field("tool", STRING),
        branch: schema.add_text_field("branch", STRING),
        work: schema.add_text_field("work", STRING),
        marker: schema.add_text_field("marker", STRING),
        session: schema.add_u64_field("session", INDEXED | FAST),
        place: schema.add_u64_field("place", column.clone()),
        part: schema.add_u64_field("part", column.clone()),
        kind: schema.add_u64_field("kind", column.clone()),
        at: schema.add_i64_field("at", column.clone()),
        namespace: schema.add_u64_field("namespace", column.clone()),
        project: schema.add_text_field("project", name.clone()),
        agent: schema.add_text_field("agent", name),
        started: schema.add_i64_field("started", column.clone()),
        schema: schema.build(),
    }
});

/// The marker of every card.
pub(crate) const ANY_CARD: &str = "card";

/// Returns the marker of a session's card.
pub(crate) fn card_of(session: u64) -> Term {
    Term::from_field_text(LAYOUT.marker, &format!("card {session}"))
}

/// Returns the marker of the passages of one source of a session.
pub(crate) fn source_marker(session: u64, source: u32) -> Term {
    Term::from_field_text(LAYOUT.marker, &format!("{session} {source}"))
}

/// Returns the term of all documents of a session.
pub(crate) fn session(session: u64) -> Term {
    Term::from_field_u64(LAYOUT.session, session)
}

/// Combines source and message number into one number.
pub(crate) fn place(source: u32, seq: u32) -> u64 {
    u64::from(source) << 32 | u64::from(seq)
}

pub(crate) fn passage_document(passage: &PassageRow) -> TantivyDocument {
    let layout = &*LAYOUT;
    let mut document = TantivyDocument::new();
    document.add_text(layout.text, &passage.text);
    for term in passage.files.iter().flat_map(|path| attributes::of_file(path)) {
        document.add_text(layout.file, term);
    }
    for term in passage.tool.iter().flat_map(|name| attributes::of_tool(name)) {
        document.add_text(layout.tool, term);
    }
    for term in passage.branches.iter().flat_map(|name| attributes::of_branch(name)) {
        document.add_text(layout.branch, term);
    }
    for name in &passage.work {
        document.add_text(layout.work, name);
    }
    document.add_text(layout.marker, format!("{} {}", passage.session, passage.source));
    document.add_u64(layout.session, passage.session);
    document.add_u64(layout.place, place(passage.source, passage.seq));
    document.add_u64(layout.part, u64::from(passage.part));
    document.add_u64(layout.kind, passage.kind as u64);
    document.add_i64(layout.at, passage.at);
    document
}

pub(crate) fn card_document(card: &Card) -> TantivyDocument {
    let layout = &*LAYOUT;
    let mut document = TantivyDocument::new();
    document.add_text(layout.marker, ANY_CARD);
    document.add_text(layout.marker, format!("card {}", card.session.0));
    document.add_u64(layout.session, card.session.0);
    document.add_u64(layout.place, 0);
    document.add_u64(layout.part, 0);
    document.add_u64(layout.kind, CARD_KIND);
    document.add_i64(layout.at, seconds(card.ended_at));
    document.add_u64(layout.namespace, u64::from(card.namespace.number()));
    document.add_text(layout.agent, &card.agent);
    document.add_i64(layout.started, seconds(card.started_at.unwrap_or(card.ended_at)));
    if let Some(project) = &card.project {
        document.add_text(layout.project, project.path());
    }
    document
}

/// Adapts [`terms::each_term`] to tantivy's tokenizer interface.
#[derive(Clone, Default)]
pub(crate) struct CodeTokenizer {
    tokens: Vec<Token>,
    used: usize,
}

pub(crate) struct CodeTokens<'t> {
    tokens: &'t mut [Token],
    next: usize,
}

impl Tokenizer for CodeTokenizer {
    type TokenStream<'t> = CodeTokens<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> CodeTokens<'t> {
        self.used = 0;
        terms::each_term(text, &mut |term, position| {
            if self.used == self.tokens.len() {
                self.tokens.push(Token::default());
            }
            let token = &mut self.tokens[self.used];
            token.text.clear();
            token.text.push_str(term);
            token.position = position as usize;
            self.used += 1;
        });
        CodeTokens { tokens: &mut self.tokens[..self.used], next: 0 }
    }
}

impl TokenStream for CodeTokens<'_> {
    fn advance(&mut self) -> bool {
        self.next += 1;
        self.next <= self.tokens.len()
    }

    fn token(&self) -> &Token {
        &self.tokens[self.next - 1]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens[self.next - 1]
    }
}
