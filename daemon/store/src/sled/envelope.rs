//! The envelope of encoded values on disk: a magic byte, the version, the codec and a checksum.
//!
//! ```text
//! 'G' | version: u8 | codec: u8 | payload | CRC-32 of the preceding bytes: u32 LE
//! ```
//!
//! The checksum is needed, because bincode detects only one in forty flipped bits. `bincode` is
//! unmaintained; only this module uses it, so that it can be replaced.

use serde::{Serialize, de::DeserializeOwned};

/// The version of the record types; see [`super::records`].
pub(crate) const VERSION: u8 = 1;

const MAGIC: u8 = b'G';
const HEAD: usize = 3;
const TAIL: usize = 4;
/// Maximum size, in bytes, of a record that is read. A larger record is treated as damaged.
const LIMIT: usize = 64 << 20;

/// The encoding of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Codec {
    /// bincode without compression.
    Plain = 0,
    /// The uncompressed length, then bincode that is compressed with LZ4.
    Lz4 = 1,
}

/// Packs `record` into an envelope, and compresses a large record.
pub(crate) fn seal<T: Serialize>(record: &T) -> Vec<u8> {
    let plain = bincode::serde::encode_to_vec(record, bincode::config::standard())
        .expect("bincode can encode every record type");
    // LZ4 hardly makes shorter records smaller.
    let codec = if plain.len() < 256 { Codec::Plain } else { Codec::Lz4 };
    let payload = match codec {
        Codec::Plain => plain,
        Codec::Lz4 => lz4_flex::compress_prepend_size(&plain),
    };
    let mut sealed = Vec::with_capacity(HEAD + payload.len() + TAIL);
    sealed.extend_from_slice(&[MAGIC, VERSION, codec as u8]);
    sealed.extend_from_slice(&payload);
    let checksum = crc32fast::hash(&sealed);
    sealed.extend_from_slice(&checksum.to_le_bytes());
    sealed
}

/// Unpacks a value that [`seal`] packed. An error describes the damage.
pub(crate) fn open<T: DeserializeOwned>(sealed: &[u8]) -> Result<T, String> {
    let (version, payload) = unpack(sealed)?;
    if version != VERSION {
        return Err(format!("version {version} instead of {VERSION}"));
    }
    decode(&payload)
}

/// Checks the envelope, and returns its version and the uncompressed payload.
pub(crate) fn unpack(sealed: &[u8]) -> Result<(u8, Vec<u8>), String> {
    if sealed.len() < HEAD + TAIL {
        return Err(format!("only {} bytes long", sealed.len()));
    }
    let (body, checksum) = sealed.split_at(sealed.len() - TAIL);
    if crc32fast::hash(body).to_le_bytes() != *checksum {
        return Err("wrong checksum".to_owned());
    }
    let &[magic, version, codec, ref payload @ ..] = body else {
        return Err("no head".to_owned());
    };
    if magic != MAGIC {
        return Err(format!("unexpected first byte {magic:#04x}"));
    }
    let plain = match codec {
        0 => payload.to_vec(),
        1 => {
            let length = payload.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            if length as usize > LIMIT {
                return Err(format!("stated length of {length} bytes is too large"));
            }
            lz4_flex::decompress_size_prepended(payload).map_err(|error| error.to_string())?
        }
        other => return Err(format!("unknown codec {other}")),
    };
    Ok((version, plain))
}

/// Decodes an uncompressed payload; bytes after the record are an error.
pub(crate) fn decode<T: DeserializeOwned>(plain: &[u8]) -> Result<T, String> {
    let config = bincode::config::standard().with_limit::<LIMIT>();
    let (record, used) = bincode::serde::decode_from_slice(plain, config)
        .map_err(|error: bincode::error::DecodeError| error.to_string())?;
    if used != plain.len() {
        return Err(format!("{} bytes too many", plain.len() - used));
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_records_can_be_opened() {
        for text in ["", "short", &"long ".repeat(500)] {
            let sealed = seal(&(7u32, text.to_owned()));
            assert_eq!(open::<(u32, String)>(&sealed), Ok((7, text.to_owned())));
        }
    }

    #[test]
    fn every_flipped_bit_is_detected() {
        let sealed = seal(&(7u32, "a record of some length".to_owned()));
        for bit in 0..sealed.len() * 8 {
            let mut broken = sealed.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            assert!(open::<(u32, String)>(&broken).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn every_truncation_is_detected() {
        let sealed = seal(&"a record".repeat(100));
        for length in 0..sealed.len() {
            assert!(open::<String>(&sealed[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn an_additional_field_is_detected() {
        let sealed = seal(&(7u32, 8u32));
        assert_eq!(open::<u32>(&sealed), Err("1 bytes too many".to_owned()));
    }
}
