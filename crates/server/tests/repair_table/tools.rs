//! Tools that return their input: two host tools with fields, one whose whole input is a text.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use testkit::tools::{AnyTool, Family, Tool, ToolCtx, ToolError, erase};

/// Make a note.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// What to note.
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_words: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    urgent: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    colour: Option<Colour>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Colour {
    Red,
    DarkGreen,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Place {
    city: String,
}

/// Move a file.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Move {
    from: String,
    to: String,
}

/// Run a text.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Text(String);

macro_rules! gives_back {
    ($tool:ident, $name:literal, $input:ident, $make:ident) => {
        struct $tool;

        impl Tool for $tool {
            const NAME: &'static str = $name;
            type Input = $input;
            type Output = $input;

            async fn run(&self, _: ToolCtx, input: $input) -> Result<$input, ToolError> {
                Ok(input)
            }
        }

        pub fn $make() -> Arc<dyn AnyTool> {
            erase($tool, Family::Host)
        }
    };
}

gives_back!(MakeNote, "make-note", Note, make_note);
gives_back!(MoveFile, "move-file", Move, move_file);
gives_back!(RunText, "run-text", Text, run_text);
