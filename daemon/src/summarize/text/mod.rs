//! Reading and tidying prose: blocks and sentences out of Markdown, one clean line out of debris.
//!
//! Everything here works on text alone; what a sentence means is decided by its callers.

mod blocks;
mod clean;
mod compare;
mod sentences;

pub(crate) use self::{
    blocks::{Block, blocks},
    clean::{cut, is_picture, kept, one_line, without_ansi, without_code},
    compare::{same_words, share_of_words, words},
    sentences::{capitalised, has_label, sentences, standing_alone, without_full_stop},
};
pub(crate) use crate::pattern::pattern;
