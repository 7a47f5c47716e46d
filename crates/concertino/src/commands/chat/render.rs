//! A folded message → what to print. Pure: no I/O, the time is passed in.
//!
//! The renderer looks at the message, not at chunks, and remembers how much of each part it has shown. A replay after
//! a lost connection builds the same parts again, so nothing is shown twice and nothing is missed.
//!
//! On a terminal everything is one column of output; a running call is a line that is rewritten while it is the
//! last one. Elsewhere the answer's text alone is the answer, the rest are whole lines aside.

use std::time::Instant;

use protocol::{Part, ToolPart, ToolState, UiMessage};
use serde_json::Value;

use super::{
    look::{Look, Paint},
    text::{is_harmful, one_line},
    tool_line,
    wrap::Wrap,
};

/// Something to print and where it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The text of the answer.
    Answer(String),
    /// Everything else; standard error when the answer goes into a pipe.
    Aside(String),
}

pub(crate) struct Renderer {
    look: Look,
    seen: Vec<Seen>,
    out: Vec<Piece>,
    /// What the last output was.
    block: Block,
    /// The answer's line, and the line aside, have no line end yet. On a terminal they are the same line.
    answer_open: bool,
    aside_open: bool,
    /// The text part that was printed last.
    answer_part: Option<usize>,
    /// The part whose line is the last one and may be rewritten.
    live: Option<usize>,
    wrap: Wrap,
}

/// How much of a part has been shown.
enum Seen {
    Nothing,
    /// This many bytes.
    Text(usize),
    Tool(SeenTool),
    /// These versions.
    Data(Vec<Value>),
    Whole,
}

#[derive(Default)]
struct SeenTool {
    stage: Stage,
    started: Option<Instant>,
    /// The last line shown for it, to know whether progress changes it.
    line: String,
}

/// States in the order a call goes through them; a replay goes through them again and shows none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Unseen,
    Input,
    Called,
    Asked,
    Answered,
    Settled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Beginning,
    Text(usize),
    Reasoning(usize),
    Lines,
}

impl Renderer {
    pub(crate) fn new(look: Look) -> Self {
        Self {
            look,
            seen: Vec::new(),
            out: Vec::new(),
            block: Block::Beginning,
            answer_open: false,
            aside_open: false,
            answer_part: None,
            live: None,
            wrap: Wrap::new(look.columns),
        }
    }

    /// What is new in the message.
    pub(crate) fn show(&mut self, message: &UiMessage, now: Instant) -> Vec<Piece> {
        self.seen.resize_with(self.seen.len().max(message.parts.len()), || Seen::Nothing);
        for (place, part) in message.parts.iter().enumerate() {
            match part {
                Part::Text { text, .. } => self.text(Block::Text(place), place, text),
                Part::Reasoning { text, .. } => self.text(Block::Reasoning(place), place, text),
                Part::Tool(tool) => self.tool(place, tool, now),
                Part::Data { name, data, .. } if name == "plan" => self.plan(place, data),
                Part::Data { name, data, .. } if name == "compaction" && data["status"] == "done" => {
                    self.once(place, "≡ the older part of this chat is summarised for the model");
                }
                Part::Data { .. } | Part::StepStart => {}
                Part::SourceUrl { url, title, .. } => {
                    let title = title.as_deref().map(|title| format!("{title}  ")).unwrap_or_default();
                    self.once(place, &format!("↗ {title}{url}"));
                }
                Part::SourceDocument { title, media_type, .. } => {
                    self.once(place, &format!("▤ {title}  {media_type}"));
                }
                Part::File { media_type, url, .. } if url.starts_with("data:") => {
                    self.once(place, &format!("▤ {media_type}, {} kB", url.len().div_ceil(1000)));
                }
                Part::File { media_type, url, .. } => self.once(place, &format!("▤ {media_type}  {url}")),
            }
        }
        std::mem::take(&mut self.out)
    }

    /// A line of our own, aside.
    pub(crate) fn note(&mut self, paint: Paint, text: &str) -> Vec<Piece> {
        self.begin(Block::Lines);
        for line in text.lines() {
            let line: String = line.chars().filter(|c| !is_harmful(*c)).collect();
            let line = if self.look.terminal { wrapped(&line, self.look.columns) } else { line };
            let line = self.look.paint(paint, &line);
            self.line(&line);
        }
        std::mem::take(&mut self.out)
    }

    /// Makes room for lines that somebody else prints.
    pub(crate) fn room(&mut self) -> Vec<Piece> {
        self.begin(Block::Lines);
        std::mem::take(&mut self.out)
    }

    /// Closes the line that is open, if one is.
    pub(crate) fn finish(&mut self) -> Vec<Piece> {
        self.close_line();
        if !self.look.terminal && self.answer_open {
            self.answer_open = false;
            self.out.push(Piece::Answer("\n".to_owned()));
        }
        std::mem::take(&mut self.out)
    }

    fn text(&mut self, block: Block, place: usize, text: &str) {
        let shown = match &self.seen[place] {
            Seen::Text(shown) => *shown,
            _ => 0,
        };
        // Nothing new; or a replay that has not come that far.
        let Some(new) = text.get(shown..).filter(|new| !new.is_empty()) else { return };
        // White space before the first word would open a block that may stay empty.
        let new = if shown == 0 { new.trim_start_matches(['\n', '\r']) } else { new };
        if new.is_empty() {
            return;
        }
        self.begin(block);
        self.seen[place] = Seen::Text(text.len());
        let is_answer = matches!(block, Block::Text(_));
        let new = if self.look.terminal { self.wrap.push(new) } else { new.to_owned() };
        self.put_text(is_answer, &new);
    }

    fn put_text(&mut self, is_answer: bool, text: &str) {
        if text.is_empty() {
            return;
        }
        let open = !text.ends_with('\n');
        if is_answer {
            self.answer_open = open;
            self.out.push(Piece::Answer(text.to_owned()));
        } else {
            self.aside_open = open;
            self.out.push(Piece::Aside(self.look.paint(Paint::Dim, text)));
        }
    }

    fn tool(&mut self, place: usize, tool: &ToolPart, now: Instant) {
        if !matches!(self.seen[place], Seen::Tool(_)) {
            self.seen[place] = Seen::Tool(SeenTool::default());
        }
        let Seen::Tool(seen) = &mut self.seen[place] else { return };
        let (before, stage) = (seen.stage, stage_of(&tool.state));
        if stage < before || before == Stage::Settled {
            return;
        }
        seen.stage = stage;
        if stage > before && matches!(stage, Stage::Called | Stage::Answered) {
            seen.started = Some(now);
        }
        let unsaid = seen.line.is_empty();
        let took = seen.started.map(|started| now.duration_since(started));
        match stage {
            Stage::Unseen => {}
            // Elsewhere than on a terminal a line that is not final would be one too many.
            Stage::Input | Stage::Answered if !self.look.terminal => {}
            Stage::Called if !self.look.terminal && before == stage => {}
            Stage::Input | Stage::Called | Stage::Answered => {
                self.running(place, &tool_line::running(&self.look, tool));
            }
            Stage::Asked if before == stage => {}
            Stage::Asked => self.asked(place, tool),
            Stage::Settled => {
                let first = before < Stage::Called || unsaid || self.live == Some(place);
                self.running(place, &tool_line::settled(&self.look, tool, took, first));
                self.live = None;
            }
        }
    }

    /// The line of a call; rewritten while it is the last one.
    fn running(&mut self, place: usize, line: &str) {
        let Seen::Tool(seen) = &mut self.seen[place] else { return };
        if seen.line == line {
            return;
        }
        line.clone_into(&mut seen.line);
        if self.look.terminal && self.live == Some(place) {
            self.out.push(Piece::Aside(format!("\r\u{1b}[K{line}")));
        } else {
            self.begin(Block::Lines);
            self.out.push(Piece::Aside(line.to_owned()));
            self.aside_open = true;
        }
        self.live = self.look.terminal.then_some(place);
        if !self.look.terminal {
            self.close_line();
        }
    }

    /// On a terminal the question itself follows, so the running line makes room for it.
    fn asked(&mut self, place: usize, tool: &ToolPart) {
        if !self.look.terminal {
            let line = format!("? {}  waits for approval", one_line(&tool.tool));
            self.begin(Block::Lines);
            self.line(&line);
        } else if self.live == Some(place) {
            self.erase_live();
        }
    }

    /// Takes the running line away; it comes back below what is printed now, if the call still runs.
    fn erase_live(&mut self) {
        let Some(Seen::Tool(seen)) = self.live.take().and_then(|place| self.seen.get_mut(place)) else {
            return;
        };
        seen.line.clear();
        self.out.push(Piece::Aside("\r\u{1b}[K".to_owned()));
        self.aside_open = false;
    }

    fn plan(&mut self, place: usize, data: &Value) {
        if !matches!(self.seen[place], Seen::Data(_)) {
            self.seen[place] = Seen::Data(Vec::new());
        }
        let Seen::Data(versions) = &mut self.seen[place] else { return };
        if versions.contains(data) {
            return;
        }
        versions.push(data.clone());
        let lines = tool_line::plan(&self.look, data);
        if !lines.is_empty() {
            self.erase_live();
            self.begin(Block::Lines);
            for line in lines {
                self.line(&line);
            }
        }
    }

    fn once(&mut self, place: usize, line: &str) {
        if matches!(self.seen[place], Seen::Whole) {
            return;
        }
        self.seen[place] = Seen::Whole;
        self.begin(Block::Lines);
        let line = one_line(line);
        self.line(&self.look.paint(Paint::Dim, &line));
    }

    /// Ends what was printed before and keeps blocks of different kinds apart.
    fn begin(&mut self, block: Block) {
        if self.block == block && !matches!(block, Block::Lines) {
            return;
        }
        self.close_line();
        self.live = None;
        let before = std::mem::replace(&mut self.block, block);
        if self.look.terminal {
            if before != Block::Beginning && before != block {
                self.out.push(Piece::Aside("\n".to_owned()));
            }
        } else if let Block::Text(place) = block
            && self.answer_part.replace(place).is_some_and(|before| before != place)
        {
            let apart = if self.answer_open { "\n\n" } else { "\n" };
            self.out.push(Piece::Answer(apart.to_owned()));
        }
        self.wrap = Wrap::new(self.look.columns);
    }

    fn line(&mut self, line: &str) {
        self.out.push(Piece::Aside(format!("{line}\n")));
    }

    fn close_line(&mut self) {
        let held_back = self.wrap.flush();
        match self.block {
            Block::Text(_) => self.put_text(true, &held_back),
            Block::Reasoning(_) => self.put_text(false, &held_back),
            Block::Lines | Block::Beginning => {}
        }
        if self.aside_open || (self.look.terminal && self.answer_open) {
            self.out.push(Piece::Aside("\n".to_owned()));
            self.aside_open = false;
            if self.look.terminal {
                self.answer_open = false;
            }
        }
    }
}

fn stage_of(state: &ToolState) -> Stage {
    match state {
        ToolState::InputStreaming { .. } => Stage::Input,
        ToolState::InputAvailable { .. }
        | ToolState::OutputAvailable { preliminary: true, approval: None, .. } => Stage::Called,
        ToolState::ApprovalRequested { .. } => Stage::Asked,
        ToolState::ApprovalResponded { .. }
        | ToolState::OutputAvailable { preliminary: true, approval: Some(_), .. } => Stage::Answered,
        ToolState::OutputAvailable { preliminary: false, .. }
        | ToolState::OutputError { .. }
        | ToolState::OutputDenied { .. } => Stage::Settled,
    }
}

fn wrapped(line: &str, columns: usize) -> String {
    let mut wrap = Wrap::new(columns);
    let mut out = wrap.push(line);
    out.push_str(&wrap.flush());
    out
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
