//! Records the words of the user and the agent: prompts, replies, choices and recaps.

use crate::{
    lang::prompt::slash_command,
    model::{
        evidence::{Choice, Correction, Evidence, Recap, Statement, StatementKind},
        transcript::{RecapKind, without_middle},
    },
    report::{Topic, is_phrase},
    summarize::{
        evidence::{
            bounds,
            collector::Collector,
            errors::{self, StatementSubject},
            moment::EntryPosition,
            notes,
            pending::{self, CallEffect},
            retries,
            retyped::retypes,
            statements::{self, ExtractedStatement},
        },
        lists::push_latest,
        recap,
    },
    text::{
        Block, around_gap, blocks, kept, one_line, pattern, sentences, spoken_sentences,
        without_code, without_opener,
    },
};

/// Commands that control the agent itself, one on each line. They are not part of the work.
const HOUSEKEEPING: &str = include_str!("housekeeping.txt");

/// Maximum length, in bytes, of a reply that only says that a result was already known.
const NOTICE: usize = 400;

/// Whether a reply to the notice that a background task has ended says that the agent already knew
/// the result.
fn is_stale_notice(text: &str) -> bool {
    text.len() <= NOTICE
        && sentences(&one_line(text)).first().is_some_and(|one| is_phrase(Topic::KnownNotice, one))
}

/// Maximum number of earlier reports that are searched for the options from which a prompt chooses.
const REPORTS_WITH_OPTIONS: usize = 2;
/// Number of words from which a prompt contains more than the picked option.
const PICK: usize = 5;
/// Maximum number of confirmed statements that are taken from a prompt.
const CONFIRMED: usize = 2;
/// Maximum length, in bytes, of a prompt that is searched for confirmed statements, and of the
/// beginning of the reply that is searched for the agreement.
const ASSERTION: usize = 400;

/// Returns the statements of the last prompt, if the agent's reply begins with an agreement. If the
/// prompt states nothing, returns the prompt together with the action that the agreement proposes.
/// Returns `None` for a prompt with a decision, because the decision is recorded separately.
fn confirmed(evidence: &Evidence, reply: &str) -> Option<Statement> {
    let prompt = evidence.prompts.last()?;
    let is_command = prompt.text.starts_with('<') || slash_command(&prompt.text).is_some();
    let is_first =
        evidence.last_reply.as_ref().is_none_or(|reply| reply.origin.line < prompt.origin.line);
    if !is_first || is_command || prompt.text.len() > ASSERTION {
        return None;
    }
    let opening = one_line(&reply[..reply.floor_char_boundary(ASSERTION)]);
    let agreement = sentences(&opening).first().copied();
    let agreement = agreement.filter(|one| is_phrase(Topic::Agreement, one))?;
    let all = spoken_sentences(&without_code(&prompt.text));
    if all.iter().any(|one| is_phrase(Topic::Choice, without_opener(one))) {
        return None;
    }
    let stated = all
        .iter()
        .map(String::as_str)
        .filter(|one| one.len() >= 30 && !one.ends_with('?') && !statements::asks_about(one))
        .filter(|one| stands_alone(one));
    let stated: Vec<&str> = stated.take(CONFIRMED).collect();
    let text = if stated.is_empty() {
        let agreed =
            pattern!(r"(?i), (?:so )?((?:we|it|this|that|the \w+) should\b.{8,120}?)[.!]?$")
                .captures(agreement)?;
        let asked = one_line(&prompt.text);
        format!("User: \"{asked}\" (the agent agreed: {})", &agreed[1])
    } else {
        format!("User: \"{}\" (the agent agreed)", stated.join(" "))
    };
    let kind = StatementKind::Discovery;
    Some(Statement { kind, text, origin: prompt.origin, reported: false })
}

/// Records the beginning of the first reply to a prompt, if the reply says that the user is right.
fn note_concession(evidence: &mut Evidence, reply: &str) {
    let Some(prompt) = evidence.prompts.last() else { return };
    let is_first =
        evidence.last_reply.as_ref().is_none_or(|reply| reply.origin.line < prompt.origin.line);
    let opening = one_line(&reply[..reply.floor_char_boundary(ASSERTION)]);
    if is_first
        && pattern!(r"(?i)^(?:oh|ah|yes|hmm)?,? ?you(?:.re| are) (?:\w+ )?right\b")
            .is_match(&opening)
    {
        let concession =
            EntryPosition { origin: prompt.origin, at: prompt.at }.quote(&opening, ASSERTION);
        push_latest(&mut evidence.concessions, concession, bounds::CHOICES);
    }
}

/// Whether a sentence contains no pronoun such as `it`, and is neither a question nor a retraction.
fn stands_alone(sentence: &str) -> bool {
    !pattern!(r"(?i)\b(?:it|this|these|they|them)\b|^(?:ok |okay |so |hmm |wait )*(?:that|is|isn.t|are|aren.t|does|doesn.t|do|don.t|can|could|would|why|what|how|i mean|i meant)\b")
        .is_match(sentence)
}

impl Collector {
    /// Records a prompt, which ends the previous turn.
    pub(super) fn prompt(&mut self, text: &str, moment: EntryPosition) {
        self.pending.errors.take_expectation();
        self.choose_in_conversation(text, moment);
        self.answer_in_prose(text, moment);
        let corrects = self.pending.corrects.take();
        let is_retyped = corrects.is_some() && retypes(&self.evidence, text);
        if is_retyped {
            self.evidence.prompts.pop();
        }
        if let Some(refused) = corrects.filter(|_| !is_retyped) {
            // If the agent replied after the refusal, the prompt is about the reply.
            let spoken = self.evidence.last_reply.as_ref().map(|reply| reply.origin);
            let is_next = self.evidence.last_result >= spoken;
            let is_in_refusal = self.evidence.last_result == Some(moment.origin);
            let (refused, stopped) = match is_in_refusal {
                true => (Some(refused), None),
                false => (None, Some(refused).filter(|call| !call.is_empty() && is_next)),
            };
            let correction = Correction { origin: moment.origin, refused, stopped };
            push_latest(&mut self.evidence.corrections, correction, bounds::CHOICES);
        }
        self.end_turn();
        self.evidence.counts.prompts += 1;
        self.evidence.counts.messages += 1;
        let ran = std::mem::take(&mut self.pending.shell_of_user);
        if ran.is_empty() {
            self.keep_prompt(text, moment);
        } else {
            self.keep_prompt(&format!("{text}\n\n(after `{ran}`)"), moment);
        }
    }

    /// Ends the turn: the agent's last reply is the report of the turn.
    fn end_turn(&mut self) {
        self.pending.reporting = false;
        for statement in std::mem::take(&mut self.evidence.report) {
            statements::add(&mut self.evidence.statements, statement);
        }
        (self.pending.turn_changed, self.pending.stashed) = (false, false);
        self.pending.document_bytes = 0;
        self.pending.failed_commands.clear();
        self.pending.notified = false;
        self.pending.replying = None;
    }

    /// Records a command of the agent program as a prompt if it asks for work.
    ///
    /// A shell command that the user ran is recorded with the prompt that follows it, because a
    /// prompt such as "fix these" refers to the output of the command.
    pub(super) fn command(&mut self, name: &str, args: &str, moment: EntryPosition) {
        if name == "!" {
            self.pending.shell_of_user = kept(args, bounds::SETTING);
        }
        if HOUSEKEEPING.lines().any(|command| command == name) {
            return;
        }
        let text = if args.is_empty() { name.to_owned() } else { format!("{name} {args}") };
        self.prompt(&text, moment);
    }

    /// Records the task of a sub-agent as a prompt in the sub-agent's file. This includes a file
    /// that is read as a session because the file of its parent is missing. In the file of a
    /// session that a user began, the task is ignored, because the user did not write it.
    pub(super) fn instruction(&mut self, text: &str, moment: EntryPosition) {
        self.evidence.is_instructed |= self.source == 0 && self.evidence.prompts.is_empty();
        if self.evidence.is_instructed {
            self.prompt(text, moment);
        } else if self.source != 0 {
            self.end_turn();
            self.keep_prompt(text, moment);
        }
    }

    pub(super) fn reply(&mut self, message: Option<&str>, text: &str, moment: EntryPosition) {
        self.count_message(message, true);
        if self.pending.notified && self.evidence.last_reply.is_some() && is_stale_notice(text) {
            return;
        }
        let evidence = &mut self.evidence;
        evidence.service_failure = None;
        let text = without_middle(text, bounds::REPLY_READ);
        note_concession(evidence, &text);
        if let Some(found) = confirmed(evidence, &text) {
            statements::add(&mut evidence.statements, found);
        }
        let working = statements::while_working(&text);
        for found in working.clone() {
            statements::add(&mut evidence.statements, found.at(moment.origin, false));
        }
        retries::record_explanation(&mut self.pending.failed_commands, &text);
        let same = message.is_some() && self.pending.replying.as_deref() == message;
        let whole = match &evidence.last_reply {
            Some(before) if same => format!("{}\n\n{text}", before.text),
            _ => text.clone().into_owned(),
        };
        evidence.report.clear();
        let asked =
            evidence.prompts.last().is_some_and(|asked| statements::asks_about(&asked.text));
        for found in statements::in_report(&whole, asked && !self.pending.turn_changed) {
            statements::add(&mut evidence.report, found.at(moment.origin, true));
        }
        evidence.last_reply = Some(moment.quote(&whole, bounds::LAST_REPLY));
        self.keep_report(&whole, asked, moment);
        self.pending.replying = message.map(|id| kept(id, bounds::NAME));
        self.record_causes_and_fixes(&working, &text, moment);
    }

    /// Counts a message of the agent once, even if it has several entries. Then records the changes
    /// of files by calls whose results were lost.
    pub(super) fn count_message(&mut self, message: Option<&str>, speaks: bool) {
        let is_new = match message {
            Some(id) => self.pending.is_new_message(&kept(id, bounds::NAME)),
            None => speaks,
        };
        if !is_new {
            return;
        }
        self.evidence.counts.messages += 1;
        while let Some(lost) = self.pending.lost_change(self.evidence.counts.messages) {
            if let CallEffect::Change(changes) = &lost.meaning {
                let moment = EntryPosition { origin: lost.origin, at: lost.at };
                self.files_changed(changes, || false, moment);
            }
        }
    }

    pub(super) fn answer(
        &mut self,
        call: &str,
        question: &str,
        answer: &str,
        moment: EntryPosition,
    ) {
        let waiting = self.pending.waiting(call);
        let options = waiting.and_then(|waiting| match &waiting.meaning {
            CallEffect::Questions(questions) => {
                questions.iter().find(|asked| asked.question == kept(question, bounds::QUESTION))
            }
            _ => None,
        });
        let header = options.and_then(|asked| asked.header.clone());
        let explanation = options.and_then(|asked| asked.explanation(answer));
        let options = options.map_or(&[] as &[String], |asked| &asked.options);
        let taken = pending::options_in_answer(options, answer);
        // An answer that contains no option was typed. It rejects no option.
        let typed = !options.is_empty() && taken.options.is_empty();
        let others = options.iter().filter(|one| !typed && !taken.options.contains(one));
        let (number, size) = bounds::ALTERNATIVES;
        let labels = taken.options.iter().map(|one| statements::option_label(one));
        // The middle of a long option was removed. The answer contains the whole option.
        let is_whole = taken.options.iter().all(|one| around_gap(one).is_none());
        let several = (taken.is_list && is_whole && taken.options.len() > 1)
            .then(|| labels.collect::<Vec<_>>().join("; "));
        let answer = several.as_deref().unwrap_or(answer);
        let choice = Choice {
            question: kept(question, bounds::QUESTION),
            answer: kept(answer, if typed { bounds::TYPED_ANSWER } else { bounds::ERROR_TEXT }),
            alternatives: others.take(number).map(|option| kept(option, size)).collect(),
            header,
            explanation,
            typed,
            ..Choice::default()
        };
        self.choose(choice, moment);
    }

    /// Records a choice that the user made at `moment`.
    pub(super) fn choose(&mut self, choice: Choice, moment: EntryPosition) {
        let choice = Choice { origin: moment.origin, at: moment.at, ..choice };
        let is_same = |known: &Choice| {
            known.question == choice.question
                && (known.answer == choice.answer || !statements::is_general(&choice.question))
        };
        self.evidence.choices.retain(|known| !is_same(known));
        push_latest(&mut self.evidence.choices, choice, bounds::CHOICES);
    }

    /// Records the choices that a prompt makes: `b` after a list of options, or `yes` after a
    /// recommendation. The options may be in an earlier report, because the user may first ask
    /// about them.
    fn choose_in_conversation(&mut self, prompt: &str, moment: EntryPosition) {
        let evidence = &self.evidence;
        let asked_at = evidence.prompts.last().map_or(0, |asked| asked.origin.line);
        let reply = evidence.last_reply.as_ref().filter(|reply| reply.origin.line > asked_at);
        let Some(reply) = reply else { return };
        let reports = evidence.reports.iter().rev().skip(1).take(REPORTS_WITH_OPTIONS);
        let earlier: Vec<&str> = reports.map(|report| report.text.as_str()).collect();
        let (number, size) = bounds::ALTERNATIVES;
        let says_more = prompt.split_whitespace().count() >= PICK;
        let words = says_more.then(|| kept(&one_line(prompt), bounds::TYPED_ANSWER));
        for chosen in statements::chosen(&reply.text, &earlier, prompt) {
            let others = chosen.alternatives.iter().take(number);
            let choice = Choice {
                question: kept(&chosen.question, bounds::QUESTION),
                answer: kept(&chosen.answer, bounds::TYPED_ANSWER),
                alternatives: others.map(|one| kept(one, size)).collect(),
                words: words.clone(),
                ..Choice::default()
            };
            self.choose(choice, moment);
        }
    }

    /// Records the prompt as the answer to a question whose dialogue the user refused, unless the
    /// prompt is a question or a command.
    fn answer_in_prose(&mut self, prompt: &str, moment: EntryPosition) {
        let Some(asked) = self.pending.refused.take() else { return };
        let prompt = prompt.trim();
        if prompt.ends_with('?') || prompt.starts_with('!') || slash_command(prompt).is_some() {
            return;
        }
        let number = bounds::ALTERNATIVES.0;
        let choice = Choice {
            question: asked.question,
            answer: kept(prompt, bounds::TYPED_ANSWER),
            alternatives: asked.options.into_iter().take(number).collect(),
            header: asked.header,
            typed: true,
            ..Choice::default()
        };
        self.choose(choice, moment);
    }

    /// Keeps the latest recap of each kind. Also keeps a short form of the recap at the previous
    /// compaction.
    pub(super) fn recap(&mut self, kind: RecapKind, text: &str, moment: EntryPosition) {
        let recaps = &mut self.evidence.recaps;
        let limit = match kind {
            RecapKind::Compaction => bounds::RECAP,
            RecapKind::Away => bounds::RECAP_BEFORE,
        };
        let places: Vec<usize> = (0..recaps.len()).filter(|at| recaps[*at].kind == kind).collect();
        let stay = usize::from(kind == RecapKind::Compaction);
        for at in places.iter().take(places.len().saturating_sub(stay)).rev() {
            recaps.remove(*at);
        }
        if let Some(before) = recaps.iter_mut().find(|recap| recap.kind == kind) {
            before.text = kept(&before.text, bounds::RECAP_BEFORE);
        }
        let text = kept(&recap::condensed(text), limit);
        recaps.push(Recap { kind, text, origin: moment.origin, at: moment.at });
    }

    fn keep_prompt(&mut self, text: &str, moment: EntryPosition) {
        notes::pasted_error(&mut self.evidence, text, moment);
        self.pasted_test_run(text, moment);
        notes::planned_checks(&mut self.evidence, text, moment);
        let prompts = &mut self.evidence.prompts;
        prompts.push(moment.quote(text, bounds::PROMPT));
        if prompts.len() > bounds::PROMPTS {
            prompts.remove(bounds::FIRST_PROMPTS);
            self.evidence.prompts_left_out += 1;
        }
    }

    /// Records causes and announced changes for errors that are fixed later. Also records
    /// statements that an error is not due to the agent's work.
    fn record_causes_and_fixes(
        &mut self,
        working: &[ExtractedStatement],
        text: &str,
        moment: EntryPosition,
    ) {
        let line = moment.origin.line;
        self.pending.errors.read_expectation(text);
        for found in working.iter().filter(|found| found.kind == StatementKind::Cause) {
            self.pending.errors.record_statement(line, StatementSubject::Cause, &found.text);
        }
        self.pending.errors.record_diagnosis(line, text);
        errors::note_known(&mut self.evidence.errors, text);
        let prose = blocks(text).into_iter().filter_map(|block| match block {
            Block::Paragraph(paragraph) => Some(one_line(&paragraph)),
            Block::Heading(lead_in) => Some(one_line(&lead_in)),
            Block::Item(_) => None,
        });
        for paragraph in prose {
            for intention in sentences(&paragraph).into_iter().filter_map(statements::intention) {
                self.pending.errors.record_statement(line, StatementSubject::Fix, &intention);
            }
        }
    }
}
