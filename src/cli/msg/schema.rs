//! The JSON Schema of the messages.

use upbeat_record::ipc::message::event::EventLine;
use upbeat_record::ipc::message::{RequestLine, ResponseLine};

/// The messages of both sides, as a JSON Schema: `question`, `answer` and `news` are the kinds of lines.
pub(super) fn schema() -> schemars::Schema {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is wanted")]
    struct Lines {
        /// A request to the session.
        question: RequestLine,
        /// The line that answers a request.
        answer: ResponseLine,
        /// An event, sent to clients that follow events.
        news: EventLine,
    }
    schemars::schema_for!(Lines)
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;

    /// Within a version, fields and kinds are only added: a line that disappears from the file is a mistake.
    #[test]
    fn schema_is_the_documented_one() {
        let text = serde_json::to_string_pretty(&schema()).unwrap();
        expect_file!["../../../docs/messages.schema.json"].assert_eq(&(text + "\n"));
    }

    #[test]
    fn schema_has_every_message() {
        let text = serde_json::to_string(&schema()).unwrap();
        for word in ["why-late", "window-closed", "pick-window", "set-vrr", "submit_lead", "Physical pixels per"] {
            assert!(text.contains(word), "{word} is not in the schema");
        }
    }

    #[test]
    fn the_documentation_has_every_question_and_every_event() {
        let (page, schema) = (include_str!("../../../docs/messages.md"), serde_json::to_value(schema()).unwrap());
        let mut count = 0;
        for part in ["Request", "Event"] {
            for kind in schema["$defs"][part]["oneOf"].as_array().unwrap() {
                let kind = kind["properties"]["kind"]["const"].as_str().unwrap();
                assert!(page.contains(&format!("`{kind}`")), "{part} {kind} is not in docs/messages.md");
                count += 1;
            }
        }
        assert!(count > 35, "only {count} kinds were found");
    }
}
