//! Codecs for numbers with a unit.

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::config::{
    codec::{Codec, CodecContext, InvalidValue, Remark},
    file::{Node, Value},
};

/// The longest duration, in seconds: about 68 years, so that no sum overflows.
const LONGEST: f64 = 2_147_483_647.0;

/// The shortest duration, in seconds; a shorter one would be zero in milliseconds.
const SHORTEST: f64 = 0.001;

/// Seconds, greater than 0.
pub(in crate::config) struct Seconds;

/// Seconds, where 0 and `null` disable a feature.
pub(in crate::config) struct OffSeconds;

/// Milliseconds. An implausibly small number is read as seconds.
pub(in crate::config) struct Millis;

pub(in crate::config) struct Delays;

/// Days, greater than 0.
pub(in crate::config) struct Days;

/// An integer within limits.
pub(in crate::config) struct Count {
    pub(in crate::config) min: u32,
    pub(in crate::config) max: u32,
    /// The unit in the plural.
    pub(in crate::config) unit: &'static str,
}

pub(in crate::config) struct ShareCodec;

pub(in crate::config) struct Dollars;

/// A number of bytes, also as text: `"512 MiB"`.
pub(in crate::config) struct Bytes {
    pub(in crate::config) min: u64,
}

/// A number of milliseconds up to this one is read as seconds, because a hook cannot have such a
/// short time limit.
const MAX_READ_AS_SECONDS: f64 = 120.0;

impl Codec for Seconds {
    type Item = Duration;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<Duration, InvalidValue> {
        let seconds = number(node, "60 for a minute")?;
        match (SHORTEST..=LONGEST).contains(&seconds) {
            true => Ok(Duration::from_secs_f64(seconds)),
            false => Err(InvalidValue::new("write a number above 0, such as 60 for a minute")),
        }
    }

    fn write(&self, item: &Duration) -> Json {
        seconds_json(*item)
    }

    fn allowed(&self) -> String {
        "a number of seconds above 0".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "number", "minimum": SHORTEST, "maximum": LONGEST })
    }
}

impl Codec for OffSeconds {
    type Item = Option<Duration>;

    fn read(
        &self,
        node: &Node,
        _: &mut CodecContext<'_>,
    ) -> Result<Option<Duration>, InvalidValue> {
        if node.value == Value::Null {
            return Ok(None);
        }
        let seconds = number(node, "1800 for half an hour")?;
        match seconds {
            0.0 => Ok(None),
            SHORTEST..=LONGEST => Ok(Some(Duration::from_secs_f64(seconds))),
            _ => Err(InvalidValue::new("write 1800 for half an hour, or 0 to switch this off")),
        }
    }

    fn write(&self, item: &Option<Duration>) -> Json {
        item.map_or(Json::Null, seconds_json)
    }

    fn allowed(&self) -> String {
        "a number of seconds, or 0 or null for never".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": ["number", "null"], "minimum": 0, "maximum": LONGEST })
    }
}

impl Codec for Millis {
    type Item = Duration;

    fn read(&self, node: &Node, context: &mut CodecContext<'_>) -> Result<Duration, InvalidValue> {
        let millis = number(node, "30000 for half a minute")?;
        if (1.0..=MAX_READ_AS_SECONDS).contains(&millis) {
            let used = format!("{}", millis * 1_000.0);
            let reason = "the unit is milliseconds, and such a small number probably means seconds";
            context.remarks.push(Remark::Adjusted { used, reason });
            return Ok(Duration::from_secs_f64(millis));
        }
        match (1.0..=LONGEST).contains(&millis) {
            true => Ok(Duration::from_secs_f64(millis / 1_000.0)),
            false => {
                Err(InvalidValue::new("write a number above 0, such as 30000 for half a minute"))
            }
        }
    }

    fn write(&self, item: &Duration) -> Json {
        json!(item.as_millis() as u64)
    }

    fn allowed(&self) -> String {
        "a number of milliseconds above 0".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "number", "minimum": 1, "maximum": LONGEST })
    }
}

impl Codec for Delays {
    type Item = Vec<Duration>;

    fn read(
        &self,
        node: &Node,
        context: &mut CodecContext<'_>,
    ) -> Result<Vec<Duration>, InvalidValue> {
        let remedy = "write the pauses in seconds, such as [300, 900, 2700]";
        let Value::List(items) = &node.value else { return Err(InvalidValue::new(remedy)) };
        if items.is_empty() {
            return Err(InvalidValue::new("write at least one pause, such as [300]"));
        }
        let read = |item| Seconds.read(item, context).map_err(|_| InvalidValue::new(remedy));
        items.iter().map(read).collect()
    }

    fn write(&self, item: &Vec<Duration>) -> Json {
        item.iter().map(|delay| seconds_json(*delay)).collect()
    }

    fn allowed(&self) -> String {
        "a list of seconds above 0".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "minItems": 1, "items": Seconds.schema() })
    }
}

impl Codec for Days {
    type Item = Duration;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<Duration, InvalidValue> {
        let days = number(node, "30 for a month")?;
        match (SHORTEST..=LONGEST / DAY).contains(&days) {
            true => Ok(Duration::from_secs_f64(days * DAY)),
            false => Err(InvalidValue::new("write a number above 0, or null to keep all")),
        }
    }

    fn write(&self, item: &Duration) -> Json {
        number_to_json(item.as_secs_f64() / DAY)
    }

    fn allowed(&self) -> String {
        "a number of days above 0".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "number", "minimum": SHORTEST })
    }
}

impl Codec for Count {
    type Item = u32;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<u32, InvalidValue> {
        let found = number(node, &self.min.max(1).to_string())?;
        let is_within = found >= f64::from(self.min) && found <= f64::from(self.max);
        match is_within && found.fract() == 0.0 {
            true => Ok(found as u32),
            false => Err(InvalidValue::new(format!(
                "write a whole number from {} to {}",
                self.min, self.max
            ))),
        }
    }

    fn write(&self, item: &u32) -> Json {
        json!(item)
    }

    fn allowed(&self) -> String {
        format!("a number of {} from {} to {}", self.unit, self.min, self.max)
    }

    fn schema(&self) -> Json {
        json!({ "type": "integer", "minimum": self.min, "maximum": self.max })
    }
}

impl Codec for ShareCodec {
    type Item = f64;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<f64, InvalidValue> {
        let share = number(node, "0.3")?;
        match (0.0..=1.0).contains(&share) {
            true => Ok(share),
            false => Err(InvalidValue::new("write a number from 0 to 1, such as 0.3")),
        }
    }

    fn write(&self, item: &f64) -> Json {
        number_to_json(*item)
    }

    fn allowed(&self) -> String {
        "a number from 0 to 1".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

impl Codec for Dollars {
    type Item = f64;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<f64, InvalidValue> {
        let dollars = number(node, "2.50")?;
        match (0.0..=1_000_000.0).contains(&dollars) {
            true => Ok(dollars),
            false => Err(InvalidValue::new("write an amount of 0 or more, such as 2.50")),
        }
    }

    fn write(&self, item: &f64) -> Json {
        number_to_json(*item)
    }

    fn allowed(&self) -> String {
        "an amount of US dollars".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "number", "minimum": 0, "maximum": 1_000_000 })
    }
}

/// Units of bytes. Decimal units (kB) are read as binary units (KiB), which users usually mean.
const UNITS: &[(&str, u64)] = &[
    ("gib", 1 << 30),
    ("gb", 1 << 30),
    ("g", 1 << 30),
    ("mib", 1 << 20),
    ("mb", 1 << 20),
    ("m", 1 << 20),
    ("kib", 1 << 10),
    ("kb", 1 << 10),
    ("k", 1 << 10),
    ("b", 1),
    ("", 1),
];

impl Codec for Bytes {
    type Item = u64;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<u64, InvalidValue> {
        let remedy = "write \"512 MiB\" or a whole number of bytes";
        let bytes = match &node.value {
            Value::Number(number) => number.parse().ok(),
            Value::Text(text) => bytes_of(text),
            _ => None,
        };
        match bytes.ok_or_else(|| InvalidValue::new(remedy))? {
            bytes if bytes >= self.min => Ok(bytes),
            _ => {
                Err(InvalidValue::new(format!("write a size of at least {}", bytes_text(self.min))))
            }
        }
    }

    fn write(&self, item: &u64) -> Json {
        Json::from(bytes_text(*item))
    }

    fn allowed(&self) -> String {
        format!("a size of at least {}", bytes_text(self.min))
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [
            { "type": "integer", "minimum": self.min },
            { "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? ?([KkMmGg]([Ii]?[Bb])?|[Bb])?$" },
        ] })
    }
}

fn bytes_of(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    let number: f64 = number.parse().ok()?;
    Some((number * *factor as f64) as u64)
}

fn bytes_text(bytes: u64) -> String {
    for (unit, factor) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{} {unit}", bytes / factor);
        }
    }
    format!("{bytes} B")
}

const DAY: f64 = 86_400.0;

/// Returns the finite number in `node`.
fn number(node: &Node, example: &str) -> Result<f64, InvalidValue> {
    match &node.value {
        Value::Number(number) => {
            let number: Option<f64> = number.parse().ok();
            number.filter(|number| number.is_finite())
        }
        Value::Text(text) if text.trim().parse::<f64>().is_ok() => {
            let number = text.trim();
            return Err(InvalidValue::new(format!("write {number} without quotation marks")));
        }
        Value::Text(_) => {
            let remedy =
                format!("write a number without unit and quotation marks, such as {example}");
            return Err(InvalidValue::new(remedy));
        }
        _ => None,
    }
    .ok_or_else(|| InvalidValue::new(format!("write a number, such as {example}")))
}

fn seconds_json(time: Duration) -> Json {
    number_to_json(time.as_secs_f64())
}

fn number_to_json(number: f64) -> Json {
    match number.fract() == 0.0 {
        true => json!(number as i64),
        false => json!(number),
    }
}
