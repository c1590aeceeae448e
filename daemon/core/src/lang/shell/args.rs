//! The arguments of a program: options, their values, and the other words.

/// The words after a program's name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Args {
    /// Options and toolchains (`+nightly`), as written.
    pub flags: Vec<String>,
    /// Options that have a value, each with its value.
    pub values: Vec<(String, String)>,
    /// The words that are not options, in order.
    pub positionals: Vec<String>,
    /// The index of each positional among all words.
    places: Vec<usize>,
}

impl Args {
    /// Divides `words` into options, values and other words. The word after an option in `takes` is
    /// the value of this option.
    pub fn of(words: &[String], takes: &[String]) -> Args {
        let mut args = Args::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let is_option = word.len() > 1 && word.starts_with('-') || is_toolchain(word);
            if !is_option || word == "--" {
                if word != "--" {
                    args.positionals.push(word.clone());
                    args.places.push(at);
                }
                at += 1;
                continue;
            }
            args.flags.push(word.clone());
            let value = words.get(at + 1).filter(|_| takes.iter().any(|option| option == word));
            if let Some(value) = value {
                args.values.push((word.clone(), value.clone()));
                at += 1;
            } else if let Some((option, value)) = word.split_once('=') {
                args.values.push((option.to_owned(), value.to_owned()));
            }
            at += 1;
        }
        args
    }

    /// Whether the option is present: alone, in a word with other options (`-am`), with a value
    /// (`--format=x`) or with a suffix (`-i.bak`).
    pub fn has(&self, option: &str) -> bool {
        self.flags.iter().any(|flag| is_option(flag, option))
    }

    /// Returns the first value of one of `options`.
    pub fn value(&self, options: &[&str]) -> Option<&str> {
        let found = self.values.iter().find(|(option, _)| options.contains(&option.as_str()));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the index among all words of the word that has the index `index` in `positionals`.
    pub(crate) fn place(&self, index: usize) -> Option<usize> {
        self.places.get(index).copied()
    }
}

/// Whether a word selects a toolchain of `cargo` or `rustc`, such as `+nightly`.
fn is_toolchain(word: &str) -> bool {
    word.len() > 1 && word.starts_with('+')
}

fn is_option(flag: &str, option: &str) -> bool {
    const MOST_LETTERS: usize = 4;
    if flag == option {
        return true;
    }
    let is_letter = option.len() == 2 && !option.starts_with("--");
    if let Some(rest) = flag.strip_prefix(option) {
        return rest.starts_with('=')
            || (is_letter
                && !rest.starts_with(|next: char| next.is_ascii_alphabetic() || next == '-'))
            || (is_letter && flag.len() <= MOST_LETTERS);
    }
    is_letter
        && !flag.starts_with("--")
        && flag.len() <= MOST_LETTERS
        && flag.contains(&option[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_their_values_are_distinguished_from_words() {
        let words: Vec<String> =
            "-C dir log --format=%h -n 5 -- src".split(' ').map(str::to_owned).collect();
        let args = Args::of(&words, &["-C".to_owned(), "-n".to_owned()]);
        assert_eq!(args.positionals, ["log", "src"]);
        assert_eq!(args.flags, ["-C", "--format=%h", "-n"]);
        assert_eq!(args.value(&["-n"]), Some("5"));
        assert_eq!(args.value(&["--format"]), Some("%h"));
        assert_eq!(args.place(1), Some(7));
    }

    #[test]
    fn an_option_is_found_in_each_spelling() {
        let has = |flag: &str, option| Args::of(&[flag.to_owned()], &[]).has(option);
        assert!(has("-am", "-a") && has("-i.bak", "-i") && has("--list", "--list"));
        assert!(has("--format=x", "--format") && has("-rf", "-r"));
        assert!(!has("--list-all", "--list") && !has("-name", "-m") && !has("--delete", "-d"));
        assert!(!has("-", "-d") && !has("-exec", "-x"));
    }
}
