//! Decides whether a database near its limit is compacted, and whether content is evicted before.
//!
//! Content whose compacted copy is clearly below the mark [`NEAR_LIMIT`] is never evicted: the
//! database is only compacted, even if the old and the new file together temporarily exceed the
//! limit by up to an eighth. Of more content, the oldest is evicted, and the rest ([`TARGET`]) is
//! copied.

use crate::SpaceStep;

/// The database should become smaller when its files take at least this many eighths of the limit.
const NEAR_LIMIT: u64 = 5;
/// Eviction should reduce the content to the limit divided by this number. A compacted database is
/// about twice as large as its content, and the old database exists until the new one is complete.
/// Together they take 5/8 + 2.2/6 of the limit, which is just less than the limit.
const TARGET: u64 = 6;
/// Content is evicted only if it has more bytes than the limit divided by this number. The largest
/// copy of less content takes half of the limit, which is an eighth less than [`NEAR_LIMIT`].
const FITTING: u64 = 5;
/// The database is compacted without an eviction only after its files grew by the limit divided by
/// this number since the last compaction.
const GROWTH: u64 = 8;
/// Maximum ratio of the size of a new file to its content, as numerator and denominator. Measured
/// ratios are 1.6 to 2.4.
const NEW_FILE: (u64, u64) = (5, 2);

/// The sizes on which the decision depends, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct DatabaseSizes {
    /// The maximum size of all files.
    pub(super) limit: u64,
    /// The size of all files.
    pub(super) files: u64,
    /// The size of all rows and their keys.
    pub(super) content: u64,
    /// The free space on the disk; `None` if it is unknown.
    pub(super) free: Option<u64>,
    /// The size of all files after the compaction with which the database was opened; `None` if it
    /// was not compacted then.
    pub(super) compacted: Option<u64>,
}

/// Whether files with `files` bytes are so close to `limit` that they should become smaller.
pub(super) fn is_near_limit(files: u64, limit: u64) -> bool {
    files >= limit / 8 * NEAR_LIMIT
}

/// Returns the size, in bytes, to which eviction should reduce the content.
pub(super) fn content_target(limit: u64) -> u64 {
    limit / TARGET
}

/// Returns the maximum size, in bytes, of a new database with `content` bytes of content.
pub(super) fn largest_copy(content: u64) -> u64 {
    content.saturating_mul(NEW_FILE.0) / NEW_FILE.1
}

/// Returns the next step to make the files smaller. `may_evict` is false if nothing more can be
/// evicted.
pub(super) fn next_step(sizes: DatabaseSizes, may_evict: bool) -> SpaceStep {
    let DatabaseSizes { limit, files, content, free, compacted } = sizes;
    if !is_near_limit(files, limit) {
        return SpaceStep::Nothing;
    }
    let has_room = |content| free.is_none_or(|free| largest_copy(content) <= free);
    // Without this condition, a database whose copy is larger than expected would be compacted
    // again and again.
    let has_grown = compacted.is_none_or(|bytes| files >= bytes.saturating_add(limit / GROWTH));
    let fits = content <= limit / FITTING && has_grown;
    let target = content_target(limit);
    if may_evict && !fits {
        // The file shrinks only when the rest is copied. Without room for the copy, the evicted
        // content would be lost for nothing.
        return if has_room(content.min(target)) { SpaceStep::Evict } else { SpaceStep::Wait };
    }
    // With much text that is not indexed yet, a compacted database may have twice the intended
    // size, and the old and the new file together temporarily exceed the limit. To refuse all
    // writes forever would be worse. The copy of more content would have no space for new text.
    let is_useful = content <= target.saturating_mul(2) && largest_copy(content) < files;
    if is_useful && has_room(content) { SpaceStep::Compact } else { SpaceStep::Wait }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of a database with a limit of 1,000 bytes.
    fn sizes(files: u64, content: u64) -> DatabaseSizes {
        DatabaseSizes { limit: 1_000, files, content, free: None, compacted: None }
    }

    #[test]
    fn content_is_evicted_only_if_its_copy_would_not_fit() {
        assert_eq!(next_step(sizes(624, 400), true), SpaceStep::Nothing);
        assert_eq!(next_step(sizes(625, 200), true), SpaceStep::Compact);
        assert_eq!(next_step(sizes(990, 200), true), SpaceStep::Compact);
        assert_eq!(next_step(sizes(625, 201), true), SpaceStep::Evict);
        assert_eq!(next_step(sizes(625, 166), false), SpaceStep::Compact);
        assert_eq!(next_step(sizes(625, 249), false), SpaceStep::Compact, "text waits");
        assert_eq!(next_step(sizes(625, 250), false), SpaceStep::Wait, "a copy is not smaller");
        assert_eq!(next_step(sizes(990, 333), false), SpaceStep::Wait, "the copy would be full");
    }

    #[test]
    fn a_database_that_hardly_grew_since_its_compaction_is_not_compacted_alone() {
        let compacted =
            |bytes, files| DatabaseSizes { compacted: Some(bytes), ..sizes(files, 200) };
        assert_eq!(next_step(compacted(500, 625), true), SpaceStep::Compact);
        assert_eq!(next_step(compacted(501, 625), true), SpaceStep::Evict);
        assert_eq!(next_step(compacted(625, 749), true), SpaceStep::Evict);
        assert_eq!(next_step(compacted(625, 750), true), SpaceStep::Compact);
        assert_eq!(next_step(compacted(400, 624), true), SpaceStep::Nothing);
    }

    #[test]
    fn nothing_is_evicted_without_room_for_the_copy() {
        let with_free = |free, content| DatabaseSizes { free: Some(free), ..sizes(700, content) };
        assert_eq!(next_step(with_free(499, 200), true), SpaceStep::Wait);
        assert_eq!(next_step(with_free(500, 200), true), SpaceStep::Compact);
        assert_eq!(next_step(with_free(414, 300), true), SpaceStep::Wait);
        assert_eq!(next_step(with_free(415, 300), true), SpaceStep::Evict, "166 bytes are left");
        assert_eq!(next_step(with_free(414, 166), false), SpaceStep::Wait);
        assert_eq!(next_step(with_free(415, 166), false), SpaceStep::Compact);
    }

    #[test]
    fn a_step_is_possible_and_helps() {
        let frees = [None, Some(0), Some(300), Some(450), Some(1_000)];
        let steps = (0..1_200).step_by(5).flat_map(|files| {
            (0..=files).step_by(7).flat_map(move |content| {
                [None, Some(files * 9 / 10), Some(files / 2)].into_iter().flat_map(
                    move |compacted| {
                        frees.into_iter().map(move |free| DatabaseSizes {
                            free,
                            compacted,
                            ..sizes(files, content)
                        })
                    },
                )
            })
        });
        for sizes in steps {
            let DatabaseSizes { files, content, free, compacted, .. } = sizes;
            let copy = largest_copy(content);
            let has_room = free.is_none_or(|free| copy <= free);
            let has_grown = compacted.is_none_or(|bytes| files - bytes >= 125);
            for may_evict in [false, true] {
                let is_right = match next_step(sizes, may_evict) {
                    SpaceStep::Nothing => files < 625,
                    SpaceStep::Compact => {
                        copy < files && has_room && (!may_evict || copy <= 500 && has_grown)
                    }
                    SpaceStep::Evict => may_evict && (copy > 500 || !has_grown),
                    SpaceStep::Wait => !has_room || !may_evict && (copy >= files || content > 332),
                };
                assert!(
                    is_right
                        && (files < 625) == (next_step(sizes, may_evict) == SpaceStep::Nothing),
                    "{sizes:?}, {may_evict}"
                );
            }
        }
    }
}
