//! Reads the checkable parts of a Markdown page: links, code blocks, headings and names in backticks.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Line in the file, counted from one.
    pub line: usize,
    /// The target as written.
    pub target: String,
    pub is_picture: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownCodeBlock {
    /// First line, counted from one.
    pub line: usize,
    /// The word after the fence, such as `sh`; `None` for an indented block.
    pub language: Option<String>,
    pub text: String,
    /// The file of an excerpt, from `<!-- from FILE -->` in front of the block.
    pub from: Option<String>,
}

#[derive(Debug, Default)]
pub struct MarkdownPage {
    /// Anchors of the headings, as links name them.
    pub anchors: BTreeSet<String>,
    /// Text of the first heading.
    pub title: String,
    pub links: Vec<Link>,
    pub code: Vec<MarkdownCodeBlock>,
    /// Text in backticks, with its line.
    pub names: Vec<(usize, String)>,
}

impl MarkdownPage {
    pub fn read(text: &str) -> Self {
        let mut page = MarkdownPage::default();
        let mut repeated: BTreeMap<String, usize> = BTreeMap::new();
        let mut heading: Option<String> = None;
        let mut code: Option<MarkdownCodeBlock> = None;
        let mut from = None;
        let line = |at: usize| text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let words = heading.take().unwrap_or_default();
                    let name = anchor(&words);
                    let before = repeated.entry(name.clone()).or_default();
                    page.anchors.insert(if *before == 0 { name } else { format!("{name}-{before}") });
                    *before += 1;
                    if page.title.is_empty() {
                        page.title = words;
                    }
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    page.links.push(Link { line: line(range.start), target: dest_url.to_string(), is_picture: false })
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    page.links.push(Link { line: line(range.start), target: dest_url.to_string(), is_picture: true })
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        CodeBlockKind::Fenced(language) => Some(language.to_string()),
                        CodeBlockKind::Indented => None,
                    };
                    code = Some(MarkdownCodeBlock {
                        line: line(range.start),
                        language,
                        text: String::new(),
                        from: from.take(),
                    });
                }
                Event::End(TagEnd::CodeBlock) => page.code.extend(code.take()),
                Event::Html(html) => {
                    let said = html.trim().strip_prefix("<!-- from ").and_then(|said| said.strip_suffix(" -->"));
                    from = said.map(str::to_owned);
                }
                Event::Text(words) => match (&mut code, &mut heading) {
                    (Some(code), _) => code.text.push_str(&words),
                    (None, Some(heading)) => heading.push_str(&words),
                    (None, None) => {}
                },
                Event::Code(words) => {
                    page.names.push((line(range.start), words.to_string()));
                    if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                _ => {}
            }
        }
        page
    }
}

/// The anchor of a heading, as mdBook and the usual hosts of repositories make it.
pub fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|letter| match letter {
        letter if letter.is_alphanumeric() || letter == '_' || letter == '-' => Some(letter.to_ascii_lowercase()),
        letter if letter.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

#[test]
fn markdown_page_is_parsed() {
    let page = MarkdownPage::read(
        "# The *loop*, and `why`\n\nSee [here](a.md#b) and ![that](c.png), `src/main.rs`.\n\n## Twice\n## Twice\n\n\
         <!-- from examples/c/ahead.c -->\n```c\nint main;\n```\n",
    );
    assert_eq!(page.title, "The loop, and why");
    assert!(["the-loop-and-why", "twice", "twice-1"].iter().all(|anchor| page.anchors.contains(*anchor)));
    let links: Vec<_> = page.links.iter().map(|link| (link.line, link.target.as_str(), link.is_picture)).collect();
    assert_eq!(links, [(3, "a.md#b", false), (3, "c.png", true)]);
    assert_eq!(page.names[1], (3, "src/main.rs".to_owned()));
    let code = MarkdownCodeBlock {
        line: 9,
        language: Some("c".to_owned()),
        text: "int main;\n".to_owned(),
        from: Some("examples/c/ahead.c".to_owned()),
    };
    assert_eq!(page.code, [code]);
}
