//! How passages and cards lie in the index on disk.

use std::sync::LazyLock;

use tantivy::{
    TantivyDocument, Term,
    schema::{
        FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STRING, Schema, TextFieldIndexing,
        TextOptions,
    },
    tokenizer::{Token, TokenStream, Tokenizer},
};

use crate::search::index::{
    attributes,
    change::Card,
    passages::{PassageRow, seconds},
    terms,
};

/// The version of everything that decides what an index holds: fields, terms, passages. An index
/// of another version is made again from its sources: one of version 2 may hold messages twice, or
/// lack some.
pub(crate) const VERSION: u32 = 3;

/// The name under which [`CodeTokenizer`] is registered.
pub(crate) const TOKENIZER: &str = "graphiti";

/// The number in `kind` that marks a card.
pub(crate) const CARD_KIND: u64 = 255;

/// The schema and its fields.
pub(crate) struct Layout {
    pub(crate) schema: Schema,
    pub(crate) text: Field,
    /// Values of [`attributes::of_file`], [`attributes::of_tool`] and [`attributes::of_branch`].
    pub(crate) file: Field,
    pub(crate) tool: Field,
    pub(crate) branch: Field,
    /// What a document is, for finding and removing it: see [`home`], [`card_of`], [`ANY_CARD`].
    pub(crate) marker: Field,
    pub(crate) session: Field,
    /// Source and message number in one.
    pub(crate) place: Field,
    pub(crate) part: Field,
    pub(crate) kind: Field,
    pub(crate) at: Field,
    /// Fields that only cards have.
    pub(crate) namespace: Field,
    pub(crate) project: Field,
    pub(crate) agent: Field,
    pub(crate) started: Field,
}

/// The one layout there is.
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

/// The marker of a session's card.
pub(crate) fn card_of(session: u64) -> Term {
    Term::from_field_text(LAYOUT.marker, &format!("card {session}"))
}

/// The marker of the passages of one source of a session.
pub(crate) fn home(session: u64, source: u32) -> Term {
    Term::from_field_text(LAYOUT.marker, &format!("{session} {source}"))
}

/// The term of everything that belongs to a session.
pub(crate) fn session(session: u64) -> Term {
    Term::from_field_u64(LAYOUT.session, session)
}

/// Source and message number as one number.
pub(crate) fn place(source: u32, seq: u32) -> u64 {
    u64::from(source) << 32 | u64::from(seq)
}

/// A passage as a document.
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
    document.add_text(layout.marker, format!("{} {}", passage.session, passage.source));
    document.add_u64(layout.session, passage.session);
    document.add_u64(layout.place, place(passage.source, passage.seq));
    document.add_u64(layout.part, u64::from(passage.part));
    document.add_u64(layout.kind, passage.kind as u64);
    document.add_i64(layout.at, passage.at);
    document
}

/// A card as a document.
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

/// [`terms::each_term`] as the engine underneath wants it.
#[derive(Clone, Default)]
pub(crate) struct CodeTokenizer {
    tokens: Vec<Token>,
    used: usize,
}

/// The tokens of one text.
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
