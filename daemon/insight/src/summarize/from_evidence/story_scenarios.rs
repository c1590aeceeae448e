//! Tests with short sessions in which work is reverted, postponed, replaced, refused or fixed.

use crate::{
    model::transcript::{ChangeKind, Item, Outcome},
    summarize::{
        evidence::scenarios::{Script, change},
        from_evidence::request::wording_scenarios::{summary, title},
        markdown::to_page,
    },
};

#[test]
fn a_reverted_commit_is_no_title_and_is_marked() {
    let mut script = Script::default();
    script.prompt("Make the amount parser faster, the import is slow.");
    script.edit("a", "/app/parser.rs", "a", "b");
    let printed = "[main 1a2b3c4] Cache the amount parser";
    script.run("b", "git commit -m 'Cache the amount parser'", Outcome::Succeeded, printed);
    script.reply("m1", "It is as slow as before.");
    script.prompt("revert it. We leave the parser as it is.");
    let printed = "[main 2b3c4d5] Revert \"Cache the amount parser\"";
    script.run("c", "git revert --no-edit HEAD", Outcome::Succeeded, printed);
    script.reply("m2", "Reverted.");
    assert_eq!(title(&script), "Make the amount parser faster, the import is slow");
    let done = summary(&script).completed_tasks.unwrap();
    assert_eq!(done[0], "Cache the amount parser (commit `1a2b3c4`) (reverted later)");
}

#[test]
fn work_that_is_left_as_an_open_question_is_not_announced() {
    let mut script = Script::default();
    script.prompt("The totals are off. Fix them.");
    script.edit("a", "/app/ledger.rs", "a", "b");
    script.reply("m1", "Fixed: amounts are decimal now.");
    script.prompt("ask Ben about the rounding, we do that next week. bye");
    script.reply("m2", "OK. I will leave the rounding as an open question for Ben.");
    let found = summary(&script);
    assert_ne!(found.outcome_reason.as_deref(), Some("ended before the announced work"));
    assert!(found.next_steps.unwrap().iter().any(|step| step.contains("rounding")));
}

#[test]
fn work_noted_for_tomorrow_stays_open_until_it_is_done() {
    let mut script = Script::default();
    script.prompt("Keep the sessions in Redis");
    script.edit("a", "/app/store.rs", "a", "b");
    script.reply("m1", "Done. Tomorrow: fix the parser of dates.");
    script.prompt("use Postgres for the sessions instead");
    script.edit("b", "/app/store.rs", "b", "c");
    script.reply("m2", "Sessions are in Postgres now.");
    let open = summary(&script).next_steps.unwrap_or_default();
    assert!(open.iter().any(|step| step.contains("parser of dates")), "{open:?}");
    script.prompt("fix the parser of dates");
    script.edit("c", "/app/dates.rs", "a", "b");
    script.reply("m3", "Fixed the parser of dates.");
    let open = summary(&script).next_steps.unwrap_or_default();
    assert!(!open.iter().any(|step| step.contains("parser of dates")), "{open:?}");
}

#[test]
fn a_report_with_an_old_value_of_a_setting_is_left_out() {
    let mut script = Script::default();
    script.prompt("Sessions are lost on restart. Keep them somewhere else.");
    script.edit("a", "/app/app.yml", "session_backend: memory\n", "session_backend: redis\n");
    script.reply("m1", "The `session_backend` is `redis` now, so that sessions survive a restart.");
    script.prompt("we have no Redis, use Postgres");
    script.edit("b", "/app/app.yml", "session_backend: redis\n", "session_backend: postgres\n");
    script.reply("m2", "Sessions are kept in Postgres now.");
    let page = to_page(&summary(&script), "");
    assert!(!page.contains("is `redis` now"), "{page}");
}

#[test]
fn a_setting_that_the_request_states_is_recorded_but_not_printed_again() {
    let mut script = Script::default();
    script.prompt("Change the setting request_timeout in app.yml to 60, customers are far away.");
    script.edit("a", "/app/app.yml", "request_timeout: 30\n", "request_timeout: 60\n");
    script.reply("m1", "Changed.");
    let found = summary(&script);
    assert_eq!(found.config_changes.as_ref().unwrap()[0].new_value, "60");
    assert!(!to_page(&found, "").contains("## Settings"));
}

#[test]
fn a_short_order_that_names_code_is_the_objective() {
    let mut script = Script::default();
    script.prompt("fix test_add_twice");
    script.edit("a", "/app/cart.py", "a", "b");
    script.reply("m1", "Fixed: `add` adds to the count.");
    script.prompt("and set the timeout to 60, customers abroad are slow");
    script.edit("b", "/app/app.yml", "timeout: 30\n", "timeout: 60\n");
    script.reply("m2", "timeout is 60 now.");
    let objective = summary(&script).objective;
    assert!(
        objective.starts_with("Fix test_add_twice. Later: set the timeout to 60"),
        "{objective}"
    );
}

#[test]
fn a_request_to_continue_has_the_title_of_its_commit() {
    let mut script = Script::default();
    script.prompt("continue with what is left");
    script.edit("a", "/app/slug.rs", "a", "b");
    let printed = "[main 1a2b3c4] Redirect the old slugs";
    script.run("b", "git commit -m 'Redirect the old slugs'", Outcome::Succeeded, printed);
    script.reply("m1", "Nothing is left.");
    assert_eq!(title(&script), "Redirect the old slugs");
}

#[test]
fn a_test_that_passed_after_a_change_has_the_stated_cause_and_fix() {
    let mut script = Script::default();
    script.prompt("test_add_twice in test_cart.py fails since yesterday, please fix it");
    let failed =
        "FAILED test_cart.py::test_add_twice - assert 1 == 2\n1 failed, 1 passed in 0.10s\n";
    script.run("a", "pytest -q", Outcome::Failed(Some(1)), failed);
    script.reply("m1", "add() overwrites the count instead of adding to it.");
    script.edit("b", "/app/cart.py", "a", "b");
    script.run("c", "pytest -q", Outcome::Succeeded, "2 passed in 0.10s\n");
    script.reply("m2", "Fixed.");
    let errors = summary(&script).errors_resolved.unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].error.starts_with("test_add_twice failed"), "{errors:?}");
    assert!(errors[0].root_cause.contains("overwrites the count"), "{errors:?}");
    assert_eq!(errors[0].verification, "`pytest -q`: 2 passed");
}

#[test]
fn the_text_at_a_refusal_is_not_the_first_request_after_a_command() {
    let mut script = Script::default();
    script.prompt("/github-pr-review");
    script.reply("m1", "One comment is open, so I add a migration of the old field.");
    script.refused_edit(
        "e",
        "/app/state.rs",
        "can we create a new patch PR which renames the field on main instead?",
    );
    script.edit("f", "/app/other.rs", "a", "b");
    script.reply("m2", "Created the patch.");
    let objective = summary(&script).objective;
    assert!(objective.starts_with("Run the `/github-pr-review` command"), "{objective}");
    assert!(objective.contains("patch PR"), "{objective}");
}

#[test]
fn a_question_after_a_refused_edit_is_not_open_after_an_answer() {
    let mut script = Script::default();
    script.prompt("Add the agent's name to the log of the hooks");
    let edit = change("/app/state.rs", ChangeKind::Edited, "a", "b");
    script.call("e", "Edit", edit);
    script.result("e", Outcome::Rejected, "");
    script.item(Item::Interrupted);
    script.prompt("how can we know which agent is active?");
    let open = summary(&script).next_steps.unwrap();
    let asked = "refused the edit of `state.rs` and asked: how can we know which agent is active?";
    assert!(open.iter().any(|step| step.contains(asked)), "{open:?}");
    script.reply("m1", "The function `agent()` returns it.");
    let open = summary(&script).next_steps.unwrap();
    let answered = "The user refused the edit of `state.rs`; it was not made";
    assert!(open.iter().any(|step| step == answered), "{open:?}");
}

#[test]
fn a_change_that_git_restored_is_not_uncommitted() {
    for command in ["git checkout deploy.sh", "git restore deploy.sh", "git reset --hard HEAD"] {
        let mut script = Script::default();
        script.prompt("Add a rollback to deploy.sh");
        script.edit("a", "/app/deploy.sh", "a", "b");
        script.prompt("stop, we do not need a rollback. undo that");
        script.run("b", command, Outcome::Succeeded, "Updated 1 path from the index");
        script.reply("m1", "Undone.");
        let found = summary(&script);
        let state = found.repository.unwrap_or_default();
        assert!(!state.contains("deploy.sh"), "{command}: {state}");
        assert_eq!(found.files_modified, None, "{command}");
    }
}

#[test]
fn a_closing_politeness_does_not_replace_the_report() {
    let mut script = Script::default();
    script.prompt("Set N to 2 and commit");
    script.edit("a", "/app/m.rs", "a", "b");
    script.reply("m1", "Set the limit of the loop in `m.rs` to 2 and committed it.");
    script.prompt("thanks, that is all for today");
    script.reply("m2", "You are welcome! I will be here tomorrow.");
    let words = summary(&script).last_words.unwrap();
    assert!(words.contains("limit of the loop in `m.rs`"), "{words}");
}

#[test]
fn only_lasting_instructions_are_wishes() {
    for (prompt, wanted) in [
        ("You should never have deleted that test, restore it.", None),
        ("From now on it should be faster, measure it.", None),
        (
            "Could you always answer in short sentences?",
            Some("\"Could you always answer in short sentences?\""),
        ),
        ("Stop using mocks in tests.", Some("\"Stop using mocks in tests.\"")),
    ] {
        let mut script = Script::default();
        script.prompt(prompt);
        script.reply("m1", "OK.");
        let wishes = summary(&script).preferences.unwrap_or_default();
        assert_eq!(wishes.first().map(String::as_str), wanted, "{prompt}");
    }
}

#[test]
fn a_request_that_was_carried_out_is_not_dropped() {
    let dropped = |is_done: bool| {
        let mut script = Script::default();
        script.prompt("Set the limit of a.txt to 0");
        if is_done {
            script.edit("a", "/app/a.txt", "1", "0");
        }
        script.reply("m1", "The limit is 0, which switches the reader off.");
        script.prompt("Never mind, leave it.");
        script.reply("m2", "OK.");
        let decided = summary(&script).key_decisions.into_iter().flatten();
        decided.into_iter().any(|record| record.decision.starts_with("Dropped"))
    };
    assert!(dropped(false));
    assert!(!dropped(true));
}

#[test]
fn decisions_of_the_agent_may_be_stated_in_advance_or_with_a_colon() {
    for (reply, wanted) in [
        (
            "I will use an integer instead of a float, because the loop counts whole steps.",
            "integer",
        ),
        ("I decided against N = 3: the table would not fit into the cache.", "N = 3"),
        ("There are two options. **Decision:** Redis, because it expires keys by itself.", "Redis"),
    ] {
        let mut script = Script::default();
        script.prompt("Choose a type for the counter and use it");
        script.reply("m1", reply);
        script.edit("a", "/app/a.rs", "1", "0");
        script.reply("m2", "It is in `a.rs` now.");
        let decided = format!("{:?}", summary(&script).key_decisions);
        assert!(decided.contains(wanted), "{reply}: {decided}");
    }
}

#[test]
fn open_steps_are_not_listed_as_done() {
    let mut script = Script::default();
    script.prompt("Write the exporter");
    script.edit("a", "/app/export.rs", "a", "b");
    script.reply(
        "m1",
        "Added `export` for tables with a header. Left to do: write the docs of the exporter.",
    );
    script.prompt("now add tests");
    script.edit("b", "/app/tests.rs", "a", "b");
    script.reply("m2", "Added tests for two tables.");
    let found = summary(&script);
    let done = format!("{:?} {:?}", found.completed_tasks, found.last_words);
    assert!(!done.contains("docs of the exporter"), "{done}");
    let open = found.next_steps.unwrap_or_default();
    assert!(open.iter().any(|step| step.contains("docs of the exporter")), "{open:?}");
}

#[test]
fn what_the_agent_says_between_a_failure_and_its_fix_is_the_cause() {
    let jest = "FAIL ./sum.test.js\n  \u{2715} adds 1 + 2 to equal 3 (3 ms)\n\n  \u{25cf} adds 1 + 2 to equal 3\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 3\n    Received: -1\n\nTests:       1 failed, 4 passed, 5 total\nTest Suites: 1 failed, 1 total";
    let go = "--- FAIL: TestAdd (0.00s)\n    main_test.go:7: Add(2,3) = -1, want 5\nFAIL\nFAIL\texample.com/calc\t0.002s\nFAIL";
    let python = "Traceback (most recent call last):\n  File \"/srv/app.py\", line 1, in <module>\n    import yaml\nModuleNotFoundError: No module named 'yaml'";
    for (command, failed, cause, file, succeeded) in [
        (
            "npm test",
            jest,
            "Sum subtracts because of a typo",
            "/app/sum.js",
            "PASS ./sum.test.js\nTests:       5 passed, 5 total\nTest Suites: 1 passed, 1 total",
        ),
        ("go test ./...", go, "Add subtracts", "/app/main.go", "ok  \texample.com/calc\t0.002s"),
        (
            "pip install -q -r requirements.txt && python3 app.py",
            python,
            "PyYAML is missing in requirements.txt",
            "/app/requirements.txt",
            "started",
        ),
    ] {
        let mut script = Script::default();
        script.prompt("it fails, please look");
        script.run("a", command, Outcome::Failed(Some(1)), failed);
        script.reply("m1", &format!("{cause}."));
        script.edit("b", file, "a", "b");
        script.run("c", command, Outcome::Succeeded, succeeded);
        script.reply("m2", "It works again.");
        let errors = summary(&script).errors_resolved.unwrap_or_default();
        assert_eq!(errors.len(), 1, "{command}: {errors:?}");
        assert_eq!(errors[0].root_cause, cause, "{command}");
    }
}

#[test]
fn a_reset_after_a_commit_restores_nothing() {
    let mut script = Script::default();
    script.prompt("Sort the names of the list");
    script.edit("a", "/app/list.rs", "a", "b");
    let printed = "[names 1a2b3c4] Sort the names";
    script.run("b", "git commit -m 'Sort the names'", Outcome::Succeeded, printed);
    let reset = "git fetch && git reset --hard origin/names";
    script.run("c", reset, Outcome::Succeeded, "HEAD is now at 1a2b3c4 Sort the names");
    script.reply("m1", "Sorted the names in `list.rs` before they are printed, in any language.");
    let found = summary(&script);
    assert!(format!("{found:?}").contains("Sorted the names in `list.rs`"), "{found:?}");
}

#[test]
fn a_commit_that_was_applied_again_is_not_reverted() {
    let mut script = Script::default();
    script.prompt("Cache the parser");
    script.edit("a", "/app/parser.rs", "a", "b");
    for (id, printed) in [
        ("b", "[main 1a2b3c4] Cache the parser"),
        ("c", "[main 2b3c4d5] Revert \"Cache the parser\""),
        ("d", "[main 3c4d5e6] Reapply \"Cache the parser\""),
    ] {
        let command =
            if id == "b" { "git commit -m 'Cache the parser'" } else { "git revert HEAD" };
        script.run(id, command, Outcome::Succeeded, printed);
    }
    script.reply("m1", "The cache is in again.");
    let done = summary(&script).completed_tasks.unwrap();
    assert!(done.iter().all(|one| !one.contains("reverted later")), "{done:?}");
}

#[test]
fn a_key_within_another_word_states_no_value() {
    let mut script = Script::default();
    script.prompt("Write the report and move the server");
    script.edit("a", "/app/report.md", "a", "b");
    script.reply("m1", "The report is complete: it lists the sessions of each day.");
    script.prompt("now the server, port 8080 please");
    script.edit("b", "/app/app.yml", "port: 8000\n", "port: 8080\n");
    script.reply("m2", "It listens at 8080.");
    let found = format!("{:?}", summary(&script));
    assert!(found.contains("The report is complete"), "{found}");
}

#[test]
fn a_merged_pull_request_is_the_work_of_a_session_without_commits() {
    let mut script = Script::default();
    script.prompt("Ben approved 8, merge it");
    let printed = "\u{2713} Squashed and merged pull request acme/rev#8 (Raise N to 2)\n";
    script.run("a", "gh pr merge 8 --squash", Outcome::Succeeded, printed);
    script.reply("m1", "Merged.");
    assert_eq!(summary(&script).completed_tasks.unwrap(), ["Merged pull request #8"]);
}

#[test]
fn changes_of_live_systems_are_listed_with_their_last_values() {
    let mut script = Script::default();
    script.prompt("the nightly report is slow, please tune the database");
    let applied = "aws_db_instance.main: Modifications complete after 3m\n\nApply complete! Resources: 0 added, 1 changed, 0 destroyed.";
    for (id, command, output) in [
        ("a", "psql prod -c \"CREATE INDEX CONCURRENTLY by_day ON orders (day)\"", "CREATE INDEX"),
        ("b", "psql prod -c \"ALTER ROLE report SET work_mem = '256MB'\"", "ALTER ROLE"),
        ("c", "psql prod -c \"ALTER ROLE report SET work_mem = '64MB'\"", "ALTER ROLE"),
        ("d", "psql prod -c \"DROP INDEX sales.by_day\"", "DROP INDEX"),
        ("e", "kubectl -n prod scale deploy/report --replicas=2", "deployment.apps/report scaled"),
        ("f", "kubectl -n prod scale deploy/report --replicas=3", "deployment.apps/report scaled"),
        ("g", "terraform apply -auto-approve", applied),
        ("h", "ansible-playbook web.yml -l prod", "PLAY RECAP: gw1 : ok=7 changed=0 failed=0"),
    ] {
        script.run(id, command, Outcome::Succeeded, output);
    }
    script.run("i", "systemctl restart nginx", Outcome::Failed(Some(1)), "Access denied");
    script.reply("m1", "The report takes 3 s now.");
    let found = summary(&script);
    let wanted = "Changed outside of the repository: `ALTER ROLE report SET work_mem = '64MB'` (psql prod); `kubectl -n prod scale deploy/report --replicas=3`; `terraform apply -auto-approve` (0 added, 1 changed, 0 destroyed)";
    assert_eq!(found.completed_tasks.unwrap()[0], wanted);
}

#[test]
fn the_verdict_of_a_review_and_a_new_issue_are_listed() {
    let mut script = Script::default();
    script.prompt("Jonas hat nachgebessert, bitte PR #412 nochmal reviewen");
    script.run("a", "gh pr diff 412", Outcome::Succeeded, "+ Math.max(0, x)");
    script.run("b", "gh pr review 412 --request-changes -b 'Two points'", Outcome::Succeeded, "");
    script.run("c", "gh pr review 412 --approve", Outcome::Succeeded, "");
    let command = "gh issue create --title 'SHOP-88: amounts in cents' --body 'see #412'";
    let address = "https://github.com/ada/shop/issues/88\n";
    script.run("d", command, Outcome::Succeeded, address);
    script.reply("m1", "Beide Punkte sind behoben.");
    assert_eq!(
        summary(&script).completed_tasks.unwrap(),
        ["Approved pull request #412", "Opened the issue “SHOP-88: amounts in cents” (#88)"]
    );
}

#[test]
fn a_figure_that_the_agent_takes_back_is_not_done() {
    for (first, objection, second) in [
        (
            "Sharding does it: **118k req/s**, p99 4.1 ms (was 41k / 18.2 ms), so 2.9x.",
            "was that on your laptop? laptop numbers are worthless, use bench01",
            "Right, the 118k was with turbo boost. On bench01: **96.2k req/s**, p99 5.2 ms.",
        ),
        (
            "Der Churn in Q3 liegt bei **7,9 %**. Als gekündigt zähle ich nach 60 Tagen.",
            "kann nicht sein, Q2 war 4,3. und Finance zählt 30 Tage",
            "Korrigiert. Die 7,9 % waren falsch: der Join zählte doppelt. Es sind **4,6 %**.",
        ),
        (
            "Le taux de Q3 est de **7,9 %**, avec un délai de 60 jours.",
            "impossible, la finance compte 30 jours",
            "Exact, les 7,9 % étaient faux. Le taux est de **4,6 %**.",
        ),
        (
            "第三季度的流失率是 7.9 %，按 60 天计算。",
            "不可能，财务按 30 天计算",
            "你说得对，7.9 % 是错的。流失率是 4.6 %。",
        ),
        (
            "第3四半期の解約率は 7.9 % です。60 日で数えました。",
            "おかしい。経理は30日で数える",
            "確かに、7.9 % は誤りでした。解約率は 4.6 % です。",
        ),
        (
            "La tasa de Q3 es del **7,9 %**, con un plazo de 60 días.",
            "imposible, finanzas cuenta 30 días",
            "Cierto, el 7,9 % era incorrecto. La tasa es del **4,6 %**.",
        ),
    ] {
        let mut script = Script::default();
        script.prompt("numbers for Q3 please");
        script.edit("a", "/app/churn.sql", "a", "b");
        script.reply("m1", first);
        script.prompt(objection);
        script.edit("b", "/app/churn.sql", "b", "c");
        script.reply("m2", second);
        let done = summary(&script).completed_tasks.unwrap_or_default().join("\n");
        assert!(!done.contains("60") && !done.contains("4.1 ms"), "{first}: {done}");
    }
}

#[test]
fn an_interim_result_is_no_finding_after_the_final_result() {
    for interim in [
        "Zwischenstand: mit dem Index 31 s statt 94 s. Für das Dashboard reicht das noch nicht.",
        "Interim result: 31 s with the index instead of 94 s. That is not enough for the dashboard.",
        "Point d'étape : 31 s avec l'index au lieu de 94 s. Cela ne suffit pas au tableau de bord.",
        "Resultado provisional: 31 s con el índice en vez de 94 s. No basta para el panel.",
        "初步结果：用索引要 31 秒，之前是 94 秒。对仪表板来说还不够。",
        "途中経過：インデックスで 94 秒から 31 秒になりました。ダッシュボードにはまだ足りません。",
    ] {
        let mut script = Script::default();
        script.prompt("The query of the dashboard is slow, can you find out why?");
        script.run("a", "psql -f q.sql", Outcome::Succeeded, "Time: 31102.018 ms");
        script.reply("m1", interim);
        script.prompt("then take a materialized view");
        script.edit("b", "/app/view.sql", "a", "b");
        script.reply("m2", "The materialized view takes 2.8 s, so the dashboard works again.");
        let found = summary(&script);
        let texts = [found.discoveries, found.completed_tasks];
        let all = texts.into_iter().flatten().flatten().collect::<Vec<_>>().join("\n");
        assert!(!all.contains("31"), "{interim}: {all}");
    }
}

#[test]
fn the_content_of_a_post_mortem_is_not_the_work_of_its_session() {
    let mut script = Script::default();
    script.prompt("On fait le post-mortem de jeudi. Ton neutre.");
    let text = "# Post-mortem\n\n## Actions\n- [x] délai maximal de 60 s pour les transactions\n- [ ] validation par l'équipe comptable\n";
    let written = change("/app/docs/postmortem-2026-11-13.md", ChangeKind::Written, "", text);
    script.call("a", "Write", written);
    script.result("a", Outcome::Succeeded, "");
    script.reply("m1", "Le post-mortem est dans `docs/postmortem-2026-11-13.md`.\n\nReste à faire :\n- faire valider le document par l'équipe comptable");
    let found = summary(&script);
    assert_eq!(found.next_steps.unwrap(), ["Faire valider le document par l'équipe comptable"]);
    let done = found.completed_tasks.unwrap_or_default();
    assert!(!done.iter().any(|line| line.contains("60 s")), "{done:?}");
}

#[test]
fn a_remark_that_the_agent_only_acknowledges_is_no_title() {
    let mut script = Script::default();
    script.prompt("Jonas hat nachgebessert, bitte nochmal schauen");
    script.run("a", "gh pr diff 412", Outcome::Succeeded, "+ Math.max(0, x)");
    script.reply("m1", "Beide Punkte sind behoben. Ich habe den PR freigegeben.");
    script.prompt("merge mach ich selber heute abend");
    script.reply("m2", "Alles klar.");
    assert_eq!(title(&script), "Jonas hat nachgebessert, bitte nochmal schauen");
    assert!(!summary(&script).objective.contains("heute abend"));
}

#[test]
fn a_finding_does_not_repeat_the_first_prompt() {
    let found = |asked: &str, answer: &str| {
        let mut script = Script::default();
        script.prompt(asked);
        script.reply("m1", answer);
        script.prompt("merci, regarde aussi les tests de la caisse");
        script.reply("m2", "Les tests de la caisse sont verts, et ils couvrent aussi les deux nouveaux cas de la remise, y compris celui du panier vide.");
        summary(&script).discoveries.unwrap_or_default().join("\n")
    };
    let asked =
        "Kannst du PR #412 von Jonas reviewen? Kommentare auf Deutsch, freundlich, höchstens fünf";
    let shown = found(asked, "Die Funktion `apply` kann einen negativen Betrag ergeben.");
    assert!(shown.contains("negativen Betrag") && !shown.contains("freundlich"), "{shown}");
    let shown = found("Jonas a corrigé, tu peux revoir ?", "Oui, c'est bon.");
    assert!(!shown.contains("Oui") || shown.contains("tu peux revoir"), "{shown}");
}

/// Returns a session that leaves three points open, which the user answers.
fn answered_list(answer: &str) -> Script {
    let mut script = Script::default();
    script.prompt("uploads over 20 MB fail with 413. raise the limit and stream to disk");
    script.edit("a", "/app/upload.ts", "a", "b");
    script.reply(
        "m1",
        "Uploads are streamed.\n\n**Still open**\n1. nginx still has `client_max_body_size 20m`\n2. A half written file stays on disk when the client disconnects\n3. There is no progress event for the pages",
    );
    script.prompt(answer);
    script.reply("m2", "Okay: I clean up half written files next, the rest is settled.");
    script
}

#[test]
fn a_list_that_the_user_answers_by_number_keeps_what_is_left() {
    for answer in [
        "1 does Omar, he has the keys. 2 we need, but tomorrow. 3 forget it",
        "1: Omar does it\n2: yes, tomorrow\n3: no",
        "do 2 tomorrow, the others are not important",
        "1 macht Omar. 2 brauchen wir, aber morgen. 3 vergiss es",
        "1は田中さんに頼みます。2は明日お願いします。3は不要です。",
    ] {
        let found = summary(&answered_list(answer));
        let open = format!("{:?}", found.next_steps);
        assert!(open.contains("half written file"), "{answer}: {open}");
        assert!(!open.contains("nginx") && !open.contains("progress"), "{answer}: {open}");
        assert!(found.objective.starts_with("Uploads over 20 MB"), "{}", found.objective);
        assert!(!found.objective.contains("nginx"), "{}", found.objective);
        let decided = format!("{:?}", found.key_decisions);
        assert!(!decided.contains("decision: \"Nginx"), "{answer}: {decided}");
    }
}

#[test]
fn numbers_that_the_user_postpones_stay_open() {
    let found = summary(&answered_list("number 1 is done already, 2 and 3 later"));
    let open = format!("{:?}", found.next_steps);
    assert!(!open.contains("nginx"), "{open}");
    assert!(open.contains("half written") && open.contains("no progress event"), "{open}");
}

#[test]
fn a_task_for_somebody_else_is_neither_open_nor_the_objective() {
    let mut script = Script::default();
    script.prompt("change a");
    script.edit("a", "/app/a.py", "a", "b");
    script.reply(
        "m1",
        "Done.\n\nLeft to do:\n- Load test against the carrier sandbox before Black Friday (their limit is 50 req/s)\n- Add a metric for the hit rate",
    );
    script.prompt("great thx. the load test is for Priya, not us");
    script.reply("m2", "Okay, Priya does it.");
    let found = summary(&script);
    let open = found.next_steps.unwrap_or_default();
    assert_eq!(open, ["Add a metric for the hit rate"]);
    assert!(found.objective.to_lowercase().starts_with("change a"), "{}", found.objective);
}

#[test]
fn an_open_end_that_the_user_settled_is_not_in_the_last_words() {
    let mut script = Script::default();
    script.prompt("the disk is full again, /var/uploads has old files. install something that cleans it daily");
    script.edit("a", "/app/ops/cleanup.timer", "a", "b");
    script.reply("m1", "A systemd timer deletes files in `/var/uploads` that are older than a day; it still has to be enabled on the server with `systemctl enable --now cleanup.timer`.");
    script.prompt("enabled it on prod just now, works");
    script.reply("m2", "Great, nothing is left open from my side.");
    let words = summary(&script).last_words.unwrap_or_default();
    assert!(words.contains("deletes files"), "{words}");
    assert!(!words.contains("still has to be enabled"), "{words}");
}

#[test]
fn a_correction_after_an_interruption_is_not_the_objective() {
    let mut script = Script::default();
    script.prompt("continue with the job queue: insert_job and the timeout thing");
    script.edit("a", "/app/db.py", "a", "b");
    script.edit("b", "/app/migrations/9.sql", "a", "b");
    script.item(Item::Interrupted);
    script.prompt("stop!! dont touch the migrations, Marta does the index. remove that file");
    script.edit("c", "/app/carrier.py", "a", "b");
    script.reply("m1", "Removed the file, and the timeout is reported now.");
    let found = summary(&script);
    assert!(found.objective.contains("insert_job and the timeout"), "{}", found.objective);
    assert!(!found.objective.starts_with("Stop"), "{}", found.objective);
}

/// Returns the decisions of a session in which the user answers what the agent says.
fn decided(said: &str, answer: &str) -> Vec<String> {
    let mut script = Script::default();
    script.prompt("the carrier returns 503 a few times a day. retry it 3 times");
    script.edit("a", "/app/carrier.py", "a", "b");
    script.reply("m1", said);
    script.prompt(answer);
    script.edit("b", "/app/other.py", "a", "b");
    script.reply("m2", "Okay, that is done.");
    let decided = summary(&script).key_decisions.unwrap_or_default();
    decided.iter().map(|one| format!("{} ({})", one.decision, one.rationale)).collect()
}

#[test]
fn a_short_answer_has_what_the_agent_said_directly_before() {
    let said = "The carrier is retried now, with tests.\n\nOne thing I noticed: `resp` is `None` when all attempts time out. I left that open.";
    let found = decided(said, "ok leave it, will do that with the webhook rework");
    assert!(found[0].contains("after: One thing I noticed: `resp` is `None`"), "{found:?}");
}

#[test]
fn a_bare_correction_decides_nothing() {
    let said = "The pool keeps one connection for all requests. Shall I change that?";
    for answer in [
        "no, that's wrong.",
        "nope, we open a new connection per request.",
        "no thats not it, only deploys kill the session.",
    ] {
        assert!(decided(said, answer).is_empty(), "{answer}: {:?}", decided(said, answer));
    }
}

#[test]
fn a_decision_to_stay_with_something_is_quoted_with_its_reason() {
    let said = "The parser was switched to TOML. The conversion of the fixtures was interrupted.";
    for (answer, wanted) in [
        (
            "helm people all have yaml anyway, we stay with yaml. throw it away. instead give a better error message",
            "helm people all have yaml anyway, we stay with yaml. throw it away.",
        ),
        (
            "no, third party actions are not allowed by security. back to npm then, everywhere. forget pnpm",
            "back to npm then, everywhere. forget pnpm",
        ),
        (
            "accounting uses ctrl+f all day. drop the whole thing, stay with pagination",
            "accounting uses ctrl+f all day. drop the whole thing",
        ),
        (
            "Die Buchhaltung sucht in YAML, wir bleiben bei YAML. Bitte ändere nur die Meldung.",
            "wir bleiben bei YAML.",
        ),
    ] {
        let found = format!("{:?}", decided(said, answer));
        assert!(found.contains(wanted), "{answer}: {found}");
    }
}

#[test]
fn a_pick_after_a_reason_is_a_decision() {
    let said =
        "Two ways:\n1. Partitions of the table\n2. A materialized view\n\nWhich one do you prefer?";
    for answer in [
        "the DBA team wants no partitions, so 2. refresh at 03:15",
        "Partitionen will das DBA-Team nicht, also 2",
    ] {
        let found = format!("{:?}", decided(said, answer));
        assert!(found.contains("materialized view"), "{answer}: {found}");
    }
}

#[test]
fn leaving_for_a_meeting_is_no_decision() {
    for answer in [
        "stop, i have a meeting. we do the report tomorrow",
        "stopp, muss ins meeting. bericht machen wir morgen weiter",
        "stop, réunion. on reprend le rapport demain",
        "ごめん会議。 続きは明日",
    ] {
        let mut script = Script::default();
        script.prompt("Write the forecast for the fourth quarter and the report");
        script.edit("a", "/app/forecast.py", "a", "b");
        script.item(Item::Interrupted);
        script.prompt(answer);
        script.reply("m1", "Okay, see you then.");
        let found = summary(&script).key_decisions;
        assert_eq!(found, None, "{answer}");
    }
}
