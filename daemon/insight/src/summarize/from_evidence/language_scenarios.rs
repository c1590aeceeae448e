//! Tests that sessions in other languages are summarised in the same way as sessions in English.

use crate::{
    model::{
        summary::{EnhancedSessionSummary, Outcome as Ending},
        transcript::{Item, Outcome},
    },
    summarize::{evidence::scenarios::Script, from_evidence::request::wording_scenarios::summary},
};

/// Returns the summary of a session with one request, one change and one report.
fn reported(prompt: &str, reply: &str) -> EnhancedSessionSummary {
    let mut script = Script::default();
    script.prompt(prompt);
    script.edit("a", "/app/export.py", "a = 1", "a = 2");
    script.reply("m1", reply);
    summary(&script)
}

#[test]
fn a_decision_in_any_language_has_its_reason_once() {
    for (reply, why) in [
        (
            "Done.\n\n**Decision:** a view instead of partitions, because the team cannot maintain partitions.",
            "cannot maintain",
        ),
        (
            "Fertig.\n\n**Entscheidung:** Sicht statt Partitionen, weil das Team Partitionen nicht pflegen kann.",
            "nicht pflegen",
        ),
        (
            "Fertig. Ich habe mich für eine Sicht statt Partitionen entschieden, weil das Team sie nicht pflegen kann.",
            "nicht pflegen",
        ),
        (
            "C'est fait.\n\n**Décision :** une vue plutôt que des partitions, car l'équipe ne peut pas les maintenir.",
            "ne peut pas",
        ),
        (
            "C'est fait. J'ai choisi une vue plutôt que des partitions, car l'équipe ne peut pas les maintenir.",
            "ne peut pas",
        ),
        (
            "Hecho. Decidí usar una vista en lugar de particiones, porque el equipo no puede mantenerlas.",
            "no puede",
        ),
        ("完成。我们决定使用视图而不是分区，因为团队无法维护分区。", "无法维护"),
        (
            "完了しました。\n\n**決定:** パーティションではなくビューを使います。理由: チームが保守できないため。",
            "保守できない",
        ),
        (
            "完了しました。チームがパーティションを保守できないため、マテリアライズドビューを選びました。",
            "保守できない",
        ),
    ] {
        let decided = reported("make the report faster", reply).key_decisions.unwrap_or_default();
        assert_eq!(decided.len(), 1, "{reply}: {decided:?}");
        assert!(decided[0].rationale.contains(why), "{reply}: {decided:?}");
        assert!(!decided[0].decision.contains(why), "{reply}: {decided:?}");
    }
}

#[test]
fn a_german_reason_is_separate_from_its_conjunction_and_decision() {
    for (reply, decision, reason) in [
        (
            "Fertig.\n\n**Entscheidung:** csv, weil pandas zu langsam ist.",
            "Csv",
            "Pandas zu langsam ist",
        ),
        (
            "Fertig.\n\n**Entscheidung:** Sicht statt Partitionen, weil das Team Partitionen nicht pflegen kann.",
            "Sicht statt Partitionen",
            "Das Team Partitionen nicht pflegen kann",
        ),
        (
            "Fertig. Weil das Team sie nicht pflegen kann, habe ich mich für eine Sicht statt Partitionen entschieden.",
            "Für eine Sicht statt Partitionen entschieden",
            "Das Team sie nicht pflegen kann",
        ),
    ] {
        let decided = reported("make the report faster", reply).key_decisions.unwrap_or_default();
        assert_eq!(decided.len(), 1, "{reply}: {decided:?}");
        let found = (&*decided[0].decision, &*decided[0].rationale);
        assert_eq!(found, (decision, reason), "{reply}");
    }
    for reply in [
        "Fertig. Weil der Test noch läuft, habe ich nichts am Server geändert.",
        "Fertig. Die Liste bleibt sortiert, weil der Leser sie so braucht.",
    ] {
        let decided = reported("make the report faster", reply).key_decisions;
        assert_eq!(decided.unwrap_or_default(), [], "{reply}");
    }
}

#[test]
fn remaining_failed_and_announced_work_is_not_done() {
    for (reply, is_open) in [
        ("Fertig. Die Migration muss noch auf der Produktion laufen.", true),
        ("Fertig. Das Dashboard ist noch nicht umgestellt.", true),
        ("Fertig. Offen bleibt nur die Umstellung des Dashboards.", true),
        ("Fertig. Nicht gemacht: Staging habe ich nicht geprüft.", true),
        ("Fertig. Noch nicht enthalten: das Segment B2B, dafür fehlen mir die Rechte.", true),
        ("Der Push ging nicht durch, weil der Server ihn ablehnt.", false),
        ("Die Zahlen sind da. Ich schreibe jetzt den Bericht über alle Zahlen.", false),
        ("C'est fait. Il reste à basculer le tableau de bord.", true),
        ("C'est fait. Le tableau de bord n'est pas encore basculé.", true),
        ("C'est fait. Non fait : je n'ai pas vérifié la préprod.", true),
        ("Hecho. El panel todavía no está cambiado en el servidor.", true),
        ("完成。仪表板还没有切换到新的视图。", true),
        ("完了しました。ダッシュボードはまだ切り替えていません。", true),
        ("完了しました。worker の設定は要確認です。", true),
        ("完了しました。本番への反映は田中さんの承認待ちです。", true),
        ("Done. The dashboard is not switched yet to the new view.", true),
        ("Done. Nobody owns the migration of the dashboard yet.", true),
        ("Done. Only the switch of the dashboard to the view remains.", true),
        ("Done. I have not looked at the pauses with many keys.", true),
        ("Done. The chapter is a placeholder; somebody from the team has to fill it.", true),
        ("Done. Production waits for the approval of the other team.", true),
    ] {
        let found = reported("clean up export.py", reply);
        assert_eq!(found.completed_tasks.unwrap_or_default(), Vec::<String>::new(), "{reply}");
        assert_eq!(found.next_steps.unwrap_or_default().len(), usize::from(is_open), "{reply}");
    }
}

#[test]
fn a_list_of_remaining_work_is_open_in_any_language() {
    for list in [
        "## 未対応\n- 古いアクセスキーの削除",
        "**残っていること**\n- HPA の閾値を見直す",
        "**残作業**\n- ダッシュボードの切り替え",
        "## 今後の課題\n- ダッシュボードの切り替え",
        "## 未处理\n- 切换仪表板的视图",
        "**Noch offen**\n- Handbuch ergänzen",
        "**残タスク**\n- ダッシュボードの切り替え",
        "**Noch zu erledigen**\n- Dashboard auf die neue Sicht umstellen",
        "**Pas encore fait**\n- basculer le tableau de bord",
        "- ✅ copied the old keys of the table\n- ⏳ switch the primary key of the table",
        "- ☐ switch the primary key of the table",
    ] {
        let found = reported("clean up export.py", &format!("完了しました。\n\n{list}"));
        assert_eq!(found.next_steps.unwrap_or_default().len(), 1, "{list}");
        let done = format!("{:?}", found.completed_tasks);
        let item = list.rsplit("- ").next().unwrap();
        assert!(!done.contains(item.trim_start_matches(['⏳', '☐', ' '])), "{list}: {done}");
    }
}

#[test]
fn work_that_the_user_interrupts_is_in_progress_in_any_language() {
    for prompt in [
        "stop, have to go to a meeting. we continue with the report tomorrow",
        "stopp, muss ins meeting. bericht machen wir morgen weiter",
        "stop, je dois partir en réunion. on continue demain",
        "para, tengo una reunión. seguimos mañana",
        "我要开会，明天继续。",
        "ごめん会議。続きは明日",
    ] {
        let mut script = Script::default();
        script.prompt("write the report docs/r.md");
        script.run("a", "cat numbers.csv", Outcome::Succeeded, "1\n2\n");
        script.reply("m1", "The numbers are there.");
        script.item(Item::Interrupted);
        script.prompt(prompt);
        script.reply("m2", "OK.");
        let found = summary(&script);
        assert_eq!(found.outcome, Ending::InProgress, "{prompt}");
        assert_eq!(found.outcome_reason.as_deref(), Some("postponed by the user"), "{prompt}");
        assert_eq!(found.key_decisions, None, "{prompt}");
    }
}

#[test]
fn what_the_user_wants_to_be_reminded_of_is_open() {
    for prompt in [
        "great. prod goes in on thursday at 6, remind me to run it then",
        "thanks. we need a runbook for the night shift, later",
        "thanks. Ravi still has to write the part about the alarms",
        "danke. erinnere mich daran, das Zertifikat zu erneuern",
        "merci. rappelle-moi de renouveler le certificat",
        "gracias. recuérdame renovar el certificado",
        "谢谢。提醒我更新服务器的证书。",
        "ありがとう。証明書の更新をリマインドして。",
    ] {
        let mut script = Script::default();
        script.prompt("Sort the names of the list");
        script.edit("a", "/app/list.rs", "a", "b");
        script.reply("m1", "The names are sorted.");
        script.prompt(prompt);
        script.reply("m2", "OK.");
        let steps = summary(&script).next_steps.unwrap_or_default();
        assert!(steps.iter().any(|step| step.starts_with("Postponed by the user: ")), "{prompt}");
    }
}

#[test]
fn the_cause_of_an_error_is_read_in_any_language() {
    let failed = "--- FAIL: TestEvict (0.00s)\n    evict_test.go:22: evicted key still has 3 tokens\nFAIL\nFAIL\tgateway/limiter\t0.412s";
    for reply in [
        "Fixed. TestEvict failed because evict kept a pointer into the slice.",
        "Behoben. TestEvict schlug fehl, weil evict einen Zeiger in den Slice hielt.",
        "Corrigé. TestEvict échouait parce que evict gardait un pointeur vers le slice.",
        "Corregido. TestEvict fallaba porque evict guardaba un puntero al slice.",
        "已修复。TestEvict 失败是因为 evict 保留了指向切片的指针。",
        "修正しました。TestEvict が失敗したのは、evict がスライスへのポインタを保持していたためです。",
    ] {
        let mut script = Script::default();
        script.prompt("go test ./... is red since yesterday, please fix it");
        script.run("a", "go test ./...", Outcome::Failed(Some(1)), failed);
        script.edit("b", "/app/limiter/evict.go", "a", "b");
        script.run("c", "go test ./...", Outcome::Succeeded, "ok  \tgateway/limiter\t0.398s");
        script.reply("m1", reply);
        let errors = summary(&script).errors_resolved.unwrap_or_default();
        assert_eq!(errors.len(), 1, "{reply}: {errors:?}");
        assert!(errors[0].root_cause.contains("evict "), "{reply}: {errors:?}");
    }
}
