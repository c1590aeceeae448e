//! The prices of models.
//!
//! The cost that a provider reports takes precedence, then the configured price, then the table in
//! this file, which contains the prices on the providers' pages. Otherwise a server on this machine
//! is free, and the cost of another provider is unknown.

use std::fmt;

pub use crate::money::Money;
use crate::{config, model::transcript::Tokens, reply::TokenUsage};

/// The month in which the table below was last compared with the providers' pages.
pub const PRICES_OF: &str = "2026-11";

/// The price of a prompt token that is written to Anthropic's cache for five minutes, relative to
/// the price of other prompt tokens.
const ANTHROPIC_CACHE_WRITE: f64 = 1.25;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tariff {
    origin: PriceSource,
    usual: Rates,
    /// The rates of a whole call with more than this number of prompt tokens.
    long: Option<(u64, Rates)>,
    /// The price of a prompt token that is written to the cache, relative to the price of other
    /// prompt tokens.
    cache_write: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceSource {
    Free,
    /// The configuration, completed from the table.
    Configured,
    /// The table. Contains the address of the provider's page.
    Published(&'static str),
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rates {
    input: f64,
    output: f64,
    cached: f64,
}

impl Tariff {
    pub const FREE: Tariff = Tariff {
        origin: PriceSource::Free,
        usual: Rates { input: 0.0, output: 0.0, cached: 0.0 },
        long: None,
        cache_write: 1.0,
    };

    pub fn origin(&self) -> PriceSource {
        self.origin
    }

    /// Looks up `model`. The name may contain a date, a provider or dots: `claude-haiku-4-5`,
    /// `claude-haiku-4-5-20251001` and `anthropic/claude-haiku-4.5` denote one model.
    pub fn of(model: &str) -> Option<Tariff> {
        let name = model.rsplit('/').next()?.to_ascii_lowercase().replace('.', "-");
        let row = TABLE.iter().find(|row| {
            name.strip_prefix(row.model).is_some_and(|rest| rest.is_empty() || is_version(rest))
        })?;
        let usual = Rates { input: row.input, output: row.output, cached: row.cached };
        let long = row.long.map(|(tokens, input, output)| {
            // The price of cached tokens rises in proportion to the price of other prompt tokens.
            (tokens, Rates { input, output, cached: row.cached * input / row.input })
        });
        let cache_write = if row.is_anthropic() { ANTHROPIC_CACHE_WRITE } else { 1.0 };
        Some(Tariff { origin: PriceSource::Published(row.page()), usual, long, cache_write })
    }

    /// Returns the configured price, completed from the table for `model`.
    pub fn configured(price: &config::Price, model: Option<&str>) -> Option<Tariff> {
        let known = model.and_then(Tariff::of);
        if *price == config::Price::default() {
            return known;
        }
        let usual = known.map(|known| known.usual);
        let input = price.input_per_mtok.or(usual.map(|usual| usual.input))?;
        let output = price.output_per_mtok.or(usual.map(|usual| usual.output))?;
        let cached = usual.filter(|_| price.input_per_mtok.is_none()).map(|usual| usual.cached);
        let cached = price.cached_per_mtok.or(cached).unwrap_or(input);
        let usual = Rates { input, output, cached };
        Some(Tariff { origin: PriceSource::Configured, usual, long: None, cache_write: 1.0 })
    }

    /// Returns the cost of the tokens of many calls. The usual rates are used, because the sizes of
    /// the calls are not known.
    pub fn cost_of_tokens(&self, tokens: &Tokens) -> Money {
        let rates = self.usual;
        let written = rates.input * self.cache_write;
        let millionths = tokens.input as f64 * rates.input
            + tokens.cache_read as f64 * rates.cached
            + tokens.cache_write as f64 * written
            + tokens.output as f64 * rates.output;
        Money::from_usd(millionths / 1e6)
    }

    /// Returns the cost of a call: the amount that the provider reports, otherwise the amount that
    /// results from the rates.
    pub fn cost(&self, usage: &TokenUsage) -> Money {
        usage.reported.unwrap_or_else(|| {
            let rates = match self.long {
                Some((tokens, rates)) if usage.input > tokens => rates,
                _ => self.usual,
            };
            let cached = usage.cached.min(usage.input);
            let fresh = usage.input - cached;
            let millionths = fresh as f64 * rates.input
                + cached as f64 * rates.cached
                + usage.output as f64 * rates.output;
            Money::from_usd(millionths / 1e6)
        })
    }
}

impl fmt::Display for PriceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PriceSource::Free => f.write_str("free of charge"),
            PriceSource::Configured => f.write_str("as set by `session_tracking.llm.price`"),
            PriceSource::Published(page) => write!(f, "as published on {page}, {PRICES_OF}"),
        }
    }
}

/// Whether `rest`, the end of a name, denotes a version of the model rather than another model.
fn is_version(rest: &str) -> bool {
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    // A year or a whole date. In `-9-20261101`, 9 is the number of another model.
    let begins_with_date = rest.split('-').next().is_some_and(|digits| digits.len() >= 4);
    rest == "latest"
        || rest == "preview"
        || rest.starts_with("@2")
        || (begins_with_date
            && rest.len() >= 8
            && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
}

struct PriceRow {
    /// The model's name, with `-` instead of dots.
    model: &'static str,
    input: f64,
    output: f64,
    cached: f64,
    long: Option<(u64, f64, f64)>,
}

const fn row(model: &'static str, input: f64, output: f64, cached: f64) -> PriceRow {
    PriceRow { model, input, output, cached, long: None }
}

impl PriceRow {
    /// Sets the rates of calls with more than `tokens` prompt tokens.
    const fn beyond(mut self, tokens: u64, input: f64, output: f64) -> PriceRow {
        self.long = Some((tokens, input, output));
        self
    }

    fn is_anthropic(&self) -> bool {
        self.model.starts_with("claude-")
    }

    /// Returns the address of the provider's page.
    fn page(&self) -> &'static str {
        if self.is_anthropic() {
            "platform.claude.com/docs/en/about-claude/pricing"
        } else {
            "developers.openai.com/api/docs/pricing"
        }
    }
}

/// Input, output and cached input prices of common models, as published on [`PriceRow::page`] in
/// [`PRICES_OF`].
#[rustfmt::skip]
const TABLE: &[PriceRow] = &[
    row("claude-fable-5-1", 10.0, 50.0, 0.25),
    row("claude-fable-5", 10.0, 50.0, 1.0),
    row("claude-opus-5-5", 4.0, 20.0, 0.2),
    row("claude-opus-5", 5.0, 25.0, 0.5),
    row("claude-opus-4-8", 5.0, 25.0, 0.5),
    row("claude-opus-4-7", 5.0, 25.0, 0.5),
    row("claude-opus-4-6", 5.0, 25.0, 0.5),
    row("claude-opus-4-5", 5.0, 25.0, 0.5),
    row("claude-opus-4-1", 15.0, 75.0, 1.5),
    row("claude-opus-4", 15.0, 75.0, 1.5),
    row("claude-sonnet-5-5", 2.0, 10.0, 0.1),
    row("claude-sonnet-5", 2.0, 10.0, 0.2),
    row("claude-sonnet-4-6", 3.0, 15.0, 0.3),
    row("claude-sonnet-4-5", 3.0, 15.0, 0.3),
    row("claude-sonnet-4", 3.0, 15.0, 0.3),
    row("claude-haiku-5-5", 0.1, 0.5, 0.01).beyond(100_000, 0.5, 2.5),
    row("claude-haiku-4-5", 1.0, 5.0, 0.1),
    row("gpt-6-astra", 10.0, 50.0, 1.0).beyond(272_000, 20.0, 75.0),
    row("gpt-6-sol", 2.0, 10.0, 0.2).beyond(272_000, 4.0, 15.0),
    row("gpt-6-luna", 0.1, 0.5, 0.01).beyond(272_000, 0.2, 0.75),
    row("gpt-5-6-sol", 4.0, 20.0, 0.4).beyond(272_000, 8.0, 30.0),
    row("gpt-5-6-terra", 2.0, 12.0, 0.2).beyond(272_000, 4.0, 18.0),
    row("gpt-5-6-luna", 0.2, 1.2, 0.02).beyond(272_000, 0.4, 1.8),
    row("gpt-5-5", 5.0, 30.0, 0.5).beyond(272_000, 10.0, 45.0),
    row("gpt-5-4-mini", 0.75, 4.5, 0.075),
    row("gpt-5-4-nano", 0.2, 1.25, 0.02),
    row("gpt-5-4", 2.5, 15.0, 0.25).beyond(272_000, 5.0, 22.5),
    row("gpt-5-2", 1.75, 14.0, 0.175),
    row("gpt-5-1", 1.25, 10.0, 0.125),
    row("gpt-5-mini", 0.25, 2.0, 0.025),
    row("gpt-5-nano", 0.05, 0.4, 0.005),
    row("gpt-5", 1.25, 10.0, 0.125),
    row("gpt-4-1-mini", 0.4, 1.6, 0.1),
    row("gpt-4-1-nano", 0.1, 0.4, 0.025),
    row("gpt-4-1", 2.0, 8.0, 0.5),
    row("gpt-4o-mini", 0.15, 0.6, 0.075),
    row("gpt-4o", 2.5, 10.0, 1.25),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64, cached: u64) -> TokenUsage {
        TokenUsage { input, output, cached, reported: None }
    }

    #[test]
    fn the_cost_of_an_agents_tokens_depends_on_their_kind() {
        let million = 1_000_000;
        let tokens = |input, cache_read, cache_write, output| Tokens {
            input,
            output,
            cache_read,
            cache_write,
        };
        let claude = Tariff::of("claude-sonnet-4-6").unwrap();
        for (tokens, usd) in [
            (tokens(million, 0, 0, 0), 3.0),
            (tokens(0, million, 0, 0), 0.3),
            (tokens(0, 0, million, 0), 3.75),
            (tokens(0, 0, 0, million), 15.0),
        ] {
            assert_eq!(claude.cost_of_tokens(&tokens), Money::from_usd(usd));
        }
        let other = Tariff::of("gpt-5").unwrap();
        assert_eq!(other.cost_of_tokens(&tokens(0, 0, million, 0)), Money::from_usd(1.25));
    }

    #[test]
    fn a_model_is_found_by_each_of_its_names() {
        for (name, input) in [
            ("claude-haiku-4-5", Some(1.0)),
            ("claude-haiku-4-5-20251001", Some(1.0)),
            ("anthropic/claude-haiku-4.5", Some(1.0)),
            ("Claude-Haiku-4-5-latest", Some(1.0)),
            ("claude-haiku-4-5@20251001", Some(1.0)),
            ("openai/gpt-5.6-luna", Some(0.2)),
            ("gpt-4o-2024-08-06", Some(2.5)),
            ("gpt-4o-mini", Some(0.15)),
            ("gpt-4o-audio", None),
            ("gpt-5-codex-max", None),
            ("claude-opus-5-20261101", Some(5.0)),
            ("claude-opus-5-9", None),
            ("claude-opus-5-9-20261101", None),
            ("claude-opus-4-9-20261201", None),
            ("gpt-5-2026-02-01", Some(1.25)),
            ("gpt-5.3-2026-02-01", None),
            ("llama3.2", None),
            ("", None),
        ] {
            assert_eq!(Tariff::of(name).map(|known| known.usual.input), input, "{name}");
        }
    }

    #[test]
    fn each_row_is_found_by_its_own_name() {
        for (index, row) in TABLE.iter().enumerate() {
            let found = TABLE.iter().position(|other| {
                row.model
                    .strip_prefix(other.model)
                    .is_some_and(|rest| rest.is_empty() || is_version(rest))
            });
            assert_eq!(found, Some(index), "{}", row.model);
            assert!(row.cached <= row.input && row.input <= row.output, "{}", row.model);
            assert!(!row.model.contains('.'), "{}", row.model);
        }
    }

    #[test]
    fn the_cost_of_a_call_is_reported_or_computed_from_its_tokens() {
        let haiku = Tariff::of("claude-haiku-4-5").unwrap();
        assert_eq!(haiku.cost(&usage(10_000, 1_000, 0)).to_string(), "$0.0150");
        assert_eq!(haiku.cost(&usage(10_000, 1_000, 10_000)).to_string(), "$0.0060");
        let reported = Some(Money::from_usd(0.5));
        let usage = TokenUsage { reported, ..usage(10_000, 1_000, 0) };
        assert_eq!(haiku.cost(&usage).to_string(), "$0.50");
    }

    #[test]
    fn the_rates_for_long_prompts_apply_to_the_whole_call() {
        let haiku = Tariff::of("claude-haiku-5-5").unwrap();
        assert_eq!(haiku.cost(&usage(100_000, 0, 0)), Money::from_usd(0.01));
        assert_eq!(haiku.cost(&usage(100_001, 0, 0)), Money::from_usd(0.050_000_5));
        assert_eq!(haiku.cost(&usage(200_000, 0, 200_000)), Money::from_usd(0.01));
    }

    #[test]
    fn configured_prices_take_precedence_over_the_table() {
        let price = |input, output| config::Price {
            input_per_mtok: input,
            output_per_mtok: output,
            cached_per_mtok: None,
        };
        let cost = |price, model| {
            Tariff::configured(&price, model)
                .map(|tariff| tariff.cost(&usage(1_000_000, 1_000_000, 0)))
        };
        let haiku = Some("claude-haiku-4-5");
        assert_eq!(cost(price(None, None), haiku), Some(Money::from_usd(6.0)));
        assert_eq!(cost(price(Some(3.0), None), haiku), Some(Money::from_usd(8.0)));
        assert_eq!(cost(price(Some(3.0), Some(4.0)), None), Some(Money::from_usd(7.0)));
        assert_eq!(cost(price(Some(0.0), Some(0.0)), Some("llama")), Some(Money::ZERO));
        assert_eq!(cost(price(Some(3.0), None), Some("llama")), None);
        assert_eq!(cost(price(None, None), None), None);
        let cached = config::Price { cached_per_mtok: Some(2.0), ..config::Price::default() };
        let tariff = Tariff::configured(&cached, haiku).unwrap();
        let all_cached = usage(1_000_000, 0, 1_000_000);
        assert_eq!(tariff.cost(&all_cached), Money::from_usd(2.0));
        assert_eq!(Tariff::of("claude-haiku-4-5").unwrap().cost(&all_cached), Money::from_usd(0.1));
        assert_eq!(Tariff::configured(&cached, Some("llama")), None);
    }

    #[test]
    fn the_source_of_a_price_is_shown() {
        let set = config::Price { input_per_mtok: Some(1.0), ..config::Price::default() };
        for (price, model, expected) in [
            (config::Price::default(), "claude-haiku-4-5", "platform.claude.com"),
            (config::Price::default(), "gpt-4o", "developers.openai.com"),
            (set, "gpt-4o", "llm.price"),
        ] {
            let origin = Tariff::configured(&price, Some(model)).unwrap().origin().to_string();
            assert!(origin.contains(expected), "{origin}");
        }
    }

    #[test]
    fn invalid_amounts_are_zero_and_sums_do_not_overflow() {
        assert_eq!(Money::from_usd(f64::NAN), Money::ZERO);
        assert_eq!(Money::from_usd(-1.0), Money::ZERO);
        let most = Money::from_usd(f64::INFINITY);
        assert_eq!(most.plus(most), most);
        assert_eq!(Money::ZERO.minus(most), Money::ZERO);
        assert_eq!(Money::ZERO.to_string(), "$0.00");
    }
}
