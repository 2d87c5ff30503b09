//! Converts the documentation from Markdown to manual pages (`man`).

/// A page: its name, section, summary and text.
struct ManualPage {
    name: &'static str,
    section: u8,
    about: &'static str,
    text: &'static str,
}

const SOURCES: [ManualPage; 2] = [
    ManualPage {
        name: "upbeat-config",
        section: 5,
        about: "the configuration of the Wayland compositor Upbeat",
        text: include_str!("../../docs/configuration.md"),
    },
    ManualPage {
        name: "upbeat-messages",
        section: 7,
        about: "what is said on the private socket of an Upbeat session",
        text: include_str!("../../docs/messages.md"),
    },
];

/// Every option with its default: the last part of the page on the configuration.
const OPTIONS: &str = include_str!("../../config/default.toml");

/// File name and content of each page.
pub(super) fn pages() -> impl Iterator<Item = (String, String)> {
    SOURCES.iter().map(|source| {
        let options = match source.section {
            5 => format!(".SH ALL OPTIONS\n{}", plain_block(OPTIONS)),
            _ => String::new(),
        };
        (format!("{}.{}", source.name, source.section), format!("{}{options}", page(source)))
    })
}

fn page(source: &ManualPage) -> String {
    let ManualPage { name, section, about, text } = source;
    let mut out = format!(".TH {name} {section}\n.SH NAME\n{name} \\- {about}\n.SH DESCRIPTION\n");
    // The first line is the title.
    let mut lines = text.lines().skip(1);
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            out += &plain_block(&block.join("\n"));
        } else if let Some(heading) = line.strip_prefix("## ") {
            out += &format!(".SH {}\n", escaped(&heading.to_uppercase()));
        } else if let Some(row) = line.strip_prefix("| ") {
            out += &row_of_table(row);
        } else if line.is_empty() {
            out += ".PP\n";
        } else if !line.starts_with("|---") {
            out += &format!("{}\n", escaped(&without_links(line.trim_start())));
        }
    }
    out
}

/// Preformatted text, line for line.
fn plain_block(text: &str) -> String {
    let lines = text.lines().map(|line| format!("{}\n", escaped(line)));
    format!(".PP\n.RS 4\n.nf\n{}.fi\n.RE\n", lines.collect::<String>())
}

/// A row of a table: its last cell describes the cells before it.
fn row_of_table(row: &str) -> String {
    let cells: Vec<String> = row.trim_end_matches('|').split(" | ").map(|cell| cell.trim().replace('`', "")).collect();
    let Some((about, names)) = cells.split_last().filter(|(about, _)| !about.is_empty()) else { return String::new() };
    format!(".TP\n{}\n{}\n", escaped(&names.join("  ")), escaped(&without_links(about)))
}

/// Text without code marks and link targets, which only Markdown needs.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        out += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    (out + rest).replace(['[', '`'], "")
}

/// Escapes backslashes, literal hyphens, and lines that begin like a command, for `man`.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_headings_blocks_and_tables_and_nothing_of_markdown() {
        let source = ManualPage {
            name: "x",
            section: 7,
            about: "a page",
            text: "# Title\nSome `code` and a [link](there).\n## Part\n```sh\n.x -y\n```\n| a | b |\n|---|---|\n| `k` | what it is |\n",
        };
        assert_eq!(
            page(&source),
            ".TH x 7\n.SH NAME\nx \\- a page\n.SH DESCRIPTION\nSome code and a link.\n.SH PART\n\
             .PP\n.RS 4\n.nf\n\\&.x \\-y\n.fi\n.RE\n.TP\na\nb\n.TP\nk\nwhat it is\n"
        );
        let pages: Vec<_> = pages().collect();
        assert_eq!(pages.len(), 2);
        assert!(pages[0].1.contains(".SH ALL OPTIONS") && !pages.iter().any(|(_, text)| text.contains("```")));
    }
}
