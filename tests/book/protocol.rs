//! Renders a protocol's XML as a Markdown page.

use std::fmt::Write;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// An XML element and its children.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    text: String,
}

impl Element {
    /// Parses a document; its root element is the only child.
    fn read(xml: &str) -> Self {
        let mut reader = Reader::from_str(xml);
        let mut open = vec![Element::default()];
        loop {
            match reader.read_event().expect("well-formed XML") {
                Event::Start(tag) => open.push(Element::named(&tag)),
                Event::Empty(tag) => {
                    let element = Element::named(&tag);
                    open.last_mut().expect("the document").children.push(element);
                }
                Event::End(_) => {
                    let closed = open.pop().expect("an open element");
                    open.last_mut().expect("the document").children.push(closed);
                }
                Event::Text(text) => open.last_mut().expect("the document").text += &text.decode().expect("UTF-8"),
                Event::GeneralRef(entity) => {
                    let letter = match entity.decode().expect("UTF-8").as_ref() {
                        "lt" => '<',
                        "gt" => '>',
                        "amp" => '&',
                        "quot" => '"',
                        "apos" => '\'',
                        other => panic!("&{other};"),
                    };
                    open.last_mut().expect("the document").text.push(letter);
                }
                Event::Eof => return open.swap_remove(0),
                _ => {}
            }
        }
    }

    fn named(tag: &BytesStart<'_>) -> Self {
        let attributes = tag.attributes().map(|attribute| {
            let attribute = attribute.expect("an attribute");
            let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            let value = String::from_utf8_lossy(&attribute.value).replace("&gt;", ">").replace("&lt;", "<");
            (name, value.replace("&amp;", "&"))
        });
        let attributes = attributes.collect();
        let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
        Element { name, attributes, ..Element::default() }
    }

    fn get(&self, attribute: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == attribute).map(|(_, value)| value.as_str())
    }

    /// An attribute that the protocol's DTD requires.
    fn needed(&self, attribute: &str) -> &str {
        self.get(attribute).unwrap_or_else(|| panic!("<{}> without {attribute}", self.name))
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The summary in one line: the element's own attribute, or else its description's.
    fn summary(&self) -> String {
        let described = || self.all("description").next().and_then(|description| description.get("summary"));
        self.get("summary").or_else(described).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The text of its description, without the indentation of the file.
    fn description(&self) -> String {
        self.all("description").next().map(|description| dedented(&description.text)).unwrap_or_default()
    }
}

/// The lines without their common indentation.
fn dedented(text: &str) -> String {
    let indentation = |line: &&str| line.len() - line.trim_start().len();
    let least = text.lines().filter(|line| !line.trim().is_empty()).map(|line| indentation(&line)).min().unwrap_or(0);
    let lines: Vec<_> = text.lines().map(|line| line.get(least..).unwrap_or_default().trim_end()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Escapes the characters that Markdown or HTML would interpret.
fn escaped(text: &str) -> String {
    // Lines that are indented by four or more are diagrams: Markdown shows them verbatim.
    let line = |line: &str| {
        if line.starts_with("    ") { line.to_owned() } else { line.replace('<', "&lt;").replace('*', "\\*") }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A description in one table cell.
fn cell(text: &str) -> String {
    escaped(text).split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// The page of the protocol with this `xml`, from the file at `path`.
pub fn page(xml: &str, path: &str) -> String {
    let document = Element::read(xml);
    let protocol = &document.children[0];
    let mut page = format!(
        "<!-- Made from {path} by tests/book; UPDATE_EXPECT=1 cargo test --test book makes it anew. -->\n\n# {}\n\n*{}*\n\n\
         The XML, with its licence, is `{path}`.\n",
        protocol.needed("name"),
        protocol.summary(),
    );
    paragraph(&mut page, &protocol.description());
    for interface in protocol.all("interface") {
        let version = interface.needed("version");
        let _ = write!(page, "\n## {}, version {version}\n", interface.needed("name"));
        paragraph(&mut page, &interface.description());
        for (kind, word) in [("request", "Request"), ("event", "Event")] {
            for message in interface.all(kind) {
                of_message(&mut page, interface.needed("name"), word, message);
            }
        }
        for of in interface.all("enum") {
            of_enum(&mut page, interface.needed("name"), of);
        }
    }
    page
}

fn paragraph(page: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = write!(page, "\n{}\n", escaped(text));
    }
}

fn of_message(page: &mut String, interface: &str, word: &str, message: &Element) {
    let since = message.get("since").map(|since| format!(", since version {since}")).unwrap_or_default();
    let destructor = if message.get("type") == Some("destructor") { ", ends the object" } else { "" };
    let name = message.needed("name");
    let _ = write!(page, "\n### {word} {interface}.{name}\n\n*{}{destructor}{since}*\n", message.summary());
    paragraph(page, &message.description());
    if message.all("arg").next().is_some() {
        page.push_str("\n| argument | type | meaning |\n|---|---|---|\n");
    }
    for argument in message.all("arg") {
        let of = argument.get("enum").or(argument.get("interface")).map(|of| format!(" `{of}`")).unwrap_or_default();
        let null = if argument.get("allow-null") == Some("true") { ", may be null" } else { "" };
        let (name, kind) = (argument.needed("name"), argument.needed("type"));
        let _ = writeln!(page, "| `{name}` | {kind}{of}{null} | {} |", cell(&argument.summary()));
    }
}

fn of_enum(page: &mut String, interface: &str, of: &Element) {
    let flags = if of.get("bitfield") == Some("true") { ": flags" } else { "" };
    let _ = write!(page, "\n### Enumeration {interface}.{}{flags}\n", of.needed("name"));
    paragraph(page, &of.description());
    page.push_str("\n| value | number | meaning |\n|---|---|---|\n");
    for entry in of.all("entry") {
        let (name, value) = (entry.needed("name"), entry.needed("value"));
        let mut meaning = cell(&entry.summary());
        let description = cell(&entry.description());
        if !description.is_empty() {
            let _ = write!(meaning, ". {description}");
        }
        let _ = writeln!(page, "| `{name}` | {value} | {meaning} |");
    }
}

#[test]
fn protocol_xml_is_rendered_as_markdown() {
    let xml = r#"<protocol name="knock_v1"><description summary="knocking">
        Knock.

            |  a door &lt;

        Twice * two.
      </description><interface name="knock" version="2">
      <description summary="a knock">A knock.</description>
      <request name="destroy" type="destructor" since="2"><description summary="no more">Over.</description></request>
      <event name="heard"><description summary="somebody is there">Hm.</description>
        <arg name="who" type="object" interface="wl_surface" allow-null="true" summary="who | what"/></event>
      <enum name="mood" bitfield="true"><entry name="glad" value="0x1" summary="good"/>
        <entry name="sad" value="0x2"><description summary="bad">
          In tears
          or worse.</description></entry></enum></interface></protocol>"#;
    let page = page(xml, "knock.xml");
    for wanted in [
        "# knock_v1\n\n*knocking*\n",
        "\nKnock.\n\n    |  a door <\n\nTwice \\* two.\n",
        "## knock, version 2\n\nA knock.\n",
        "### Request knock.destroy\n\n*no more, ends the object, since version 2*\n\nOver.\n",
        "| `who` | object `wl_surface`, may be null | who \\| what |",
        "### Enumeration knock.mood: flags\n",
        "| `sad` | 0x2 | bad. In tears or worse. |",
    ] {
        assert!(page.contains(wanted), "no {wanted:?} in\n{page}");
    }
}
