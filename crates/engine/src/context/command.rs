//! Commands: messages that the server carries out itself instead of sending them to the model.

use protocol::{CommandName, MessageCommand, Part, Role, UiMessage};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    /// The text after the command: instructions of the person.
    pub(crate) wish: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Summarise the older part of the conversation now.
    Compact,
    /// Write a title for the conversation; stores no message.
    Title,
}

const COMMANDS: [(&str, Kind); 3] =
    [("/compact", Kind::Compact), ("/summary-history", Kind::Compact), ("/summary-title", Kind::Title)];

impl Command {
    /// The command as a fact of the message that answers it.
    pub(crate) fn fact(&self) -> MessageCommand {
        MessageCommand { name: self.kind.name(), wish: self.wish.clone() }
    }
}

impl Kind {
    fn name(self) -> CommandName {
        match self {
            Self::Compact => CommandName::Compact,
            Self::Title => CommandName::Title,
        }
    }
}

/// The command in a message of the person: its first word, exactly.
pub(crate) fn of(message: &UiMessage) -> Option<Command> {
    if message.role != Role::User {
        return None;
    }
    // The usual case first: a message that is not a command costs nothing.
    let first = message.parts.iter().find_map(|part| match part {
        Part::Text { text, .. } if !text.trim().is_empty() => Some(text.trim_start()),
        _ => None,
    })?;
    let (word, kind) = first_word(first)?;
    let text = message.text();
    let wish = text.trim_start().get(word.len()..).unwrap_or_default().trim().to_owned();
    Some(Command { kind, wish })
}

/// The command that a text begins with.
pub(crate) fn first_word(text: &str) -> Option<(&'static str, Kind)> {
    let word = text.split_whitespace().next()?;
    COMMANDS.iter().find(|(name, _)| *name == word).copied()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn command(text: &str) -> Option<Command> {
        let message = json!({ "id": "u", "role": "user", "parts": [{ "type": "text", "text": text }] });
        of(&serde_json::from_value(message).unwrap())
    }

    #[test]
    fn only_the_first_word_can_be_a_command() {
        let compact = |wish: &str| Some(Command { kind: Kind::Compact, wish: wish.to_owned() });
        assert_eq!(command("/compact"), compact(""));
        assert_eq!(command("  /summary-history keep the names "), compact("keep the names"));
        assert_eq!(command("/summary-title").unwrap().kind, Kind::Title);
        for text in ["compact", "what does /compact do?", "/compactness", "/COMPACT", "", "/skill/x"] {
            assert_eq!(command(text), None, "{text}");
        }
    }

    #[test]
    fn an_agent_gives_no_commands() {
        let message =
            json!({ "id": "a", "role": "assistant", "parts": [{ "type": "text", "text": "/compact" }] });
        assert_eq!(of(&serde_json::from_value(message).unwrap()), None);
    }
}
