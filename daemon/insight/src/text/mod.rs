//! Parses and cleans prose: splits Markdown into blocks and sentences, removes noise from text, and
//! compares texts by their words.
//!
//! This module does not interpret text; the callers decide what a sentence means.

mod blocks;
mod clean;
mod code;
mod compare;
mod sentences;
mod spoken;

pub use self::clean::cut;
pub(crate) use self::{
    blocks::{Block, after_symbol, blocks, is_crossed, is_of_earlier_state, states_failure},
    clean::{
        around_gap, before_gap, is_glob, is_symbol, kept, kept_lines, kept_words, one_line,
        position_of_link, without_ansi,
    },
    code::{with_short_code, without_code},
    compare::{contains_name, is_ideograph, lacks_number, same_words, task_words, words},
    sentences::{
        capitalised, has_label, sentence_ends, sentences, without_full_stop, without_list_colon,
    },
    spoken::{spoken_sentences, without_opener},
};
pub(crate) use crate::{
    lang::prose::share_of_words,
    pattern::{pattern, patterns},
};
