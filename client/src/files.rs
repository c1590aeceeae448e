//! Reads external files with a limit on their size.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Maximum length, in bytes, of settings, templates and similar files.
pub(crate) const LONGEST_TEXT: u64 = 16 << 20;

/// Reads a file of at most `longest` bytes.
///
/// # Errors
///
/// Also fails if the file is longer than `longest`, or is not a regular file: a pipe may never end.
pub(crate) fn read(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let wrong = |kind, what: String| Err(io::Error::new(kind, what));
    // Checked before opening, because opening a pipe may block.
    if !std::fs::metadata(path)?.is_file() {
        return wrong(io::ErrorKind::InvalidInput, "is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        let what = format!("is longer than {} MB; split it", longest >> 20);
        return wrong(io::ErrorKind::FileTooLarge, what);
    }
    Ok(bytes)
}

/// Same as [`read`], for text.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, LONGEST_TEXT)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is not valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_longer_than_the_limit_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read(&file, 5).unwrap(), b"12345");
        assert_eq!(read(&file, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(folder.path(), 4).unwrap_err().to_string(), "is not a regular file");
    }
}
