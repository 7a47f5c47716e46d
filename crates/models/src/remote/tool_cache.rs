//! Caches serialised tool sets. The calls of one agent share a set, and its schemas are most of a short request
//! (ADR 18).

use std::{
    ptr,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use protocol::ToolSpec;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// The most cached sets; the least recently used one is removed first.
const MAX_ENTRIES: usize = 8;

/// The JSON format of a tool set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolFormat {
    OpenAi,
    OpenAiResponses,
    Anthropic,
    /// With a prompt cache mark on the last tool.
    AnthropicMarked,
    Gemini,
}

/// The serialised tool sets of one model.
#[derive(Debug, Default)]
pub struct ToolCache {
    /// The most recently used last.
    entries: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    /// Weak, so that the cache does not keep a set alive. Its allocation stays reserved: no other set can have its
    /// address.
    tools: Weak<[ToolSpec]>,
    format: ToolFormat,
    text: Arc<RawValue>,
}

impl Entry {
    fn matches(&self, tools: &Arc<[ToolSpec]>, format: ToolFormat) -> bool {
        self.format == format && ptr::addr_eq(self.tools.as_ptr(), Arc::as_ptr(tools))
    }
}

impl ToolCache {
    /// The serialised result of `write`, which must be the same for each call with one set and format; `None` without
    /// tools.
    pub fn text<'a, T: Serialize>(
        &self,
        tools: &'a Arc<[ToolSpec]>,
        format: ToolFormat,
        write: impl FnOnce(&'a [ToolSpec]) -> T,
    ) -> Result<Option<Arc<RawValue>>, serde_json::Error> {
        if tools.is_empty() {
            return Ok(None);
        }
        if let Some(text) = self.get(tools, format) {
            return Ok(Some(text));
        }
        let text: Arc<RawValue> = to_raw_value(&write(tools))?.into();
        self.insert(Entry { tools: Arc::downgrade(tools), format, text: Arc::clone(&text) }, tools);
        Ok(Some(text))
    }

    fn get(&self, tools: &Arc<[ToolSpec]>, format: ToolFormat) -> Option<Arc<RawValue>> {
        let mut entries = self.entries.lock();
        let index = entries.iter().rposition(|entry| entry.matches(tools, format))?;
        entries[index..].rotate_left(1);
        entries.last().map(|newest| Arc::clone(&newest.text))
    }

    /// Adds an entry, and removes sets that no longer exist and an entry of the same set that another call has added in
    /// the meantime.
    fn insert(&self, newest: Entry, tools: &Arc<[ToolSpec]>) {
        let mut entries = self.entries.lock();
        entries.retain(|entry| entry.tools.strong_count() > 0 && !entry.matches(tools, newest.format));
        if entries.len() == MAX_ENTRIES {
            entries.remove(0);
        }
        entries.push(newest);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;
    use crate::{
        model::ModelRequest,
        remote::{
            request_writer::RequestWriter,
            settings::{ModelSettings, PromptCache, WireFormat},
        },
    };

    fn set(name: &str) -> Arc<[ToolSpec]> {
        let spec = |name: String| ToolSpec {
            name,
            description: "Says \"é\".".to_owned(),
            input_schema: json!({ "type": "object", "b": 1.5, "a": [null] }),
        };
        [spec(format!("{name}-1")), spec(format!("{name}-2"))].into()
    }

    /// Counts how often tools are written.
    struct Counted {
        tool_cache: ToolCache,
        written: Cell<usize>,
    }

    impl Counted {
        fn new() -> Self {
            Self { tool_cache: ToolCache::default(), written: Cell::new(0) }
        }

        fn text(&self, tools: &Arc<[ToolSpec]>, format: ToolFormat) -> String {
            let names = |tools: &[ToolSpec]| {
                self.written.set(self.written.get() + 1);
                tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()
            };
            self.tool_cache.text(tools, format, names).unwrap().unwrap().get().to_owned()
        }
    }

    #[test]
    fn a_set_is_written_once_for_each_form() {
        let counted = Counted::new();
        let (tools, others) = (set("a"), set("b"));
        for _ in 0..3 {
            assert_eq!(counted.text(&tools, ToolFormat::OpenAi), r#"["a-1","a-2"]"#);
            assert_eq!(counted.text(&others, ToolFormat::OpenAi), r#"["b-1","b-2"]"#);
            assert_eq!(counted.text(&Arc::clone(&tools), ToolFormat::Gemini), r#"["a-1","a-2"]"#);
        }
        assert_eq!(counted.written.get(), 3);
    }

    #[test]
    fn few_sets_are_kept_and_those_that_are_wanted_again_stay() {
        let counted = Counted::new();
        let first = set("first");
        let sets: Vec<_> = (0..3 * MAX_ENTRIES).map(|n| set(&n.to_string())).collect();
        counted.text(&first, ToolFormat::OpenAi);
        for tools in &sets {
            counted.text(tools, ToolFormat::OpenAi);
            counted.text(&first, ToolFormat::OpenAi);
            assert!(counted.tool_cache.entries.lock().len() <= MAX_ENTRIES);
        }
        assert_eq!(counted.written.get(), 1 + sets.len());
        counted.text(&sets[0], ToolFormat::OpenAi);
        assert_eq!(counted.written.get(), 2 + sets.len(), "it was gone");
    }

    #[test]
    fn sets_that_come_only_once_push_nothing_out() {
        let counted = Counted::new();
        let tools = set("a");
        counted.text(&tools, ToolFormat::OpenAi);
        for n in 0..3 * MAX_ENTRIES {
            let name = n.to_string();
            assert_eq!(counted.text(&set(&name), ToolFormat::OpenAi), format!(r#"["{name}-1","{name}-2"]"#));
        }
        assert_eq!(counted.tool_cache.entries.lock().len(), 2, "the set that is used and the last one");
        let before = counted.written.get();
        counted.text(&tools, ToolFormat::OpenAi);
        assert_eq!(counted.written.get(), before);
    }

    fn writer(prompt_cache: PromptCache) -> RequestWriter {
        let settings = ModelSettings::new("test/m", "http://localhost", "m");
        RequestWriter::new(ModelSettings { prompt_cache, ..settings })
    }

    #[test]
    fn a_body_is_the_same_to_the_byte_whether_its_tools_are_known_or_not() {
        for format in WireFormat::ALL {
            for prompt_cache in [PromptCache::Usual, PromptCache::Key, PromptCache::Marks] {
                let kept = writer(prompt_cache);
                let sets = [Arc::default(), set("a"), set("b")];
                for (tools, system) in sets.iter().flat_map(|set| [(set, ""), (set, "s")]).cycle().take(12) {
                    let request = ModelRequest {
                        system: system.into(),
                        tools: Arc::clone(tools),
                        ..ModelRequest::default()
                    };
                    let anew = writer(prompt_cache).body(format, &request).unwrap();
                    assert_eq!(kept.body(format, &request).unwrap(), anew, "{}", format.name());
                }
            }
        }
    }

    #[test]
    fn every_wire_format_has_its_own_shape_of_tools() {
        let schema = r#"{"type":"object","b":1.5,"a":[null]}"#;
        let said = r#""description":"Says \"é\".""#;
        let chat = |name: &str| {
            format!(r#"{{"type":"function","function":{{"name":"{name}",{said},"parameters":{schema}}}}}"#)
        };
        let responses = |name: &str| {
            format!(r#"{{"type":"function","name":"{name}",{said},"parameters":{schema},"strict":false}}"#)
        };
        let messages = |name: &str| format!(r#"{{"name":"{name}",{said},"input_schema":{schema}}}"#);
        let gemini = |name: &str| format!(r#"{{"name":"{name}",{said},"parametersJsonSchema":{schema}}}"#);
        let writer = writer(PromptCache::Key);
        let request = ModelRequest { tools: set("a"), ..ModelRequest::default() };
        for (format, shown) in [
            (WireFormat::OpenAi, format!("[{},{}]", chat("a-1"), chat("a-2"))),
            (WireFormat::OpenAiResponses, format!("[{},{}]", responses("a-1"), responses("a-2"))),
            (WireFormat::Anthropic, format!("[{},{}]", messages("a-1"), messages("a-2"))),
            (
                WireFormat::Google,
                format!(r#"[{{"functionDeclarations":[{},{}]}}]"#, gemini("a-1"), gemini("a-2")),
            ),
        ] {
            let body = String::from_utf8(writer.body(format, &request).unwrap()).unwrap();
            assert!(body.contains(&format!(r#""tools":{shown}"#)), "{}: {body}", format.name());
        }
    }
}
