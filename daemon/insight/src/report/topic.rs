//! The topics of headings and sentences, and the other kinds of sentences that rules distinguish.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Topic {
    Done,
    /// A decision and its reason.
    Decision,
    Finding,
    /// Why something went wrong.
    Cause,
    /// How a problem was fixed.
    Fix,
    /// An open task or decision.
    Open,
    /// A failure that existed before this work and is not part of it.
    KnownFailure,
    /// The session repaired failures that existed before its work.
    FixedFailure,
    /// A possible change or a plan; not a fact.
    Proposal,
    /// Instructions for use, and lists of files; not kept.
    Instruction,
    /// A lasting instruction of the user.
    Wish,
    /// The user describes how the program behaves, or what happened; not a wish.
    Symptom,
    /// The user takes back a wish.
    Withdrawal,
    /// The user says that something is no longer required, or no longer forbidden.
    Release,
    /// The user leaves work for a later time.
    Postponed,
    /// The user thanks or praises the agent.
    Thanks,
    /// The user interrupts the work of the session.
    Adjourned,
    /// The user gives up the work of the session.
    Abandonment,
    /// The user says that somebody else does a task, that nobody needs it, or that it is done.
    Settled,
    /// A choice of the user.
    Choice,
    /// A status, a symptom or a routine step that the user mentions; not a decision.
    Aside,
    /// The agent confirms a statement of the user.
    Agreement,
    /// The agent admits that a statement was wrong, or holds only under other conditions.
    Concession,
    /// The agent takes back an earlier statement of its own.
    Retraction,
    /// A result that a later result of the same work will replace.
    Interim,
    /// A task for the user, which stays open whatever the session does next.
    LeftToUser,
    /// A claim that nobody has verified, for example `this should work now`.
    Hope,
    /// The agent's answer to a notice about a background task whose result it already used.
    KnownNotice,
    /// A commit, push or pull request that the agent offers to make.
    PublishOffer,
    /// Praise of the result that does not say what was done, for example `production-ready`.
    Boast,
    /// A state that later work may have changed, for example `it works now`.
    Status,
    /// Text to the user that is not about the work: greetings, announcements.
    Talk,
    /// A prompt that says that the last attempt failed.
    StillFails,
    /// A prompt that asks the agent to do the last work differently.
    Objection,
    /// A supposition, or a hypothetical statement.
    Guess,
    /// A prompt that says that the agent's last statement is not true.
    Refutation,
    /// A prompt that objects to the agent's last statement, or says that it is about the wrong
    /// thing.
    Contradiction,
    /// A statement that an earlier finding no longer exists.
    Resolved,
    /// An attempt that failed or was given up.
    DeadEnd,
    /// A judgement, or general knowledge; not a fact about the project.
    Judgement,
    /// A phrase of a user who is not sure yet.
    Hedge,
    /// The beginning of a sentence that limits or contradicts the sentence before.
    Contrast,
    /// A sentence whose subject is a thing without a name.
    BareNoun,
    /// A request that begins with the verb of the requested work.
    Order,
    /// A remark of a user about an error that does not describe the error.
    ErrorRemark,
    /// A question that does not say what is decided, such as `Which approach?`.
    GeneralQuestion,
    /// A sentence about how the agent proceeds in its session.
    AgentStep,
    /// An open end that matters only in its session.
    Momentary,
    /// A state that the next work changes, or a defect that was just fixed.
    Temporary,
    /// A limit, an exception, a condition or a cause.
    Limit,
    /// Advice, a plan, an estimate, or something that is missing.
    Advice,
    /// Text to the user that says nothing about the work: praise, an announcement of a report.
    Courtesy,
    /// An offer or a question to the user about the next step.
    Offer,
    /// A sentence that refers to an earlier sentence.
    BackReference,
    /// A sentence about its own conversation, or about a change under review without its name.
    SessionReference,
    /// A request whose object is known only from the conversation.
    UnnamedObject,
    /// A prompt that asks only for a routine step, such as a commit.
    RoutineStep,
    /// A sentence that begins without the name of its subject.
    MissingSubject,
    /// The beginning of a line that cannot be understood without the line before it.
    Continuation,
    /// A sentence that says that work was done.
    FinishedWork,
    /// A sentence that says what the agent would do next.
    PlanAhead,
    /// A sentence that states a choice between alternatives.
    Alternative,
    /// A text that begins with a verb that orders work.
    OrderVerb,
    /// A text of the user that begins with a verb that orders work and is not a verb of
    /// [`Topic::OrderVerb`]. In a text of the agent, the verb may describe what the agent did.
    UserOrder,
    /// A sentence of the user that says that something fails as before.
    FailsAgain,
    /// A sentence that says that its work is not done.
    NotDone,
    /// A sentence of the user that says that its work is not done, or must not be done yet.
    NotNow,
    /// A sentence that limits itself to one task or to the present.
    OneTask,
    /// A text about something that does not work.
    Failure,
}

impl Topic {
    /// Returns the topic of a claim that contains a phrase of this topic; `None` for topics that
    /// only [`is_phrase`](super::is_phrase) uses.
    pub(super) fn of_claim(self) -> Option<Topic> {
        match self {
            Topic::LeftToUser => Some(Topic::Open),
            Topic::FixedFailure => Some(Topic::Fix),
            Topic::Done
            | Topic::Decision
            | Topic::Finding
            | Topic::Cause
            | Topic::Fix
            | Topic::Open
            | Topic::KnownFailure
            | Topic::Proposal
            | Topic::Instruction => Some(self),
            _ => None,
        }
    }
}
