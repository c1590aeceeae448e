//! Emits the items of one record, with their common time, id and sub-agent.

use std::borrow::Cow;

use crate::{
    format::{
        Memory, RecordVerdict,
        limits::{NAME_KEPT, PATH_KEPT, begin},
    },
    model::{
        time::Timestamp,
        transcript::{Entry, Item, RecordUuid, SessionContext, TitleSource},
    },
};

/// The receiver of the items of one record.
pub(crate) struct Emitter<'e> {
    pub(crate) at: Option<Timestamp>,
    pub(crate) uuid: Option<RecordUuid>,
    /// The sub-agent that wrote the record.
    pub(crate) sub_agent: Option<&'e str>,
    /// The call that started the sub-agent.
    pub(crate) caller: Option<&'e str>,
    emit: &'e mut dyn FnMut(Entry<'_>),
    has_emitted: bool,
}

impl<'e> Emitter<'e> {
    pub(crate) fn new(emit: &'e mut dyn FnMut(Entry<'_>)) -> Emitter<'e> {
        Emitter { at: None, uuid: None, sub_agent: None, caller: None, emit, has_emitted: false }
    }

    /// Returns an emitter for items that the record's id does not identify: actions of `sub_agent`,
    /// or content that other records contain, too.
    pub(crate) fn unidentified<'s>(&'s mut self, sub_agent: Option<&'s str>) -> Emitter<'s> {
        Emitter { at: self.at, sub_agent, ..Emitter::new(&mut *self.emit) }
    }

    /// Emits an item. Of a sub-agent's items, only calls and results are emitted.
    pub(crate) fn item(&mut self, item: Item<'_>) {
        if self.sub_agent.is_none() || matches!(item, Item::Call(_) | Item::Result(_)) {
            let sub_agent = self.sub_agent.map(|id| Cow::Owned(id.to_owned()));
            self.entry(sub_agent, item);
        }
    }

    /// Emits an item that is about the session even if a sub-agent caused it.
    pub(crate) fn session_item(&mut self, item: Item<'_>) {
        self.entry(None, item);
    }

    /// Emits what the user wrote or did: an item of the session, also if it is in a record of a
    /// sub-agent. In a record that repeats the sub-agent's own file (`caller`), it is left out.
    pub(crate) fn user_item(&mut self, item: Item<'_>) {
        if self.caller.is_none() {
            self.session_item(item);
        }
    }

    /// Emits the members of `context` that differ from the members in `memory`.
    pub(crate) fn context(&mut self, context: SessionContext<'_>, memory: &mut Memory) {
        if self.sub_agent.is_some() {
            return;
        }
        let SessionContext { cwd, branch, version, model } = context;
        let news = SessionContext {
            cwd: changed(&mut memory.cwd, cwd, PATH_KEPT),
            branch: changed(&mut memory.branch, branch, NAME_KEPT),
            version: changed(&mut memory.version, version, NAME_KEPT),
            model: changed(&mut memory.model, model, NAME_KEPT),
        };
        let SessionContext { cwd, branch, version, model } = &news;
        if [cwd, branch, version, model].into_iter().any(Option::is_some) {
            self.item(Item::Context(news));
        }
    }

    pub(crate) fn title(&mut self, by: TitleSource, text: Option<Cow<'_, str>>) {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            self.item(Item::Title { by, text });
        }
    }

    /// Returns the verdict. A record from which nothing was emitted counts as skipped, under its
    /// type.
    pub(crate) fn verdict(&self, record_type: &str) -> RecordVerdict {
        if self.has_emitted {
            RecordVerdict::Read
        } else {
            RecordVerdict::Skipped(record_type.to_owned())
        }
    }

    fn entry<'i>(&mut self, sub_agent: Option<Cow<'i, str>>, item: Item<'i>) {
        self.has_emitted = true;
        let caller = self.caller.filter(|_| sub_agent.is_some());
        let caller = caller.map(|id| Cow::Owned(id.to_owned()));
        (self.emit)(Entry { at: self.at, uuid: self.uuid, sub_agent, caller, item });
    }
}

fn changed<'s>(
    known: &mut String,
    seen: Option<Cow<'s, str>>,
    limit: usize,
) -> Option<Cow<'s, str>> {
    let seen = seen.map(|seen| begin(seen, limit))?;
    Memory::note(known, &seen).then_some(seen)
}
