//! What a call needs, said by its tool.

use commands::Judgement;
use protocol::InputForm;

/// What a call needs, as its tool says it after reading the input.
///
/// Paths are relative to the work directory, in their plain form (`src/main.rs`, without `.` and `..`); `""` is the work
/// directory itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// It reads and changes nothing outside of the chat.
    Nothing,
    /// It reads these files or folders.
    Read { paths: Vec<String> },
    /// It changes, creates, moves or deletes these files.
    Write {
        paths: Vec<String>,
        /// A sentence for the person: "It changes src/main.rs."
        why: String,
    },
    /// It needs an approval for another reason than files.
    Approval {
        /// A sentence for the person.
        why: String,
        /// Whether "always" may allow every call of the tool. If not, the call is sensitive.
        always: bool,
    },
    /// It asks a person to fill in a form, and its result is what they filled in. It asks in every mode, and no rule can
    /// answer in their place.
    Input { form: Box<InputForm> },
    /// It runs a shell line or a program.
    Command(Judgement),
    /// It never runs, whatever a person says.
    Refused {
        /// A sentence for the model and the person.
        why: String,
    },
}
