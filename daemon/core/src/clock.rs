//! The only module that reads the wall clock.

use crate::model::Timestamp;

/// Returns the current time.
pub fn now() -> Timestamp {
    Timestamp::from(std::time::SystemTime::now())
}

/// Returns the current time in the time zone of this machine, for words such as "yesterday".
pub fn zoned() -> jiff::Zoned {
    jiff::Zoned::now()
}

/// Returns `at` in the time zone of this machine; the epoch if `at` is out of range.
pub fn local(at: Timestamp) -> jiff::Zoned {
    let instant = jiff::Timestamp::from_microsecond(at.micros()).unwrap_or_default();
    instant.to_zoned(jiff::tz::TimeZone::system())
}

#[cfg(test)]
mod tests {
    /// Returns the file of a time zone without changes of its offset: one type of local time, and
    /// the rule `CET-1`.
    fn zone_file() -> Vec<u8> {
        let mut block = b"TZif2".to_vec();
        block.resize(20, 0);
        for count in [0u32, 0, 0, 0, 1, 4] {
            block.extend(count.to_be_bytes());
        }
        block.extend(3_600i32.to_be_bytes());
        block.extend(b"\0\0CET\0");
        [&block[..], &block, b"\nCET-1\n"].concat()
    }

    #[test]
    fn a_time_zone_is_found_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("Europe")).unwrap();
        std::fs::write(folder.path().join("Europe/Berlin"), zone_file()).unwrap();
        let zones = jiff::tz::TimeZoneDatabase::from_dir(folder.path()).unwrap();
        let zone = zones.get("Europe/Berlin").unwrap();
        assert_eq!(zone.to_offset(jiff::Timestamp::UNIX_EPOCH), jiff::tz::offset(1));
    }
}
