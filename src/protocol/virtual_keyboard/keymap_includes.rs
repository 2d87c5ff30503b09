//! Counts the files that the text of a keymap includes.

/// Keywords that include the file named after them (`xkbcommon` has five of them).
const WORDS: [&[u8]; 5] = [b"include", b"augment", b"override", b"replace", b"alternate"];

/// How many files `text` includes directly. One statement may name several (`"pc+us"`), and each file may include more.
pub(super) fn count(text: &str) -> usize {
    // The larger count, because versions of the library disagree whether an escaped quotation mark ends a string.
    count_where(text, true).max(count_where(text, false))
}

fn count_where(text: &str, masks: bool) -> usize {
    let mut rest = text.as_bytes();
    let (mut count, mut includes) = (0, false);
    while let [first, others @ ..] = rest {
        let length = match first {
            b'#' => line(rest),
            b'/' if others.first() == Some(&b'/') => line(rest),
            b'"' => {
                let length = quoted(rest, masks);
                if std::mem::take(&mut includes) {
                    count += 1 + rest[..length].iter().filter(|byte| matches!(byte, b'+' | b'|' | b'^')).count();
                }
                length
            }
            byte => {
                let length = word(rest);
                let is_space = byte.is_ascii_whitespace();
                includes = is_space && includes || WORDS.iter().any(|word| word.eq_ignore_ascii_case(&rest[..length]));
                length
            }
        };
        rest = &rest[length..];
    }
    count
}

/// The length of the word, key name or single character at the start of `text`.
fn word(text: &[u8]) -> usize {
    let is_name = text.first() == Some(&b'<');
    let belongs = |byte: &&u8| match is_name {
        true => byte.is_ascii_graphic() && **byte != b'>',
        false => byte.is_ascii_alphanumeric() || **byte == b'_',
    };
    text.iter().take_while(belongs).count().max(1)
}

/// The length of the first line of `text`.
fn line(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len())
}

/// The length of the quoted string at the start of `text`, with its quotation marks.
fn quoted(text: &[u8], masks: bool) -> usize {
    let mut is_masked = false;
    let end = text[1..].iter().position(|byte| {
        let is_end = *byte == b'"' && !is_masked;
        is_masked = masks && *byte == b'\\' && !is_masked;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_include_is_counted_and_nothing_else() {
        assert_eq!(count("xkb_types { include \"complete\" };"), 1);
        let all = "INCLUDE\n // so\n \"pc+us|fr:2\" Augment \"a\" override\t\"b\" replace#so\n\"c\" alternate\"d\"";
        assert_eq!(count(all), 7);
        let none = "// include \"pc\"\n xkb_symbols \"pc+us\" { override key <A> { [ include ] }; name = \"x\"; };";
        assert_eq!(count(none), 0);
        assert_eq!(count("\"us\" includes \"us\" include <a> \"us\" include"), 0);
        assert_eq!(count("include \"us"), 1);
        // No quotation mark, real or apparent, can hide an include.
        for hidden in
            ["<\"> include \"us\"", "\"\\\"\" include \"us\"", "\"\\\" include \"us\"", "\"\\\\\" include \"us\""]
        {
            assert_eq!(count(hidden), 1, "{hidden}");
        }
    }
}
