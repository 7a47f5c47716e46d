//! Tools as a wire format writes them, kept for the few sets that calls bring again and again: the calls of one agent share
//! a set, and its schemas are most of a short request.

use std::{
    ptr,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use protocol::ToolSpec;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// Texts that are kept; the one that was wanted the longest ago goes first.
const KEPT: usize = 8;

/// How tools are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    OpenAi,
    OpenAiResponses,
    Anthropic,
    /// With a mark for the prompt cache at the last one.
    AnthropicMarked,
    Gemini,
}

/// What one model was offered lately.
#[derive(Debug, Default)]
pub struct Offered {
    /// The newest last.
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    /// A set that is gone does not stay for this, but its place in memory does: no other can be mistaken for it.
    tools: Weak<[ToolSpec]>,
    form: Form,
    text: Arc<RawValue>,
}

impl Kept {
    fn is(&self, tools: &Arc<[ToolSpec]>, form: Form) -> bool {
        self.form == form && ptr::addr_eq(self.tools.as_ptr(), Arc::as_ptr(tools))
    }
}

impl Offered {
    /// The tools as `write` gives them, which is always the same for one form; `None` where there are none.
    pub fn text<'a, T: Serialize>(
        &self,
        tools: &'a Arc<[ToolSpec]>,
        form: Form,
        write: impl FnOnce(&'a [ToolSpec]) -> T,
    ) -> Result<Option<Arc<RawValue>>, serde_json::Error> {
        if tools.is_empty() {
            return Ok(None);
        }
        if let Some(known) = self.known(tools, form) {
            return Ok(Some(known));
        }
        let text: Arc<RawValue> = to_raw_value(&write(tools))?.into();
        self.keep(Kept { tools: Arc::downgrade(tools), form, text: Arc::clone(&text) }, tools);
        Ok(Some(text))
    }

    fn known(&self, tools: &Arc<[ToolSpec]>, form: Form) -> Option<Arc<RawValue>> {
        let mut kept = self.kept.lock();
        let place = kept.iter().rposition(|kept| kept.is(tools, form))?;
        kept[place..].rotate_left(1);
        kept.last().map(|newest| Arc::clone(&newest.text))
    }

    /// Sets that nobody can bring again make room; another call may have written the same in the meantime.
    fn keep(&self, newest: Kept, tools: &Arc<[ToolSpec]>) {
        let mut kept = self.kept.lock();
        kept.retain(|kept| kept.tools.strong_count() > 0 && !kept.is(tools, newest.form));
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(newest);
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
            body::Writing,
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
        offered: Offered,
        written: Cell<usize>,
    }

    impl Counted {
        fn new() -> Self {
            Self { offered: Offered::default(), written: Cell::new(0) }
        }

        fn text(&self, tools: &Arc<[ToolSpec]>, form: Form) -> String {
            let names = |tools: &[ToolSpec]| {
                self.written.set(self.written.get() + 1);
                tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>()
            };
            self.offered.text(tools, form, names).unwrap().unwrap().get().to_owned()
        }
    }

    #[test]
    fn a_set_is_written_once_for_each_form() {
        let counted = Counted::new();
        let (tools, others) = (set("a"), set("b"));
        for _ in 0..3 {
            assert_eq!(counted.text(&tools, Form::OpenAi), r#"["a-1","a-2"]"#);
            assert_eq!(counted.text(&others, Form::OpenAi), r#"["b-1","b-2"]"#);
            assert_eq!(counted.text(&Arc::clone(&tools), Form::Gemini), r#"["a-1","a-2"]"#);
        }
        assert_eq!(counted.written.get(), 3);
    }

    #[test]
    fn few_sets_are_kept_and_those_that_are_wanted_again_stay() {
        let counted = Counted::new();
        let first = set("first");
        let sets: Vec<_> = (0..3 * KEPT).map(|n| set(&n.to_string())).collect();
        counted.text(&first, Form::OpenAi);
        for tools in &sets {
            counted.text(tools, Form::OpenAi);
            counted.text(&first, Form::OpenAi);
            assert!(counted.offered.kept.lock().len() <= KEPT);
        }
        assert_eq!(counted.written.get(), 1 + sets.len());
        counted.text(&sets[0], Form::OpenAi);
        assert_eq!(counted.written.get(), 2 + sets.len(), "it was gone");
    }

    #[test]
    fn sets_that_come_only_once_push_nothing_out() {
        let counted = Counted::new();
        let tools = set("a");
        counted.text(&tools, Form::OpenAi);
        for n in 0..3 * KEPT {
            let name = n.to_string();
            assert_eq!(counted.text(&set(&name), Form::OpenAi), format!(r#"["{name}-1","{name}-2"]"#));
        }
        assert_eq!(counted.offered.kept.lock().len(), 2, "the set that is used and the last one");
        let before = counted.written.get();
        counted.text(&tools, Form::OpenAi);
        assert_eq!(counted.written.get(), before);
    }

    fn writing(prompt_cache: PromptCache) -> Writing {
        let settings = ModelSettings::new("test/m", "http://localhost", "m");
        Writing::new(ModelSettings { prompt_cache, ..settings })
    }

    #[test]
    fn a_body_is_the_same_to_the_byte_whether_its_tools_are_known_or_not() {
        for format in WireFormat::ALL {
            for prompt_cache in [PromptCache::Usual, PromptCache::Key, PromptCache::Marks] {
                let kept = writing(prompt_cache);
                let sets = [Arc::default(), set("a"), set("b")];
                for (tools, system) in sets.iter().flat_map(|set| [(set, ""), (set, "s")]).cycle().take(12) {
                    let request = ModelRequest {
                        system: system.into(),
                        tools: Arc::clone(tools),
                        ..ModelRequest::default()
                    };
                    let anew = writing(prompt_cache).body(format, &request).unwrap();
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
        let writing = writing(PromptCache::Key);
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
            let body = String::from_utf8(writing.body(format, &request).unwrap()).unwrap();
            assert!(body.contains(&format!(r#""tools":{shown}"#)), "{}: {body}", format.name());
        }
    }
}
