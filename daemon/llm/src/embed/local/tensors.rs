//! Reads the safetensors format: the length of a JSON header, the header with the type, shape and
//! offsets of each tensor, and the data.

use std::{collections::HashMap, ops::Range};

use serde::Deserialize;

pub(super) struct Tensors {
    bytes: Vec<u8>,
    /// The offset of the data in the file.
    start: usize,
    table: HashMap<String, TensorHeader>,
}

/// Numbers with their shape, in row-major order.
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) numbers: Vec<f32>,
}

#[derive(Deserialize)]
struct TensorHeader {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Tensors {
    pub(super) fn read(bytes: Vec<u8>) -> Result<Tensors, String> {
        let cut = || "it ends too early".to_owned();
        let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
        let length = length.and_then(|length| usize::try_from(length).ok()).ok_or_else(cut)?;
        let start = length.checked_add(8).ok_or_else(cut)?;
        let header = bytes.get(8..start).ok_or_else(cut)?;
        let header: HashMap<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|error| format!("its header: {error}"))?;
        let mut table = HashMap::new();
        for (name, entry) in header {
            if name != "__metadata__" {
                let entry = serde_json::from_value(entry);
                table.insert(name, entry.map_err(|error| format!("its header: {error}"))?);
            }
        }
        Ok(Tensors { bytes, start, table })
    }

    /// Returns the part of a tensor's name before `name`, such as `bert.`; `None` when no tensor's
    /// name ends with `name`.
    pub(super) fn prefix_of(&self, name: &str) -> Option<&str> {
        self.table.keys().find_map(|known| known.strip_suffix(name))
    }

    pub(super) fn get(&self, name: &str) -> Result<Option<Tensor>, String> {
        let Some(entry) = self.table.get(name) else { return Ok(None) };
        let wrong = |what: &str| format!("its tensor {name} {what}");
        let place = self.place(entry).ok_or_else(|| wrong("is outside the file"))?;
        let numbers = numbers(&entry.dtype, &self.bytes[place])
            .ok_or_else(|| wrong(&format!("has the unknown type {}", entry.dtype)))?;
        let count = entry.shape.iter().try_fold(1, |all: usize, one| all.checked_mul(*one));
        if count != Some(numbers.len()) {
            return Err(wrong("has a number of values that does not match its shape"));
        }
        Ok(Some(Tensor { shape: entry.shape.clone(), numbers }))
    }

    fn place(&self, entry: &TensorHeader) -> Option<Range<usize>> {
        let (from, to) = entry.data_offsets;
        let place = self.start.checked_add(from)?..self.start.checked_add(to)?;
        (place.start <= place.end && place.end <= self.bytes.len()).then_some(place)
    }
}

fn numbers(dtype: &str, bytes: &[u8]) -> Option<Vec<f32>> {
    fn each<const N: usize>(bytes: &[u8], read: fn([u8; N]) -> f32) -> Vec<f32> {
        bytes.as_chunks().0.iter().map(|number| read(*number)).collect()
    }
    Some(match dtype {
        "F64" => each(bytes, |number| f64::from_le_bytes(number) as f32),
        "F32" => each(bytes, f32::from_le_bytes),
        "F16" => each(bytes, |number| half(u16::from_le_bytes(number))),
        "BF16" => each(bytes, |number| f32::from_bits(u32::from(u16::from_le_bytes(number)) << 16)),
        "I64" => each(bytes, |number| i64::from_le_bytes(number) as f32),
        "I32" => each(bytes, |number| i32::from_le_bytes(number) as f32),
        "I8" => each(bytes, |number| f32::from(i8::from_le_bytes(number))),
        _ => return None,
    })
}

/// Converts an IEEE 754 half-precision number.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1024.0 + fraction) * 2.0_f32.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_are_converted() {
        for (bits, expected) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half(bits), expected, "{bits:x}");
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let file = |header: &str, data: &[u8]| {
            let length = (header.len() as u64).to_le_bytes();
            [&length[..], header.as_bytes(), data].concat()
        };
        let whole = file(
            r#"{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#,
            &[0, 0, 128, 63, 0, 0, 0, 64],
        );
        let tensor = Tensors::read(whole.clone()).unwrap().get("a").unwrap().unwrap();
        assert_eq!((tensor.shape, tensor.numbers), (vec![1, 2], vec![1.0, 2.0]));
        for cut in 0..whole.len() - 8 {
            assert!(Tensors::read(whole[..cut].to_vec()).is_err(), "{cut}");
        }
        let cut = Tensors::read(whole[..whole.len() - 1].to_vec()).unwrap();
        assert!(cut.get("a").is_err());
        assert!(Tensors::read(u64::MAX.to_le_bytes().to_vec()).is_err());
        for entry in [
            r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#,
            r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,8]}}"#,
            r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#,
            r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551615,8]}}"#,
            r#"{"a":{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}}"#,
        ] {
            assert!(Tensors::read(file(entry, &[0; 8])).unwrap().get("a").is_err(), "{entry}");
        }
    }
}
