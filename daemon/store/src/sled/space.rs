//! Decides whether a database near its limit is compacted, and whether content is evicted first.
//!
//! If the compacted copy of the content is clearly below [`NEAR_LIMIT`], nothing is evicted: the
//! database is only compacted. If there is more content, the oldest is evicted until [`TARGET`] is
//! reached, and the rest is copied. The old and the new file together may temporarily exceed the
//! limit: by an eighth of it if the old file has just reached [`NEAR_LIMIT`], by half of it after
//! text was refused, and by up to five sixths of it if much text is not indexed yet.
//!
//! If the disk has no free space for the copy, the old file stays. Content is then evicted only
//! shortly before text is refused ([`ALMOST_FULL`]). sled reuses segments that an eviction empties,
//! so new text can still be stored.

use crate::{EvictionProgress, SpaceStep};

/// The database should become smaller when its files take at least this many eighths of the limit.
const NEAR_LIMIT: u64 = 5;
/// Eviction should reduce the content to the limit divided by this number. A compacted database is
/// about 2.2 times as large as its content, and the old database exists until the new one is
/// complete. Together they take 5/8 + 2.2/6 of the limit, which is just less than the limit.
const TARGET: u64 = 6;
/// Content is evicted only if it has more bytes than the limit divided by this number. The largest
/// copy of less content takes half of the limit, which is an eighth less than [`NEAR_LIMIT`].
///
/// A file grows to three and a half times its content, which is 5/8 of the limit if the content is
/// 5/28 (0.179) of it. So content between 0.179 and 0.2 of the limit is compacted after each growth
/// of the files by [`GROWTH`]. To avoid these compactions, more text would have to be evicted.
const FITTING: u64 = 5;
/// Content is evicted without free space for a copy when the files take at least this many eighths
/// of the limit, or when text is refused.
const ALMOST_FULL: u64 = 7;
/// The database is compacted without an eviction only after its files grew by the limit divided by
/// this number since the last compaction, or its content shrank by half as much.
const GROWTH: u64 = 8;
/// Text is refused when fewer than this many bytes of the limit are left or, with a limit below
/// 32 MiB, less than a quarter of the limit. This space is reserved for small records and for the
/// segments that sled allocates.
const MARGIN: u64 = 8 << 20;
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
    /// The sizes after the compaction with which the database was opened; `None` if it was not
    /// compacted then.
    pub(super) compacted: Option<CompactedSizes>,
}

/// The sizes of a database after its compaction, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompactedSizes {
    pub(super) files: u64,
    pub(super) content: u64,
}

/// Whether files with `files` bytes are so close to `limit` that they should become smaller.
pub(super) fn is_near_limit(files: u64, limit: u64) -> bool {
    files >= limit / 8 * NEAR_LIMIT
}

/// Whether files with `files` bytes leave no space for text within `limit`.
pub(super) fn is_full(files: u64, limit: u64) -> bool {
    files > limit - MARGIN.min(limit / 4)
}

/// Returns the size, in bytes, to which eviction should reduce the content.
pub(super) fn content_target(limit: u64) -> u64 {
    limit / TARGET
}

/// Returns the maximum size, in bytes, of a new database with `content` bytes of content.
pub(super) fn largest_copy(content: u64) -> u64 {
    content.saturating_mul(NEW_FILE.0) / NEW_FILE.1
}

/// Returns the next step to make the files smaller.
pub(super) fn next_step(sizes: DatabaseSizes, progress: EvictionProgress) -> SpaceStep {
    let DatabaseSizes { limit, files, content, free, compacted } = sizes;
    if !is_near_limit(files, limit) {
        return SpaceStep::Nothing;
    }
    let has_free_space = |content| free.is_none_or(|free| largest_copy(content) <= free);
    // Without this condition, a database whose copy is larger than expected would be compacted
    // again and again.
    let has_changed = compacted.is_none_or(|last| {
        files >= last.files.saturating_add(limit / GROWTH)
            || content.saturating_add(limit / GROWTH / 2) <= last.content
    });
    let fits = content <= limit / FITTING && has_changed && has_free_space(content);
    let target = content_target(limit);
    if progress == EvictionProgress::NotTried && !fits && content > target {
        let is_almost_full = files >= limit / 8 * ALMOST_FULL || is_full(files, limit);
        return match has_free_space(target) || is_almost_full {
            true => SpaceStep::Evict,
            false => SpaceStep::Wait,
        };
    }
    // With much text that is not indexed yet, a compacted database may have twice the intended
    // size, and the old and the new file together temporarily exceed the limit. It would be worse
    // to refuse all text forever. A copy of even more content would have no space for new text.
    let is_useful = content <= target.saturating_mul(2)
        && largest_copy(content) < files
        && (has_changed || progress == EvictionProgress::Evicted);
    if is_useful && has_free_space(content) { SpaceStep::Compact } else { SpaceStep::Wait }
}

#[cfg(test)]
mod tests {
    use super::{EvictionProgress::*, *};

    /// Sizes of a database with a limit of 1,000 bytes. Text is refused from 751 bytes on.
    fn sizes(files: u64, content: u64) -> DatabaseSizes {
        DatabaseSizes { limit: 1_000, files, content, free: None, compacted: None }
    }

    #[test]
    fn content_is_evicted_only_if_its_copy_would_not_fit() {
        assert_eq!(next_step(sizes(624, 400), NotTried), SpaceStep::Nothing);
        assert_eq!(next_step(sizes(625, 200), NotTried), SpaceStep::Compact);
        assert_eq!(next_step(sizes(990, 200), NotTried), SpaceStep::Compact);
        assert_eq!(next_step(sizes(625, 201), NotTried), SpaceStep::Evict);
        assert_eq!(next_step(sizes(625, 166), Evicted), SpaceStep::Compact);
        assert_eq!(next_step(sizes(625, 249), NothingEvicted), SpaceStep::Compact, "text waits");
        assert_eq!(next_step(sizes(625, 250), Evicted), SpaceStep::Wait, "a copy is not smaller");
        assert_eq!(next_step(sizes(990, 333), Evicted), SpaceStep::Wait, "the copy would be full");
    }

    #[test]
    fn a_database_that_hardly_changed_since_its_compaction_is_not_compacted_again() {
        let step = |before, files, content, progress| {
            let compacted = Some(CompactedSizes { files: before, content: 200 });
            next_step(DatabaseSizes { compacted, ..sizes(files, content) }, progress)
        };
        assert_eq!(step(500, 625, 200, NotTried), SpaceStep::Compact);
        assert_eq!(step(501, 625, 200, NotTried), SpaceStep::Evict);
        assert_eq!(step(501, 625, 200, NothingEvicted), SpaceStep::Wait);
        assert_eq!(step(501, 625, 180, Evicted), SpaceStep::Compact);
        assert_eq!(step(625, 749, 200, NotTried), SpaceStep::Evict);
        assert_eq!(step(625, 750, 200, NotTried), SpaceStep::Compact);
        assert_eq!(step(625, 749, 160, NotTried), SpaceStep::Wait, "the target is reached");
        assert_eq!(step(625, 625, 138, NotTried), SpaceStep::Compact, "sessions were forgotten");
        assert_eq!(step(625, 625, 139, NotTried), SpaceStep::Wait);
        assert_eq!(step(400, 624, 200, NotTried), SpaceStep::Nothing);
    }

    #[test]
    fn without_free_space_for_a_copy_content_is_evicted_only_before_text_is_refused() {
        let step = |files, free, content, progress| {
            next_step(DatabaseSizes { free: Some(free), ..sizes(files, content) }, progress)
        };
        assert_eq!(step(700, 500, 200, NotTried), SpaceStep::Compact);
        assert_eq!(step(700, 499, 200, NotTried), SpaceStep::Evict, "166 bytes can be copied");
        assert_eq!(step(700, 415, 300, NotTried), SpaceStep::Evict, "166 bytes can be copied");
        assert_eq!(step(700, 414, 200, NotTried), SpaceStep::Wait);
        assert_eq!(step(700, 414, 300, NotTried), SpaceStep::Wait);
        assert_eq!(step(700, 414, 166, Evicted), SpaceStep::Wait);
        assert_eq!(step(700, 415, 166, Evicted), SpaceStep::Compact);
        assert_eq!(step(751, 0, 167, NotTried), SpaceStep::Evict, "text is refused");
        assert_eq!(step(750, 0, 167, NotTried), SpaceStep::Wait);
        assert_eq!(step(751, 0, 166, NotTried), SpaceStep::Wait, "the target is reached");
        assert_eq!(step(751, 0, 166, Evicted), SpaceStep::Wait);

        let large = |files| DatabaseSizes {
            limit: 4 << 30,
            files,
            content: 1 << 30,
            free: Some(1 << 30),
            compacted: None,
        };
        assert_eq!(next_step(large((7 << 29) - 1), NotTried), SpaceStep::Wait);
        assert_eq!(next_step(large(7 << 29), NotTried), SpaceStep::Evict, "7/8 of the limit");
    }

    #[test]
    fn less_content_never_prevents_a_step() {
        for (files, free) in (625..1_200).step_by(25).zip((0..600).step_by(7).cycle()) {
            for content in 0..400 {
                let step = |content| {
                    let sizes = DatabaseSizes { free: Some(free), ..sizes(files, content) };
                    next_step(sizes, NotTried)
                };
                let is_stuck = step(content) == SpaceStep::Wait && content > 166;
                assert!(
                    !is_stuck || step(content + 1) == SpaceStep::Wait,
                    "{files} {free} {content}"
                );
            }
        }
    }

    #[test]
    fn a_step_is_possible_and_helps() {
        let frees = [None, Some(0), Some(300), Some(450), Some(1_000)];
        let steps = (0..1_200).step_by(5).flat_map(|files| {
            (0..=files).step_by(7).flat_map(move |content| {
                [None, Some(files * 9 / 10), Some(files / 2)].into_iter().flat_map(move |before| {
                    let compacted = before.map(|files| CompactedSizes { files, content });
                    frees.map(|free| DatabaseSizes { free, compacted, ..sizes(files, content) })
                })
            })
        });
        for sizes in steps {
            let DatabaseSizes { files, content, free, compacted, .. } = sizes;
            let copy = largest_copy(content);
            let has_free_space = |copy| free.is_none_or(|free| copy <= free);
            let has_grown = compacted.is_none_or(|last| files - last.files >= 125);
            let fits = copy <= 500 && has_grown && has_free_space(copy);
            let can_be_evicted = content > 166 && (has_free_space(415) || files > 750);
            for progress in [NotTried, Evicted, NothingEvicted] {
                let is_due = has_grown || progress == Evicted;
                let is_copied = copy < files && has_free_space(copy) && content <= 332 && is_due;
                let may_evict = progress == NotTried && !fits;
                let is_right = match next_step(sizes, progress) {
                    SpaceStep::Nothing => files < 625,
                    SpaceStep::Compact => is_copied && !(may_evict && content > 166),
                    SpaceStep::Evict => may_evict && can_be_evicted,
                    SpaceStep::Wait => !(may_evict && can_be_evicted || fits && is_copied),
                };
                assert!(
                    is_right && (files < 625) == (next_step(sizes, progress) == SpaceStep::Nothing),
                    "{sizes:?}, {progress:?}"
                );
            }
        }
    }
}
