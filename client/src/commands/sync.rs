//! `graphiti sync`: indexes earlier sessions that have no summary yet.

use graphiti_proto::{
    methods,
    tools::sync_history::{NAME, SyncHistoryAnswer, SyncHistoryArguments},
};

use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Bar, Screen, ago, instant, line, now},
};

pub(super) fn run(args: cli::Sync, screen: &Screen) -> Result<(), AskError> {
    let arguments = SyncHistoryArguments {
        project: super::project(args.project),
        days: args.days,
        max_sessions: args.limit,
        dry_run: !args.run,
        again: args.again,
    };
    let mut connection = Connection::open_for_work()?;
    if args.again {
        connection.require(methods::SYNC_AGAIN, "`--again`")?;
    }
    let mut bar = Bar::new(screen.width());
    let answer: SyncHistoryAnswer =
        connection.call_watched(NAME, &arguments, |step| bar.show(step))?;
    drop(bar);
    if args.output.json {
        screen.print_json(&answer);
        return Ok(());
    }
    screen.print(line(&answer.message));
    if !answer.dry_run && answer.actual_cost > 0.0 {
        screen.print(format!("The model cost {:.4} dollars.", answer.actual_cost));
    }
    if args.again {
        if answer.dry_run && answer.sessions_found > 0 {
            screen.print("To request them again, repeat the command with --run.");
        }
    } else if answer.dry_run && answer.sessions_found > 0 {
        preview(&answer, screen);
    }
    Ok(())
}

fn preview(answer: &SyncHistoryAnswer, screen: &Screen) {
    let tokens = answer.estimated_tokens;
    let cost = match &answer.model {
        None => "no model is called".to_owned(),
        Some(model) if answer.price_known => {
            format!("about {:.2} dollars for {}", answer.estimated_cost, line(model))
        }
        Some(model) => {
            format!("the price of {} is not known: set session_tracking.llm.price", line(model))
        }
    };
    screen.print(screen.dim(format!("about {tokens} tokens; {cost}")));
    for session in &answer.sessions {
        let when = ago(instant(&session.modified), now());
        screen.print(format!("  {when:>14}  {}", line(&session.path)));
    }
    if answer.sessions_found > answer.sessions.len() {
        let more = answer.sessions_found - answer.sessions.len();
        screen.print(screen.dim(format!("  … and {more} more")));
    }
    screen.print("To index them, repeat the command with --run.");
}
