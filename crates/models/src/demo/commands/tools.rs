//! Finds the tools for commands by the words of their descriptions and the shape of their input, and builds the arguments.

use protocol::ToolSpec;
use serde_json::{Value, json};

use super::super::{
    find_tool::{DescriptionWords, best, unknown_required},
    schema::{Object, Property},
};

/// The tools of a request that work with commands.
#[derive(Clone, Copy)]
pub(in super::super) struct CommandTools<'t>(pub(in super::super) &'t [ToolSpec]);

impl<'t> CommandTools<'t> {
    /// The tool that runs a shell line and waits for its end.
    pub(in super::super) fn runner(self) -> Option<&'t ToolSpec> {
        best(self.0, 5, |tool| {
            if command_field(tool).is_none() {
                return 0;
            }
            let words = DescriptionWords::of(tool).weigh(&[
                (3, &["run", "runs", "execute", "executes", "运行", "执行"]),
                (2, &["shell", "command", "line", "bash", "命令"]),
                (-4, &["start", "starts", "servers", "watchers", "启动"]),
            ]);
            words - 3 * unknown_required(tool, is_command)
        })
    }

    /// The tool that starts a command which may run on.
    pub(in super::super) fn starter(self) -> Option<&'t ToolSpec> {
        best(self.0, 5, |tool| {
            if command_field(tool).is_none() {
                return 0;
            }
            let words = DescriptionWords::of(tool).weigh(&[
                (3, &["start", "starts", "启动"]),
                (2, &["terminal", "servers", "watchers", "background", "session", "终端", "后台"]),
            ]);
            words - 3 * unknown_required(tool, is_command)
        })
    }

    /// The tool that types into a command which runs.
    pub(in super::super) fn typist(self) -> Option<&'t ToolSpec> {
        best(self.0, 3, |tool| {
            let properties = Object::of(tool).properties();
            if !properties.iter().any(is_session) || !properties.iter().any(is_keys) {
                return 0;
            }
            let words = DescriptionWords::of(tool).weigh(&[
                (3, &["type", "types", "write", "writes", "stdin", "输入", "键入"]),
                (1, &["command", "terminal", "命令", "终端"]),
            ]);
            words - 3 * unknown_required(tool, |property| is_session(property) || is_keys(property))
        })
    }
}

/// The name of the field that takes a shell line.
pub(in super::super) fn command_field(tool: &ToolSpec) -> Option<&str> {
    Object::of(tool).properties().iter().find(|property| is_command(property)).map(|property| property.name)
}

/// The name of the field that takes the id of a running command.
pub(super) fn session_field(tool: &ToolSpec) -> Option<&str> {
    Object::of(tool).properties().iter().find(|property| is_session(property)).map(|property| property.name)
}

pub(in super::super) fn command_input(tool: &ToolSpec, line: &str, purpose: &str) -> Value {
    let values: Vec<_> = command_field(tool).map(|name| (name, json!(line))).into_iter().collect();
    Object::of(tool).fill(&values, purpose)
}

/// Arguments that type `keys` and wait up to `milliseconds`; without keys they only wait.
pub(in super::super) fn type_input(
    tool: &ToolSpec,
    session: &str,
    keys: Option<&str>,
    milliseconds: u64,
    purpose: &str,
) -> Value {
    let input = Object::of(tool);
    let properties = input.properties();
    let mut values: Vec<(&str, Value)> = Vec::new();
    values.extend(session_field(tool).map(|name| (name, json!(session))));
    let keys_field = properties.iter().find(|property| is_keys(property));
    // A field that must be there gets an empty text.
    let keys = keys.or_else(|| keys_field.filter(|property| property.required).map(|_| ""));
    values.extend(keys_field.zip(keys).map(|(property, keys)| (property.name, json!(keys))));
    let wait =
        properties.iter().find(|property| property.is_number() && property.is_named(&["yield", "wait"]));
    values.extend(wait.map(|property| (property.name, json!(milliseconds))));
    input.fill(&values, purpose)
}

fn is_command(property: &Property<'_>) -> bool {
    property.is_text() && !property.is_purpose() && property.is_named(&["command", "cmd"])
}

fn is_session(property: &Property<'_>) -> bool {
    property.is_text() && property.is_named(&["session"])
}

fn is_keys(property: &Property<'_>) -> bool {
    property.is_text() && property.is_named(&["chars", "keys", "input", "characters"])
}
