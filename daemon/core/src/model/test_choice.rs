//! The names by which the command of a test run selects tests.

/// A name by which a command selects tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestChoice<'n> {
    /// The name of a test, or of the module, file or parent test that contains the test.
    Whole(&'n str),
    /// The beginning of the names of Go tests.
    Beginning(&'n str),
}

/// Returns the names by which a command may select tests, without the tests that the command
/// excludes. Only Go tests are selected by the beginnings of their names.
pub(super) fn chosen_tests(command: &str, is_go: bool) -> Vec<TestChoice<'_>> {
    let words = command.split(|c: char| c.is_whitespace() || "'\"=,;".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_name = |word: &str| {
        word.len() > 3 && !word.starts_with('-') && word.contains(['_', '.', ':', '/'])
    };
    let excludes = |word: &str| {
        matches!(
            word,
            "--skip" | "-skip" | "--deselect" | "--ignore" | "--ignore-glob" | "--exclude" | "not"
        )
    };
    let is_chosen = |at: &usize| is_name(words[*at]) && !(*at > 0 && excludes(words[*at - 1]));
    let mut names: Vec<_> =
        (0..words.len()).filter(is_chosen).map(|at| TestChoice::Whole(words[at])).collect();
    let is_run = |word: &str| matches!(word, "-run" | "--run" | "-test.run");
    let pattern = words.iter().copied().skip_while(|word| !is_run(word)).nth(1).filter(|_| is_go);
    names.extend(pattern.into_iter().flat_map(|pattern| pattern.split('|')).filter_map(|name| {
        let name = name.trim_start_matches(['^', '(']).trim_end_matches(')');
        match name.strip_suffix('$') {
            Some(whole) => Some(TestChoice::Whole(whole)),
            None => name.starts_with("Test").then_some(TestChoice::Beginning(name)),
        }
    }));
    names
}

/// Returns the full name of a test, the names of its module, file and parent tests, and the last
/// part of the name: `a.py::Suite::test`, `a.py::Suite`, `a.py`, `test`. For a possible Go test,
/// also returns the beginnings by which `-run` may select the test, such as `TestSaveAll` for
/// `TestSaveAll_Twice`. Beginnings of one word, such as `TestSave`, are excluded, because tests of
/// other packages may share them.
pub fn choices_of(test: &str) -> Vec<TestChoice<'_>> {
    let mut names = vec![test];
    names.extend(test.match_indices("::").map(|(at, _)| &test[..at]));
    names.extend(test.rsplit("::").next());
    let is_of_go = test.starts_with("Test");
    let groups: Vec<&str> =
        test.match_indices('/').filter(|_| is_of_go).map(|(at, _)| &test[..at]).collect();
    names.extend(&groups);
    names.sort_unstable();
    names.dedup();
    names.retain(|name| name.len() > 3);
    let mut names: Vec<_> = names.into_iter().map(TestChoice::Whole).collect();
    if is_of_go {
        let first = test.split('/').next().unwrap_or(test);
        let is_word_end = |at: usize| {
            let (before, after) = (first[..at].chars().next_back(), first[at..].chars().next());
            let is_small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
            after == Some('_')
                || before.is_some_and(is_small) && after.is_some_and(|c| c.is_ascii_uppercase())
        };
        let ends = first.char_indices().map(|(at, _)| at);
        let ends = ends.filter(|at| *at > "Test".len() && is_word_end(*at)).skip(1);
        let beginnings = ends.map(|at| &first[..at]).chain(groups).chain([test]);
        names.extend(beginnings.map(TestChoice::Beginning));
    }
    names
}
