//! Codecs for numbers with a unit.

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::config::{
    codec::{Codec, CodecContext, InvalidValue, Remark},
    file::{Node, Value},
};

/// Maximum number of seconds (about 68 years) or milliseconds in a setting, so that no sum of
/// durations overflows.
const LONGEST: f64 = 2_147_483_647.0;

/// The shortest duration, in seconds; a shorter duration would be zero in milliseconds.
const SHORTEST: f64 = 0.001;

/// A number within limits, which is converted into the type of the setting.
pub(in crate::config) struct Number<T> {
    min: f64,
    max: f64,
    /// An example of a value, for messages: the number and its meaning.
    example: &'static str,
    /// The instruction for a number outside the limits.
    remedy: &'static str,
    /// The description for the message "`key` must be …".
    allowed: &'static str,
    from_number: fn(f64) -> T,
    to_number: fn(&T) -> f64,
}

/// Seconds, greater than 0.
pub(in crate::config) const SECONDS: Number<Duration> = Number {
    min: SHORTEST,
    max: LONGEST,
    example: "60 for a minute",
    remedy: "write a number above 0, such as 60 for a minute",
    allowed: "a number of seconds above 0",
    from_number: Duration::from_secs_f64,
    to_number: Duration::as_secs_f64,
};

/// Days, greater than 0.
pub(in crate::config) const DAYS: Number<Duration> = Number {
    min: SHORTEST,
    max: LONGEST / DAY,
    example: "30 for a month",
    remedy: "write a number above 0, or null to keep all",
    allowed: "a number of days above 0",
    from_number: |days| Duration::from_secs_f64(days * DAY),
    to_number: |time| time.as_secs_f64() / DAY,
};

pub(in crate::config) const SHARE: Number<f64> = Number {
    min: 0.0,
    max: 1.0,
    example: "0.3",
    remedy: "write a number from 0 to 1, such as 0.3",
    allowed: "a number from 0 to 1",
    from_number: |share| share,
    to_number: |share| *share,
};

pub(in crate::config) const DOLLARS: Number<f64> = Number {
    min: 0.0,
    max: 1_000_000.0,
    example: "2.50",
    remedy: "write an amount of 0 or more, such as 2.50",
    allowed: "an amount of US dollars",
    ..SHARE
};

/// Milliseconds. [`Millis`] uses this, and reads small numbers differently.
const MILLIS: Number<Duration> = Number {
    min: 1.0,
    max: LONGEST,
    example: "30000 for half a minute",
    remedy: "write a number above 0, such as 30000 for half a minute",
    allowed: "a number of milliseconds above 0",
    from_number: |millis| Duration::from_secs_f64(millis / 1_000.0),
    to_number: |time| time.as_millis() as f64,
};

/// Seconds. [`OffSeconds`] uses this, and reads 0 and `null` differently.
const OFF_SECONDS: Number<Duration> = Number {
    example: "1800 for half an hour",
    remedy: "write 1800 for half an hour, or 0 to switch this off",
    allowed: "a number of seconds, or 0 or null for never",
    ..SECONDS
};

/// Seconds, where 0 and `null` disable a feature.
pub(in crate::config) struct OffSeconds;

/// Milliseconds. An implausibly small number is read as seconds.
pub(in crate::config) struct Millis;

pub(in crate::config) struct Delays;

/// An integer within limits.
pub(in crate::config) struct Count {
    pub(in crate::config) min: u32,
    pub(in crate::config) max: u32,
    /// The unit in the plural.
    pub(in crate::config) unit: &'static str,
}

/// A number of bytes, also as text: `"512 MiB"`.
pub(in crate::config) struct Bytes {
    pub(in crate::config) min: u64,
}

const DAY: f64 = 86_400.0;

/// A number of milliseconds up to this number is read as seconds, because such a time limit is too
/// short for a hook.
const MAX_READ_AS_SECONDS: f64 = 120.0;

impl<T> Number<T> {
    fn convert(&self, number: f64) -> Result<T, InvalidValue> {
        match (self.min..=self.max).contains(&number) {
            true => Ok((self.from_number)(number)),
            false => Err(InvalidValue::new(self.remedy)),
        }
    }
}

impl<T> Codec for Number<T> {
    type Item = T;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<T, InvalidValue> {
        self.convert(number(node, self.example)?)
    }

    fn write(&self, item: &T) -> Json {
        number_to_json((self.to_number)(item))
    }

    fn allowed(&self) -> String {
        self.allowed.to_owned()
    }

    fn schema(&self) -> Json {
        let minimum = number_to_json(self.min);
        // A fractional maximum only prevents an overflow, so the schema omits it.
        match self.max.fract() == 0.0 {
            true => {
                json!({ "type": "number", "minimum": minimum, "maximum": number_to_json(self.max) })
            }
            false => json!({ "type": "number", "minimum": minimum }),
        }
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
        let seconds = number(node, OFF_SECONDS.example)?;
        if seconds == 0.0 { Ok(None) } else { OFF_SECONDS.convert(seconds).map(Some) }
    }

    fn write(&self, item: &Option<Duration>) -> Json {
        item.map_or(Json::Null, |time| OFF_SECONDS.write(&time))
    }

    fn allowed(&self) -> String {
        OFF_SECONDS.allowed()
    }

    fn schema(&self) -> Json {
        json!({ "type": ["number", "null"], "minimum": 0, "maximum": LONGEST })
    }
}

impl Codec for Millis {
    type Item = Duration;

    fn read(&self, node: &Node, context: &mut CodecContext<'_>) -> Result<Duration, InvalidValue> {
        let millis = number(node, MILLIS.example)?;
        if (1.0..=MAX_READ_AS_SECONDS).contains(&millis) {
            let used = format!("{}", millis * 1_000.0);
            let reason = "the unit is milliseconds, and such a small number probably means seconds";
            context.remarks.push(Remark::Adjusted { used, reason });
            return Ok(Duration::from_secs_f64(millis));
        }
        MILLIS.convert(millis)
    }

    fn write(&self, item: &Duration) -> Json {
        MILLIS.write(item)
    }

    fn allowed(&self) -> String {
        MILLIS.allowed()
    }

    fn schema(&self) -> Json {
        MILLIS.schema()
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
        let read = |item| SECONDS.read(item, context).map_err(|_| InvalidValue::new(remedy));
        items.iter().map(read).collect()
    }

    fn write(&self, item: &Vec<Duration>) -> Json {
        item.iter().map(|delay| SECONDS.write(delay)).collect()
    }

    fn allowed(&self) -> String {
        "a list of seconds above 0".to_owned()
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "minItems": 1, "items": SECONDS.schema() })
    }
}

impl Codec for Count {
    type Item = u32;

    fn read(&self, node: &Node, _: &mut CodecContext<'_>) -> Result<u32, InvalidValue> {
        let Count { min, max, .. } = *self;
        let found = number(node, &min.max(1).to_string())?;
        match found.fract() == 0.0 && (f64::from(min)..=f64::from(max)).contains(&found) {
            true => Ok(found as u32),
            false => Err(InvalidValue::new(format!("write a whole number from {min} to {max}"))),
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

/// Units of bytes. Decimal units (kB) are read as binary units (KiB), because users usually mean
/// binary units.
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

fn number_to_json(number: f64) -> Json {
    match number.fract() == 0.0 {
        true => json!(number as i64),
        false => json!(number),
    }
}
