//! Compares the spelling of words.

/// Whether `one` becomes `other` by inserting, removing or replacing one character, or by swapping
/// two adjacent characters.
pub(crate) fn is_one_edit(one: &str, other: &str) -> bool {
    if one.len().abs_diff(other.len()) > 4 {
        return false;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[same..], &other[same..]);
    match (one, other) {
        ([_, one @ ..], [_, other @ ..]) if one == other => true,
        ([_, rest @ ..], other) if rest == other => true,
        (one, [_, rest @ ..]) if one == rest => true,
        ([a, b, one @ ..], [c, d, other @ ..]) => a == d && b == c && one == other,
        _ => false,
    }
}

/// Whether both words begin with the same character, and at most two edits, as in [`is_one_edit`],
/// turn `one` into `other`.
pub(crate) fn is_two_edits(one: &str, other: &str) -> bool {
    const MOST: usize = 2;
    // Most words are rejected here, without an allocation.
    if one.len().abs_diff(other.len()) > 4 * MOST || one.chars().next() != other.chars().next() {
        return false;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > MOST {
        return false;
    }
    // The rows of the distance matrix for the two characters before the current one.
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for at in 0..one.len() {
        let mut next = vec![at + 1];
        for (to, wanted) in other.iter().enumerate() {
            let replaced = row[to] + usize::from(one[at] != *wanted);
            let mut least = replaced.min(row[to + 1] + 1).min(next[to] + 1);
            if at > 0 && to > 0 && one[at] == other[to - 1] && one[at - 1] == *wanted {
                least = least.min(before[to - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()] <= MOST
}

/// Whether both words consist of the same letters. If the words are one edit apart, this means that
/// two letters are swapped.
pub(crate) fn is_swap(one: &str, other: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_is_one_typing_error() {
        for (one, other) in [
            ("counter", "coutner"),
            ("counter", "conter"),
            ("counter", "countter"),
            ("counter", "countor"),
            ("counter", "ounter"),
            ("counter", "counters"),
            ("остаток", "остатки"),
        ] {
            let wanted = one != "остаток";
            assert_eq!(is_one_edit(one, other), wanted, "{one} {other}");
            assert_eq!(is_one_edit(other, one), wanted, "{other} {one}");
        }
        assert!(!is_one_edit("counter", "contre"));
    }

    #[test]
    fn two_edits_are_at_most_two_typing_errors() {
        for other in ["thermostat", "thermostatt", "thermstatt", "tehrmosatt", "thermo-stats"] {
            assert!(is_two_edits("thermostat", other), "{other}");
            assert!(is_two_edits(other, "thermostat"), "{other}");
        }
        for other in ["thermal", "thrmstatt", "thermostatted", "hermostat"] {
            assert!(!is_two_edits("thermostat", other), "{other}");
        }
    }
}
