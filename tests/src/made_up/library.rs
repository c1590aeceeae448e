//! The vocabulary of generated sessions: prose and code with words of decreasing frequency.

use crate::Random;

/// Number of different words.
const WORDS: usize = 20_000;
/// Size in bytes of the generated prose; the generated code has the same size.
const TEXT_BYTES: usize = 4 << 20;

/// Texts from which generated sessions quote.
pub struct Library {
    words: Vec<String>,
    prose: String,
    code: String,
    noise: String,
}

impl Default for Library {
    fn default() -> Library {
        Library::new()
    }
}

impl Library {
    /// Generates the texts, always with the same seed.
    pub fn new() -> Library {
        let mut random = Random::new(1);
        let words = words();
        let mut library =
            Library { words, prose: String::new(), code: String::new(), noise: String::new() };
        while library.prose.len() < TEXT_BYTES {
            let end = if random.below(12) == 0 { ".\n" } else { " " };
            let word = library.word(&mut random).to_owned();
            library.prose.extend([&word, end]);
        }
        while library.code.len() < TEXT_BYTES {
            let indent = 4 * random.below(5);
            let [one, two, three] = [(); 3].map(|()| library.word(&mut random).to_owned());
            library
                .code
                .push_str(&format!("{:indent$}let {one} = {two}(\"{three}\", &{one});\n", ""));
        }
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        library.noise = (0..TEXT_BYTES / 8).map(|_| char::from(DIGITS[random.below(64)])).collect();
        library
    }

    /// Returns a random word; words at the start of the list are more frequent.
    pub fn word(&self, random: &mut Random) -> &str {
        let share = random.below(1_000_000) as f64 / 1e6;
        &self.words[((self.words.len() as f64).powf(share) - 1.0) as usize]
    }

    /// Returns three words, as a user may search for them.
    pub fn question(&self, random: &mut Random) -> String {
        let words: Vec<&str> = (0..3).map(|_| self.word(random)).collect();
        words.join(" ")
    }

    /// Returns the path of a file in the project.
    pub fn path(&self, random: &mut Random) -> String {
        format!(
            "/home/ann/app/src/{}/{}.rs",
            self.words[random.below(20)],
            self.words[random.below(200)]
        )
    }

    /// Returns about `bytes` bytes of prose.
    pub fn prose(&self, random: &mut Random, bytes: usize) -> &str {
        quote(&self.prose, random, bytes)
    }

    /// Returns about `bytes` bytes of code.
    pub fn code(&self, random: &mut Random, bytes: usize) -> &str {
        quote(&self.code, random, bytes)
    }

    /// Returns about `bytes` random base64 characters, like encoded data.
    pub fn noise(&self, random: &mut Random, bytes: usize) -> &str {
        quote(&self.noise, random, bytes)
    }
}

/// Returns a random piece of `text`, which must be ASCII. Its length is 0.5 to 1.5 times `bytes`.
fn quote<'t>(text: &'t str, random: &mut Random, bytes: usize) -> &'t str {
    let length = bytes / 2 + random.below(bytes);
    let start = random.below(text.len() - length);
    &text[start..start + length]
}

fn words() -> Vec<String> {
    let syllables = ["ba", "ko", "ri", "tem", "sul", "na", "vor", "de", "lin", "mas", "pu", "gra"];
    let made = |number: usize| {
        let (mut word, mut rest) = (String::new(), number * 7_919);
        while rest > 0 {
            word.push_str(syllables[rest % syllables.len()]);
            rest /= syllables.len();
        }
        if number.is_multiple_of(10) { word + "_handler" } else { word }
    };
    (1..=WORDS).map(made).collect()
}
