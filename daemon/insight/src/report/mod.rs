//! Parses the reports that an agent writes at the end of its turns.
//!
//! Agents summarise their work in these reports, under headings that state the kind of the items.
//! The headings and phrases of the topics are data in `phrases`, for several languages. The code of
//! this module recognises only a few English phrases, such as phrases that ask for consent.
//!
//! Summaries and facts classify the sentences of prompts with the same data.

pub(crate) mod cache;
mod heading_patterns;
mod inline;
mod markdown;
mod phrases;
pub(crate) mod retraction;
mod source;
mod topic;

pub(crate) use self::{
    markdown::{Form, Passage, passages},
    phrases::{
        is_foreign_phrase, is_phrase, parts_of_decision, topic_of_heading, topic_of_sentence,
    },
    topic::Topic,
};
use crate::{
    model::{
        evidence::{Evidence, TurnReport},
        transcript::Origin,
    },
    text::{one_line, pattern, sentences},
};

/// All reports of a session, in the order of its turns.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    pub(crate) reports: Vec<Report>,
}

#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) origin: Origin,
    /// Whether the turn changed files or made a commit.
    pub(crate) changed: bool,
    /// Whether the report ends with a request for consent or a choice. If so, the items of the
    /// report are not decided yet.
    pub(crate) asks: bool,
    /// The first paragraph that is neither very short nor an announcement, as one line; `None` if
    /// that paragraph has a label.
    pub(crate) lead: Option<String>,
    /// The paragraphs at the start of the report, as one line. The opening ends before a heading, a
    /// list, a table, or a paragraph whose label announces a proposal or open work.
    pub(crate) opening: Option<String>,
    /// The statements of the report, in order.
    pub(crate) claims: Vec<Claim>,
    /// The paragraphs, items and rows of the report, in order.
    pub(crate) passages: Vec<Passage>,
}

/// One statement of a report.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claim {
    /// The topic; `None` if neither a heading nor the wording determines it.
    pub(crate) topic: Option<Topic>,
    /// The closest heading above.
    pub(crate) section: Option<String>,
    /// The number or letter of the item in a list or table.
    pub(crate) mark: Option<String>,
    /// The bold start of the passage.
    pub(crate) label: Option<String>,
    /// The text as one line, without the label.
    pub(crate) text: String,
    /// Whether a heading, a label or a check box determines the topic, rather than only the
    /// wording.
    pub(crate) headed: bool,
    /// Whether the claim is in a list or a table.
    pub(crate) listed: bool,
    /// Whether the claim is in a nested list.
    pub(crate) nested: bool,
    /// The short form of the item above a nested item.
    pub(crate) parent: Option<String>,
    /// The position of the report in the transcript.
    pub(crate) origin: Origin,
}

impl Reports {
    pub(crate) fn of(evidence: &Evidence) -> Reports {
        Reports { reports: evidence.reports.iter().map(Report::of).collect() }
    }

    /// Returns all claims on a topic, in order.
    pub(crate) fn on(&self, topic: Topic) -> impl Iterator<Item = &Claim> {
        let claims = self.reports.iter().flat_map(|report| &report.claims);
        claims.filter(move |claim| claim.topic == Some(topic))
    }
}

impl Report {
    pub(crate) fn of(report: &TurnReport) -> Report {
        let passages = passages(&report.text);
        Report {
            origin: report.origin,
            changed: report.changed,
            asks: passages.last().is_some_and(asks_for_consent),
            lead: lead(&passages),
            opening: opening(&passages),
            claims: claims(&passages, report.origin),
            passages,
        }
    }

    /// Returns the sentences of the report, each label together with the sentence after it. Omits
    /// open work, proposals, and failures that existed before the work.
    pub(crate) fn finished_work(&self) -> impl Iterator<Item = String> {
        let is_unfinished = |topic: Option<Topic>| {
            matches!(topic, Some(Topic::Open | Topic::Proposal | Topic::KnownFailure))
        };
        // A heading or a label describes all sentences of a claim, and a sentence only itself.
        let claims =
            self.claims.iter().filter(move |claim| !is_unfinished(claim.topic) || !claim.headed);
        claims.flat_map(move |claim| {
            let label = claim.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
            let text = format!("{label}{}", claim.text);
            let finished = sentences(&text).into_iter();
            let finished = finished
                .filter(|sentence| claim.headed || !is_unfinished(topic_of_sentence(sentence)));
            finished.map(str::to_owned).collect::<Vec<_>>()
        })
    }

    /// Returns whether the report has enough content to represent the session's work.
    pub(crate) fn has_substance(&self) -> bool {
        self.lead.as_ref().is_some_and(|lead| lead.len() >= 90) || self.claims.len() >= 3
    }

    /// Returns whether the report ends with an announcement of work. If so, the turn was stopped
    /// before this work.
    pub(crate) fn announces(&self) -> bool {
        let last = self.passages.last().map_or("", |passage| passage.text.as_str());
        let last = sentences(last).pop().unwrap_or_default();
        pattern!(r"(?i)^(?:now,? |first,? |so,? )*(?:let me|let's|i'll|i will|i need to|i'm going to|next,? i)\b")
            .is_match(last)
            && !pattern!(r"(?i)\b(?:let me know|i'll wait|once you|when you|if you)\b").is_match(last)
    }

    /// Returns whether the report makes proposals rather than stating facts: its turn changed
    /// nothing, and the report asks for consent or mostly proposes.
    pub(crate) fn proposes(&self) -> bool {
        !self.changed && (self.asks || self.mostly_proposes())
    }

    /// Returns whether at least a third of the claims are proposals, or the report lists several
    /// solutions.
    pub(crate) fn mostly_proposes(&self) -> bool {
        let count =
            |is: &dyn Fn(&Claim) -> bool| self.claims.iter().filter(|claim| is(claim)).count();
        let proposals = count(&|claim| claim.topic == Some(Topic::Proposal));
        // A series of problems, each with a solution, is a review with proposals.
        let solutions = count(&|claim| {
            claim.label.as_deref().is_some_and(|label| label.eq_ignore_ascii_case("solution"))
        });
        proposals * 3 >= self.claims.len().max(1) || solutions >= 2
    }
}

/// If a paragraph ends with a sentence that introduces omitted code, that is, with a colon, ends
/// this sentence with a full stop. A sentence without a name in back quotes is removed instead.
fn end_introduction(paragraph: &mut String) {
    let introduction = sentences(paragraph).pop().filter(|one| one.ends_with(':'));
    let Some(introduction) = introduction else { return };
    let start = paragraph.len() - introduction.len();
    if introduction.contains('`') {
        paragraph.pop();
        paragraph.push('.');
    } else {
        paragraph.truncate(start);
    }
}

/// Adds a full stop to a paragraph that ends without punctuation.
fn end_sentence(paragraph: &mut String) {
    let text = paragraph.trim_end();
    if text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | ')' | '/')) {
        paragraph.truncate(text.len());
        paragraph.push('.');
    }
}

/// Whether the items below a heading or an introduction are the contents of a written text.
pub(crate) fn announces_contents(text: &str) -> bool {
    let writing = pattern!(
        r"(?i)\b(?:file|docs?|document\w*|guide|todo|page|plan|readme|spec|notes?|\w+\.md`?)\b.{0,40}\b(?:includ|contain|captur|outlin|cover|document|describ|explain|list)(?:e?s|ing|ed)?\b.{0,24}$"
    );
    introduces_contents(text) || writing.is_match(text)
}

/// Whether the contents of a written text follow a sentence, as in `Added a page, covering:`.
fn introduces_contents(text: &str) -> bool {
    contents_mark().is_match(text)
}

fn contents_mark() -> std::sync::Arc<regex::Regex> {
    pattern!(
        r"(?i),? \b(?:that |which )?(?:cover|document|describ|explain)(?:e?s|ing)(?: the following)?:?$"
    )
}

/// Whether a passage asks for consent or a choice, as in `Looks good?` or `Which one?`. An offer
/// such as `Want me to commit?` does not count, because the claims do not depend on the answer.
fn asks_for_consent(passage: &Passage) -> bool {
    let all = sentences(&passage.text);
    let chooses = all.iter().any(|one| one.starts_with("Which ") && one.ends_with('?'));
    let last = all.last().copied().unwrap_or_default().to_lowercase();
    if pattern!(r"^(?:so,? |now,? )?(?:what|which|how) would you like\b").is_match(&last) {
        return true;
    }
    let is_offer =
        ["want me", "should i", "shall i", "would you like me", "do you want me", "anything else"];
    chooses || last.ends_with('?') && !is_offer.iter().any(|offer| last.contains(offer))
}

fn lead(passages: &[Passage]) -> Option<String> {
    let is_lead = |passage: &&Passage| {
        let announces = ["Here's", "Here is", "Here are", "Below", "Let me", "Now "];
        passage.form == Form::Paragraph
            && passage.text.len() >= 12
            && !passage.text.ends_with(':')
            && !announces.iter().any(|start| passage.text.starts_with(start))
    };
    let lead = passages.iter().find(is_lead);
    lead.filter(|lead| lead.label.is_none()).map(|lead| lead.text.clone())
}

fn opening(passages: &[Passage]) -> Option<String> {
    let opening = passages.iter().take_while(|passage| passage.form == Form::Paragraph);
    let mut opening: Vec<String> = opening
        .take_while(|passage| passage.headings.len() == passages[0].headings.len())
        .take_while(|passage| {
            let topic = passage.label.as_deref().and_then(topic_of_heading);
            !matches!(topic, Some(Topic::Proposal | Topic::Open))
        })
        .map(|passage| {
            let label = passage.label.as_deref().map_or(String::new(), |label| {
                if passage.text.is_empty() { label.to_owned() } else { format!("{label}: ") }
            });
            format!("{label}{}", passage.text)
        })
        .collect();
    let last = opening.len().saturating_sub(1);
    opening[..last].iter_mut().for_each(end_introduction);
    opening[..last].iter_mut().for_each(end_sentence);
    let opening = opening.iter().map(|one| one.trim()).filter(|one| !one.is_empty());
    let opening = opening.collect::<Vec<_>>();
    Some(opening.join(" ")).filter(|opening| !opening.is_empty())
}

fn claims(passages: &[Passage], origin: Origin) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut before: Option<&Passage> = None;
    let mut introduction: Option<&Passage> = None;
    for passage in passages {
        // The contents of a written text are not completed work.
        if passage.form == Form::Paragraph {
            introduction = Some(passage).filter(|one| introduces_contents(&one.text));
        } else if introduction.is_some_and(|one| one.headings == passage.headings)
            || passage.headings.last().is_some_and(|last| introduces_contents(last))
        {
            continue;
        }
        // A paragraph after a list or table does not belong to the heading any more.
        let is_after_list = passage.form == Form::Paragraph
            && before.is_some_and(|before| {
                before.form != Form::Paragraph && before.headings.starts_with(&passage.headings)
            });
        let headings = if is_after_list { &[] } else { passage.headings.as_slice() };
        if passage.form == Form::Paragraph
            && passage.label.is_none()
            && topic_of(headings).is_none()
        {
            for sentence in sentences(&passage.text) {
                let passage = Passage { text: sentence.to_owned(), ..passage.clone() };
                claims.extend(Claim::of(&passage, headings, origin));
            }
        } else {
            claims.extend(Claim::of(passage, headings, origin));
        }
        if !is_after_list {
            before = Some(passage);
        }
    }
    claims
}

/// Whether a label announces the result of the work.
pub(crate) fn is_result(label: &str) -> bool {
    pattern!(r"(?i)^(?:results?|status|outcome)$").is_match(label)
}

/// Returns the topic of the text below `headings`; the innermost heading with a topic decides.
fn topic_of(headings: &[String]) -> Option<Topic> {
    headings.iter().rev().find_map(|heading| topic_of_heading(heading))
}

impl Claim {
    fn of(passage: &Passage, headings: &[String], origin: Origin) -> Option<Claim> {
        let (listed, nested) = match passage.form {
            Form::Paragraph => (false, false),
            Form::Row => (true, false),
            Form::Item { depth, .. } => (true, depth > 1),
        };
        let of_box = match passage.form {
            Form::Item { ticked: Some(false), .. } => Some(Topic::Open),
            Form::Item { ticked: Some(true), .. } => Some(Topic::Done),
            _ => None,
        };
        let label = passage.label.as_deref();
        let of_label = || label.and_then(topic_of_heading);
        let is_result = label.is_some_and(is_result);
        let first = sentences(&passage.text).first().copied().unwrap_or_default().to_owned();
        let of_words = || topic_of_sentence(&first);
        let words = of_words();
        // Under a heading of proposals or instructions, the wording of a text does not matter. Text
        // worded as an instruction is an instruction under any other heading.
        let topic = match (topic_of(headings), words) {
            (Some(topic @ (Topic::Proposal | Topic::Instruction)), _) => Some(topic),
            (_, Some(Topic::Instruction)) => Some(Topic::Instruction),
            // `**Result**: Not working yet` is open.
            (_, Some(Topic::Open)) if is_result => words,
            // Sections of completed work also contain decisions, open tasks and known failures.
            (Some(Topic::Done), Some(Topic::Decision | Topic::Open | Topic::KnownFailure)) => words,
            // `Example sequence: Updated to show it` was done.
            (headings, Some(Topic::Done)) if of_label() == Some(Topic::Proposal) => {
                headings.or(words)
            }
            // `Test coverage` below `Left for later` is open.
            (Some(Topic::Open), words) if of_label() == Some(Topic::Done) => {
                words.filter(|words| *words == Topic::Done).or(Some(Topic::Open))
            }
            (headings, words) => of_box.or_else(of_label).or(headings).or(words),
        };
        let headed = of_box.or_else(of_label).or_else(|| topic_of(headings)).is_some();
        let text = one_line(&passage.text);
        let text = contents_mark().replace(&text, "").into_owned();
        (!text.is_empty() || label.is_some()).then(|| Claim {
            topic,
            headed,
            section: headings.last().cloned(),
            mark: passage.mark.clone(),
            // The heading shows to which work the result belongs.
            label: headings.last().filter(|_| is_result).or(passage.label.as_ref()).cloned(),
            text,
            listed,
            nested,
            parent: passage.parent.clone(),
            origin,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_ends_or_omits_a_sentence_that_introduces_code() {
        // The code itself is not kept with a report.
        let opening = |first: &str| {
            let text = format!("{first}\n\nThe name is short.\n");
            Report::of(&TurnReport { text, ..TurnReport::default() }).opening.unwrap()
        };
        let server =
            "The server runs again with the old settings of all the users that were in it.";
        assert_eq!(
            opening(&format!("{server} The client sees them at the next start of the program:")),
            format!("{server} The name is short.")
        );
        let named = "The configuration has a function `name()` that returns the agent that was set or found";
        assert_eq!(opening(&format!("{named}:")), format!("{named}. The name is short."));
    }

    #[test]
    fn the_contents_of_a_written_page_are_not_claims() {
        let text = "## Guide\nAdded a page with ten points that each reader of the guide should know, covering:\n- **Speed**: parallel loading\n- **Safety**: checks\n\n## Other\n- Renamed the loader\n";
        let report = TurnReport { text: text.to_owned(), changed: true, ..TurnReport::default() };
        let texts: Vec<String> =
            Report::of(&report).claims.into_iter().map(|claim| claim.text).collect();
        assert_eq!(
            texts,
            [
                "Added a page with ten points that each reader of the guide should know",
                "Renamed the loader"
            ]
        );
    }
}
