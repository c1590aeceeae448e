//! The page of the model calls and their cost.

use axum::extract::State;
use graphiti_proto::methods::models::{USAGE, UsageReport, UsageRequest, UsageRow};
use maud::{Markup, html};

use super::{PageAnswer, parts::text};
use crate::{
    api::in_process,
    clock,
    model::Namespace,
    view::{
        layout::{NavItem, ViewPage},
        state::SharedView,
        texts::{self, T},
    },
};

const DAYS: u32 = 90;

pub(in crate::view) async fn page(State(view): State<SharedView>) -> PageAnswer {
    let daemon = view.daemon()?;
    let request = UsageRequest { days: DAYS };
    let report: UsageReport = in_process::method(&daemon, USAGE, &request).await?;
    let name = |namespace: &str| {
        let path = Namespace::parse(namespace).and_then(|one| daemon.engine.projects().path(one));
        path.unwrap_or_else(|| namespace.to_owned())
    };
    let calls: u64 = report.rows.iter().map(|row| row.calls).sum();
    let today: String = clock::now().to_string().chars().take(10).collect();
    let calls_today: u64 =
        report.rows.iter().filter(|row| row.day == today).map(|row| row.calls).sum();
    let body = html! {
        h1 { (T.usage) }
        dl .figures {
            div { dt { (T.model) } dd { @if report.model.is_empty() { (T.no_model) } @else { (text(&report.model)) } } }
            div { dt { (T.calls_today) } dd { (calls_today) } }
            div { dt { (T.calls_for_limit) } dd { (report.calls_today) } }
            div { dt { (texts::calls_of_days(DAYS)) } dd { (calls) } }
            div { dt { (T.cost) } dd { (cost(&report.rows)) } }
        }
        @if let Some(outage) = &report.outage { p .warning { (text(outage)) } }
        @if !report.rows.is_empty() { p .hint { (T.usage_hint) } (table(&report.rows, &name)) }
        @if !report.memory.is_empty() { (memory_use(&report)) }
    };
    Ok(ViewPage::new(T.usage, NavItem::Usage, body))
}

fn table(rows: &[UsageRow], name: &dyn Fn(&str) -> String) -> Markup {
    html! {
        div .scroll tabindex="0" role="region" aria-label=(T.usage) {
            table {
                thead { tr {
                    @for heading in [T.day, T.project, T.purpose] { th scope="col" { (heading) } }
                    @for heading in [T.answered, T.failed_count, T.tokens_in, T.tokens_out, T.cost] { th scope="col" .number { (heading) } }
                } }
                tbody { @for row in rows { tr {
                    td { (row.day) }
                    td { (text(&name(&row.project))) }
                    td { (row.purpose.replace('_', " ")) }
                    @for number in [row.answered, row.failed, row.input_tokens, row.output_tokens] { td .number { (texts::grouped(number)) } }
                    td .number { (cost(std::slice::from_ref(row))) }
                } } }
            }
        }
    }
}

/// Formats the sum of the costs, with `?` if the price of a request is unknown.
fn cost(rows: &[UsageRow]) -> String {
    let usd: f64 = rows.iter().map(|row| row.usd).sum();
    let is_incomplete = rows.iter().any(|row| row.unpriced > 0);
    match (usd > 0.0, is_incomplete) {
        (_, false) => texts::dollars(usd),
        (false, true) => "?".to_owned(),
        (true, true) => format!("{}+?", texts::dollars(usd)),
    }
}

fn memory_use(report: &UsageReport) -> Markup {
    html! {
        h2 .section { (T.memory_use) }
        p .hint { (T.memory_use_hint) }
        table {
            thead { tr { th scope="col" { (T.topic) } th scope="col" .number { (T.offered) } th scope="col" .number { (T.used) } } }
            tbody { @for row in &report.memory { tr {
                td { (text(&row.topic)) } td .number { (row.offered) } td .number { (row.used) }
            } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_is_marked_in_rows_and_in_the_sum() {
        let row = |usd, unpriced| UsageRow { usd, unpriced, ..UsageRow::default() };
        assert_eq!(cost(&[row(0.0, 0)]), "–");
        assert_eq!(cost(&[row(1.5, 0), row(0.0, 0)]), "$1.50");
        assert_eq!(cost(&[row(0.0, 3)]), "?");
        assert_eq!(cost(&[row(1.5, 0), row(0.0, 3)]), "$1.50+?");
    }
}
