//! Collects the statements of an episode while its parts are read.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    condensed::{self, ReportBlock},
    line_times::LineTimes,
    locate::{SentenceIndex, SentenceSource, Speaker},
    names::{NamedEntity, Names, file_key},
};
use crate::{
    graph::{statement_states, text},
    model::{
        Episode, Evidence, Namespace, Timestamp,
        episode::Author,
        evidence::{CommandRun, TurnReport},
        graph::{
            Certainty, Claim, EntityId, EntityKind, FactKey, Mark, Mention, Observation, Relation,
            Rename, Statements, Subject, Watch,
        },
        transcript::Origin,
    },
};

const MAX_SENTENCE_CHARS: usize = 900;
/// Maximum length, in characters, of the name of an entity.
const MAX_NAME_CHARS: usize = 160;
/// Maximum length, in characters, of a task that is added to another statement.
const MAX_TASK_CHARS: usize = 100;
/// A statement repeats another statement if the other statement contains at least this share of the
/// words of the first.
const REPEATED_SHARE: f64 = 0.8;
/// Minimum number of words of a statement that is compared with others.
const MIN_COMPARED_WORDS: usize = 5;
/// Maximum number of entities of one claim besides its source and its target.
const MAX_OTHERS: usize = 12;

/// The statements of an episode so far.
pub(super) struct Draft<'e> {
    pub(super) episode: &'e Episode,
    pub(super) evidence: &'e Evidence,
    pub(super) moments: LineTimes,
    pub(super) sentence_index: SentenceIndex<'e>,
    pub(super) namespace: Namespace,
    pub(super) project: EntityId,
    pub(super) task: EntityId,
    names: Names,
    mentions: BTreeMap<EntityId, Mention>,
    claims: Vec<Claim>,
    marks: Vec<Mark>,
    renames: Vec<Rename>,
    report_blocks: OnceCell<Vec<Vec<ReportBlock>>>,
}

/// The parts of a claim other than its relation, its source and its target.
#[derive(Default)]
pub(super) struct ClaimDraft {
    /// Distinguishes claims between the same entities.
    pub(super) detail: String,
    pub(super) sentence: String,
    /// `None` for the namespace of the project.
    pub(super) namespace: Option<Namespace>,
    pub(super) certainty: Option<Certainty>,
    /// `None` for the time of the earliest of `origins`, or the end of the session if there are no
    /// origins.
    pub(super) at: Option<Timestamp>,
    pub(super) origins: Vec<Origin>,
    pub(super) watches: Vec<Watch>,
    pub(super) others: Vec<EntityId>,
    pub(super) details: Vec<(String, String)>,
    /// Whether several sessions with this claim state one fact about the project, instead of a fact
    /// for each session's task.
    pub(super) is_of_project: bool,
}

impl<'e> Draft<'e> {
    pub(super) fn new(episode: &'e Episode, evidence: &'e Evidence) -> Draft<'e> {
        let mut draft = Draft {
            episode,
            evidence,
            moments: LineTimes::new(episode, evidence),
            sentence_index: SentenceIndex::new(evidence),
            namespace: episode.project.root().namespace(),
            // The project and the task are set below.
            project: EntityId::of(EntityKind::Project, Namespace::default(), ""),
            task: EntityId::of(EntityKind::Task, Namespace::default(), ""),
            names: Names::new(episode, evidence),
            mentions: BTreeMap::new(),
            claims: Vec::new(),
            marks: Vec::new(),
            renames: Vec::new(),
            report_blocks: OnceCell::new(),
        };
        let name = episode.project.root().name().to_owned();
        draft.project = draft.mention(EntityKind::Project, "", &name);
        let key = text::plain(&episode.name);
        // A short name such as `Continue` does not identify a task.
        let is_name = key.split(' ').count() > 2;
        let key = if is_name { key } else { format!("{key} {}", episode.session_id) };
        draft.task = draft.mention(EntityKind::Task, &key, &episode.name);
        draft
    }

    /// Returns the blocks of each report and then of the last reply. Many sentences are searched
    /// for in them.
    pub(super) fn report_blocks(&self) -> &[Vec<ReportBlock>] {
        self.report_blocks.get_or_init(|| {
            let reports = self.evidence.reports.iter().map(|report| &report.text);
            let last = self.evidence.last_reply.iter().map(|reply| &reply.text);
            reports.chain(last).map(|text| condensed::blocks(text)).collect()
        })
    }

    /// Returns the run of `command` that printed the output at a position; `None` if the run is not
    /// in the evidence. A command has the position of its call, and a test run or an error has the
    /// position of its output.
    pub(super) fn command_at(&self, command: &str, output: Origin) -> Option<&'e CommandRun> {
        self.evidence.commands.iter().rfind(|run| {
            run.command == command
                && run.origin.source == output.source
                && run.origin.line <= output.line
        })
    }

    /// Returns the last report before a position in the same transcript.
    pub(super) fn report_before(&self, at: Origin) -> Option<&'e TurnReport> {
        let is_before = |report: &&TurnReport| at.follows(report.origin);
        self.evidence.reports.iter().rev().find(is_before)
    }

    /// Records that an entity is mentioned, and returns its id.
    pub(super) fn mention(&mut self, kind: EntityKind, key: &str, name: &str) -> EntityId {
        // Tools, such as test frameworks, and persons are the same entities in every project.
        let is_shared = matches!(kind, EntityKind::Tool | EntityKind::Person);
        let namespace = if is_shared { Namespace::default() } else { self.namespace };
        self.mention_in(namespace, kind, key, name)
    }

    pub(super) fn mention_in(
        &mut self,
        namespace: Namespace,
        kind: EntityKind,
        key: &str,
        name: &str,
    ) -> EntityId {
        let entity = EntityId::of(kind, namespace, key);
        self.mentions.entry(entity).or_insert_with(|| Mention {
            entity,
            kind,
            namespace,
            name: text::cut(name.trim(), MAX_NAME_CHARS),
            at: self.episode.ended_at,
        });
        entity
    }

    /// Returns the entities of these kinds that were mentioned so far.
    pub(super) fn mentioned(&self, kinds: &[EntityKind]) -> Vec<EntityId> {
        let mentions = self.mentions.values().filter(|mention| kinds.contains(&mention.kind));
        mentions.map(|mention| mention.entity).collect()
    }

    /// Returns the mentioned entity with this name.
    pub(super) fn mention_by_name(&self, name: &str) -> Option<EntityId> {
        let name = text::plain(name);
        let mut mentions = self.mentions.values();
        let found = mentions.find(|mention| text::plain(&mention.name) == name);
        found.map(|mention| mention.entity)
    }

    /// Whether the summary was derived from evidence alone, without a model.
    pub(super) fn is_from_evidence(&self) -> bool {
        self.episode.author == Author::Evidence
    }

    /// Records a mention of a file by its path in the transcript, and returns its id. Returns
    /// `None` for files that are not part of the work.
    pub(super) fn file(&mut self, path: &str) -> Option<EntityId> {
        let key = file_key(&self.episode.project, path)?;
        Some(self.mention(EntityKind::File, &key, &key))
    }

    /// Records a mention of a setting of a file, and returns its id.
    pub(super) fn setting(&mut self, file: &str, setting: &str) -> EntityId {
        let key = format!("{file}\n{setting}");
        self.mention(EntityKind::Setting, &key, setting)
    }

    /// Records mentions of all entities in `sentence`, and returns their ids.
    pub(super) fn mention_entities_in(&mut self, sentence: &str) -> Vec<EntityId> {
        let named = self.names.in_text(sentence);
        let mut found = Vec::new();
        for named in named {
            found.push(match named {
                NamedEntity::File(path) => self.mention(EntityKind::File, &path, &path),
                NamedEntity::Setting(setting, file) => self.setting(&file, &setting),
                NamedEntity::Symbol(key, name) => self.mention(EntityKind::Symbol, &key, &name),
            });
        }
        found
    }

    /// Returns the name of the task, for use within a sentence.
    pub(super) fn task_name(&self) -> String {
        text::cut(text::without_full_stop(&self.episode.name), MAX_TASK_CHARS)
    }

    /// Adds the claim that `relation` holds between `source` and `target`.
    pub(super) fn claim(
        &mut self,
        relation: Relation,
        source: EntityId,
        target: EntityId,
        claim: ClaimDraft,
    ) {
        let mut others = self.mention_entities_in(&claim.sentence);
        others.extend(claim.others);
        others.sort_unstable();
        others.dedup();
        others.retain(|other| *other != source && *other != target);
        others.truncate(MAX_OTHERS);
        let at = claim.at.unwrap_or_else(|| self.moments.of(&claim.origins));
        let origins = match claim.origins.is_empty() {
            true => self.nearest_line(&claim.sentence).into_iter().collect(),
            false => claim.origins,
        };
        let (key_source, key_target) =
            if claim.is_of_project { (self.project, self.project) } else { (source, target) };
        self.claims.push(Claim {
            key: FactKey::of(relation, key_source, key_target, &claim.detail),
            namespace: claim.namespace.unwrap_or(self.namespace),
            relation,
            source,
            target,
            others,
            sentence: text::cut(&claim.sentence, MAX_SENTENCE_CHARS),
            at,
            certainty: claim.certainty.unwrap_or(Certainty::Hypothesis),
            watches: claim.watches,
            origins,
            details: claim.details,
        });
    }

    /// Returns a line for a statement without origins: the line of the message that is its most
    /// likely source, or else the line of the last reply, or else the line of the first prompt.
    fn nearest_line(&self, sentence: &str) -> Option<Origin> {
        let evidence = self.evidence;
        let found = self.sentence_index.of(sentence).map(|found| found.origin);
        found
            .or_else(|| evidence.last_reply.as_ref().map(|reply| reply.origin))
            .or_else(|| evidence.prompts.first().map(|prompt| prompt.origin))
    }

    /// Adds a mark: an event that can end or confirm claims.
    pub(super) fn mark(&mut self, subject: Subject, at: Timestamp, says: Observation) {
        self.marks.push(Mark { subject, at, observation: says });
    }

    pub(super) fn rename(&mut self, rename: Rename) {
        self.renames.push(rename);
    }

    /// Returns the subject of `kind` in this project.
    pub(super) fn subject(&self, kind: &str, key: &str) -> Subject {
        Subject::of(kind, self.namespace, key)
    }

    /// Returns the certainty of a decision whose source is `found`. A choice or a sentence of the
    /// user is verified, an option that the user rejected is refuted, and anything else is a
    /// hypothesis.
    pub(super) fn certainty(&self, found: Option<SentenceSource>) -> Certainty {
        match found {
            Some(SentenceSource { by: Speaker::User, .. }) => Certainty::Verified,
            Some(SentenceSource { by: Speaker::UserRefusal, .. }) => Certainty::Refuted,
            _ => Certainty::Hypothesis,
        }
    }

    /// Returns the statements. Of several claims with the same key and time, keeps only the claim
    /// with the highest [`Certainty`]. Removes claims that repeat another claim in other words.
    pub(super) fn finish(self) -> Statements {
        let mut claims: Vec<Claim> = Vec::new();
        for claim in self.claims {
            match claims.iter_mut().find(|known| known.key == claim.key && known.at == claim.at) {
                Some(known) if known.certainty >= claim.certainty => {}
                Some(known) => *known = claim,
                None => claims.push(claim),
            }
        }
        without_repetitions(&mut claims);
        let mut marks: Vec<Mark> = Vec::new();
        for mark in self.marks {
            if !marks.contains(&mark) {
                marks.push(mark);
            }
        }
        Statements {
            created_at: self.episode.created_at,
            mentions: self.mentions.into_values().collect(),
            claims,
            marks,
            renames: self.renames,
        }
    }
}

/// Removes each claim that repeats another claim of the session in other words, if the other claim
/// has a higher [`Certainty`], of which `Refuted` is the highest, or the same certainty and comes
/// first in `claims`.
fn without_repetitions(claims: &mut Vec<Claim>) {
    let is_prose = |claim: &Claim| {
        matches!(
            claim.relation,
            Relation::FoundOut | Relation::CausedBy | Relation::DeadEnd | Relation::Decided
        )
    };
    let words: Vec<BTreeSet<u64>> = claims
        .iter()
        .map(|claim| {
            let label = claim.sentence.rfind(statement_states::DECIDED_FOR);
            let own = &claim.sentence[..label.unwrap_or(claim.sentence.len())];
            text::topic_words(own).into_iter().collect()
        })
        .collect();
    let repeats = |one: usize, other: usize| {
        let common = words[one].intersection(&words[other]).count();
        words[one].len() >= MIN_COMPARED_WORDS
            && common as f64 >= REPEATED_SHARE * words[one].len() as f64
    };
    let is_repeated = |at: usize| {
        is_prose(&claims[at])
            && (0..claims.len()).any(|other| {
                // Decisions with different origins may be different answers to one question.
                let are_decisions = claims[at].relation == Relation::Decided
                    && claims[other].relation == Relation::Decided
                    && claims[at].origins != claims[other].origins;
                let is_better = (claims[other].certainty, at) > (claims[at].certainty, other);
                let is_comparable =
                    is_prose(&claims[other]) || claims[other].relation == Relation::Resolved;
                at != other && !are_decisions && is_comparable && is_better && repeats(at, other)
            })
    };
    let repeated: Vec<bool> = (0..claims.len()).map(is_repeated).collect();
    let mut repeated = repeated.into_iter();
    claims.retain(|_| !repeated.next().unwrap_or_default());
}
