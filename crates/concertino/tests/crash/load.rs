//! The mix of turns that clients run.

use serde_json::{Value, json};
use testkit::Rng;
use testkit::upstream::{Act, Script};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Text,
    Reasoning,
    Tool,
    Parallel,
    Approved,
    Denied,
    /// A call that runs at once beside one that asks.
    Mixed,
    /// A question that is left open; the next message makes it moot.
    Abandoned,
    ClientTool,
}

impl Kind {
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Reasoning,
        Self::Tool,
        Self::Parallel,
        Self::Approved,
        Self::Denied,
        Self::Mixed,
        Self::Abandoned,
        Self::ClientTool,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
            Self::Tool => "tool",
            Self::Parallel => "parallel tools",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Mixed => "tool beside approval",
            Self::Abandoned => "abandoned",
            Self::ClientTool => "client tool",
        }
    }

    /// What the person does with the question of this turn.
    pub fn approves(self) -> Option<bool> {
        match self {
            Self::Approved | Self::Mixed => Some(true),
            Self::Denied => Some(false),
            _ => None,
        }
    }
}

/// One turn: what is asked, and the words that end the answer.
#[derive(Clone, Debug)]
pub struct Task {
    pub kind: Kind,
    pub user: String,
    pub text: String,
    pub last_words: String,
}

impl Task {
    /// `name` is unlike that of any other turn; all texts and inputs of the turn carry it.
    pub fn draw(kind: Kind, name: &str, rng: &mut Rng) -> Self {
        let words = |what: &str, rng: &mut Rng| {
            let filler = "and so it goes on ".repeat(rng.between(1, 8));
            format!("{what} of {name} {filler}— ä会.")
        };
        let call = |tool: &str, part: &str| {
            let field = if tool == "conf_client" { "question" } else { "text" };
            let mut input = serde_json::Map::new();
            input.insert(field.to_owned(), json!(format!("{name} {part}")));
            Act::Call { tool: tool.to_owned(), input: Value::Object(input) }
        };
        let last_words = words("The end", rng);
        let text = |text: String| Act::Text { text };
        let reason = |text: String| Act::Reason { text };
        let first = match kind {
            Kind::Text | Kind::Reasoning => Vec::new(),
            Kind::Tool => vec![text(words("The beginning", rng)), call("conf_echo", "a")],
            Kind::Parallel => {
                vec![reason(words("The thought", rng)), call("conf_echo", "a"), call("conf_echo", "b")]
            }
            Kind::Approved | Kind::Denied | Kind::Abandoned => {
                vec![text(words("The beginning", rng)), call("conf_approve", "a")]
            }
            Kind::Mixed => vec![call("conf_echo", "a"), call("conf_approve", "b")],
            Kind::ClientTool => vec![call("conf_client", "a")],
        };
        let mut last = vec![text(last_words.clone())];
        if matches!(kind, Kind::Reasoning | Kind::Mixed) {
            last.insert(0, reason(words("The thought", rng)));
        }
        if rng.percent(10) {
            last.insert(0, Act::Stall { ms: rng.between(20, 150) });
        }
        let mut script = Script::new([first, last].into_iter().filter(|acts| !acts.is_empty()).collect());
        script.pace_ms = rng.between(0, 6);
        script.piece = rng.between(4, 16);
        Self { kind, user: format!("user-{name}"), text: script.text(), last_words }
    }

    /// How many calls the answer makes.
    pub fn calls(&self) -> usize {
        match self.kind {
            Kind::Text | Kind::Reasoning => 0,
            Kind::Tool | Kind::Approved | Kind::Denied | Kind::Abandoned | Kind::ClientTool => 1,
            Kind::Parallel | Kind::Mixed => 2,
        }
    }
}
