//! Tests of the collector with dialogues between the user and the agent: refusals, interruptions,
//! agreement, picked options, typed answers and accepted plans.

use std::borrow::Cow;

use crate::{
    model::{
        evidence::StatementKind,
        transcript::{
            Action, ChangeKind, Entry, Item, LazyText, Outcome, ToolResult, UserQuestion,
        },
    },
    summarize::evidence::{
        Collector,
        scenarios::{Script, change},
    },
};

#[test]
fn the_text_at_a_refusal_is_a_correction_of_the_call() {
    let mut script = Script::default();
    script.prompt("Fix the race");
    script.call("e", "Edit", change("/app/a.go", ChangeKind::Edited, "a", "b"));
    let mut collector = Collector::new(0);
    for (entry, line) in &script.entries {
        collector.observe(entry, *line);
    }
    let refusal = ToolResult {
        call: Cow::Borrowed("e"),
        outcome: Outcome::Rejected,
        content: LazyText::plain(""),
    };
    // The text that the user types when refusing a call is on the same line as the result.
    for item in [Item::Result(refusal), Item::Prompt(Cow::Borrowed("branch and PR."))] {
        collector.observe(&Entry { at: None, uuid: None, sub_agent: None, caller: None, item }, 3);
    }
    let corrections = &collector.evidence().corrections;
    assert_eq!(corrections.len(), 1);
    assert_eq!(corrections[0].refused.as_deref(), Some("Edit /app/a.go"));
}

#[test]
fn a_prompt_after_an_interruption_is_a_correction() {
    let mut script = Script::default();
    script.prompt("Add a comment");
    script.item(Item::Interrupted);
    script.prompt("not as a comment, but as a document");
    script.prompt("go on");
    let corrections = script.collect().corrections;
    assert_eq!((corrections.len(), corrections[0].origin.line), (1, 3));
    assert_eq!(corrections[0].refused, None);
}

#[test]
fn statements_that_the_agent_agrees_with_are_findings_of_the_user() {
    let mut script = Script::default();
    script.prompt("Add the name to the log");
    script.reply("m1", "Added it.");
    script.prompt("ok. nothing calls `WithAgent`, so the name is never logged. where does it go?");
    script.reply("m2", "You're right. Let me look.");
    script.prompt("let's use one file, since it is easier to lock");
    script.reply("m3", "Good point.");
    script.prompt("why can't we just use real booleans?");
    script.reply("m4", "You're right, we should use real booleans. Let me fix it.");
    script.prompt("it would be great if it did not commit");
    script.reply("m5", "You're right.");
    let evidence = script.collect();
    let found: Vec<&str> = evidence
        .statements
        .iter()
        .filter(|one| one.kind == StatementKind::Discovery)
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(
        found,
        [
            "User: \"nothing calls `WithAgent`, so the name is never logged.\" (the agent agreed)",
            "User: \"why can't we just use real booleans?\" (the agent agreed: we should use real booleans)",
        ]
    );
}

#[test]
fn a_chosen_option_is_kept_with_its_explanation_and_the_whole_prompt() {
    let mut script = Script::default();
    let question = UserQuestion {
        question: "How is a folder shared?".to_owned(),
        options: vec!["Instant".to_owned(), "Hybrid".to_owned()],
        explanations: vec![String::new(), "Instant, but it can be hidden".to_owned()],
        ..UserQuestion::default()
    };
    script.call("q", "AskUserQuestion", Action::Ask(vec![question]));
    script.item(Item::Answer {
        call: Cow::Borrowed("q"),
        question: Cow::Borrowed("How is a folder shared?"),
        answer: Cow::Borrowed("Hybrid"),
    });
    script.reply("m1", "Which size?\n\nA) Small files only\nB) Files of any size");
    script.prompt("b. also a requirement is that it works offline");
    let choices = script.collect().choices;
    assert_eq!(choices[0].explanation.as_deref(), Some("Instant, but it can be hidden"));
    assert_eq!(choices[1].answer, "Files of any size");
    assert_eq!(choices[1].words.as_deref(), Some("b. also a requirement is that it works offline"));
}

#[test]
fn a_typed_answer_rejects_no_option() {
    let mut script = Script::default();
    let question = UserQuestion {
        header: Some("Next".to_owned()),
        question: "What is next?".to_owned(),
        options: vec!["Fix all".to_owned(), "Done".to_owned()],
        ..UserQuestion::default()
    };
    script.call("q", "AskUserQuestion", Action::Ask(vec![question]));
    script.item(Item::Answer {
        call: Cow::Borrowed("q"),
        question: Cow::Borrowed("What is next?"),
        answer: Cow::Borrowed("commit it, then address H1"),
    });
    let choice = script.collect().choices.remove(0);
    assert!(choice.typed && choice.alternatives.is_empty());
}

#[test]
fn a_long_option_is_found_in_the_answer() {
    let options = [
        "Использовать существующую таблицу сессий (рекомендуется)",
        "Создать новую таблицу сессий в отдельной базе данных сервера",
        "Хранить сессии в памяти",
    ];
    let choice = |answer: String| {
        let question = UserQuestion {
            question: "Где хранить сессии?".to_owned(),
            options: options.map(str::to_owned).to_vec(),
            explanations: vec!["Без миграции".to_owned(), String::new(), String::new()],
            ..UserQuestion::default()
        };
        let mut script = Script::default();
        script.call("q", "AskUserQuestion", Action::Ask(vec![question]));
        script.item(Item::Answer {
            call: Cow::Borrowed("q"),
            question: Cow::Borrowed("Где хранить сессии?"),
            answer: Cow::Owned(answer),
        });
        script.collect().choices.remove(0)
    };
    let picked = choice(options[0].to_owned());
    assert!(!picked.typed);
    assert_eq!(picked.answer, options[0]);
    assert_eq!(picked.explanation.as_deref(), Some("Без миграции"));
    assert_eq!(picked.alternatives.len(), 2);
    assert_eq!(picked.alternatives[1], options[2]);
    let both = choice(format!("{}, {}", options[0], options[1]));
    assert_eq!(both.answer, format!("{}, {}", options[0], options[1]));
    assert_eq!(both.alternatives, [options[2]]);
    // The answer begins as an option, but ends in other words.
    assert!(choice("Использовать существующую таблицу в Redis".to_owned()).typed);
}

#[test]
fn an_accepted_plan_keeps_its_approach() {
    let mut script = Script::default();
    let plan = "# Plan: Use sled\n\n## Approach\n\nOne tree for each record kind, opened once.\n";
    script.call("p", "ExitPlanMode", Action::ProposePlan { plan: plan.to_owned() });
    script.result("p", Outcome::Succeeded, "");
    let choice = script.collect().choices.remove(0);
    assert_eq!((choice.question.as_str(), choice.answer.as_str()), ("Plan: Use sled", "accepted"));
    assert_eq!(choice.approach.as_deref(), Some("One tree for each record kind, opened once."));
}

#[test]
fn several_picked_options_are_all_chosen_and_the_others_rejected() {
    let mut script = Script::default();
    script.prompt("Build the cache");
    let options = ["Cache", "Cache with limits - evicts", "Metrics - a page", "Nothing"];
    let question = UserQuestion {
        question: "Which parts?".to_owned(),
        options: options.map(str::to_owned).to_vec(),
        ..UserQuestion::default()
    };
    script.call("q", "AskUserQuestion", Action::Ask(vec![question]));
    script.item(Item::Answer {
        call: Cow::Borrowed("q"),
        question: Cow::Borrowed("Which parts?"),
        answer: Cow::Borrowed("Cache with limits - evicts, Metrics - a page"),
    });
    let choice = script.collect().choices.remove(0);
    assert_eq!(choice.answer, "Cache with limits; Metrics");
    assert_eq!(choice.alternatives, ["Cache", "Nothing"]);
}
