//! Turns a folded message into text to print. Pure: no I/O, the time is passed in.
//!
//! The renderer reads the message, not its chunks, and remembers how much of each part it has shown. A replay after a lost
//! connection builds the same parts again, so nothing is shown twice and nothing is missed.
//!
//! On a terminal all output is mixed, and the line of a running call is rewritten while it is the last one. In a pipe the
//! text of the answer goes to standard output and everything else, line by line, to standard error.

use std::time::Instant;

use protocol::{Part, ToolPart, ToolState, UiMessage};
use serde_json::Value;

use super::{
    command_report,
    output_settings::{OutputSettings, TextStyle},
    text::{is_control, one_line},
    tool_line,
    wrap::Wrap,
};

/// Text to print, by the stream it is printed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The text of the answer.
    Answer(String),
    /// Everything else; printed to standard error when the answer goes into a pipe.
    Info(String),
}

pub(crate) struct Renderer {
    settings: OutputSettings,
    /// What has been shown of each part of the message.
    shown: Vec<ShownPart>,
    out: Vec<Piece>,
    /// The kind of the last output.
    block: Block,
    /// The last line of the answer, or of the other output, has no line end yet. On a terminal they are the same line.
    answer_open: bool,
    info_open: bool,
    /// The text part that was printed last.
    answer_part: Option<usize>,
    /// The part whose line is the last one and can be rewritten.
    live: Option<usize>,
    wrap: Wrap,
}

/// How much of a part has been shown.
enum ShownPart {
    Nothing,
    /// This many bytes.
    Text(usize),
    Tool(ShownTool),
    /// These versions.
    Data(Vec<Value>),
    Whole,
}

#[derive(Default)]
struct ShownTool {
    stage: Stage,
    started: Option<Instant>,
    /// The last line shown for the call; it is printed again only when it changes.
    line: String,
}

/// The stages of a call in their order. A replay passes through them again and shows none a second time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    New,
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
    pub(crate) fn new(settings: OutputSettings) -> Self {
        Self {
            settings,
            shown: Vec::new(),
            out: Vec::new(),
            block: Block::Beginning,
            answer_open: false,
            info_open: false,
            answer_part: None,
            live: None,
            wrap: Wrap::new(settings.columns),
        }
    }

    /// Returns what is new in the message.
    pub(crate) fn show(&mut self, message: &UiMessage, now: Instant) -> Vec<Piece> {
        self.shown.resize_with(self.shown.len().max(message.parts.len()), || ShownPart::Nothing);
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                Part::Text { text, .. } => self.text(Block::Text(index), index, text),
                Part::Reasoning { text, .. } => self.text(Block::Reasoning(index), index, text),
                Part::Tool(tool) => self.tool(index, tool, now),
                Part::Data { name, data, .. } if name == "plan" => self.plan(index, data),
                Part::Data { name, data, .. } if name == "compaction" && data["status"] == "done" => {
                    self.once(index, "≡ the older part of this chat was summarised for the model");
                }
                Part::Data { .. } | Part::StepStart => {}
                Part::SourceUrl { url, title, .. } => {
                    let title = title.as_deref().map(|title| format!("{title}  ")).unwrap_or_default();
                    self.once(index, &format!("↗ {title}{url}"));
                }
                Part::SourceDocument { title, media_type, .. } => {
                    self.once(index, &format!("▤ {title}  {media_type}"));
                }
                Part::File { media_type, url, .. } if url.starts_with("data:") => {
                    self.once(index, &format!("▤ {media_type}, {} kB", url.len().div_ceil(1000)));
                }
                Part::File { media_type, url, .. } => self.once(index, &format!("▤ {media_type}  {url}")),
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Returns a message of the client itself.
    pub(crate) fn note(&mut self, style: TextStyle, text: &str) -> Vec<Piece> {
        self.begin(Block::Lines);
        for line in text.lines() {
            let line: String = line.chars().filter(|c| !is_control(*c)).collect();
            let line = if self.settings.terminal { wrapped(&line, self.settings.columns) } else { line };
            let line = self.settings.styled(style, &line);
            self.line(&line);
        }
        std::mem::take(&mut self.out)
    }

    /// Ends the open line, so that the caller can print lines of its own.
    pub(crate) fn begin_lines(&mut self) -> Vec<Piece> {
        self.begin(Block::Lines);
        std::mem::take(&mut self.out)
    }

    /// Ends the open line, if there is one.
    pub(crate) fn finish(&mut self) -> Vec<Piece> {
        self.close_line();
        if !self.settings.terminal && self.answer_open {
            self.answer_open = false;
            self.out.push(Piece::Answer("\n".to_owned()));
        }
        std::mem::take(&mut self.out)
    }

    fn text(&mut self, block: Block, index: usize, text: &str) {
        let shown = match &self.shown[index] {
            ShownPart::Text(shown) => *shown,
            _ => 0,
        };
        // Nothing is new, or a replay has not reached this point yet.
        let Some(new) = text.get(shown..).filter(|new| !new.is_empty()) else { return };
        // Empty lines before the first word would begin a block that may stay empty.
        let new = if shown == 0 { new.trim_start_matches(['\n', '\r']) } else { new };
        if new.is_empty() {
            return;
        }
        self.begin(block);
        self.shown[index] = ShownPart::Text(text.len());
        let is_answer = matches!(block, Block::Text(_));
        let new = if self.settings.terminal { self.wrap.push(new) } else { new.to_owned() };
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
            self.info_open = open;
            self.out.push(Piece::Info(self.settings.styled(TextStyle::Dim, text)));
        }
    }

    fn tool(&mut self, index: usize, tool: &ToolPart, now: Instant) {
        if !matches!(self.shown[index], ShownPart::Tool(_)) {
            self.shown[index] = ShownPart::Tool(ShownTool::default());
        }
        let ShownPart::Tool(shown) = &mut self.shown[index] else { return };
        let (before, stage) = (shown.stage, stage_of(&tool.state));
        if stage < before || before == Stage::Settled {
            return;
        }
        shown.stage = stage;
        if stage > before && matches!(stage, Stage::Called | Stage::Answered) {
            shown.started = Some(now);
        }
        let has_no_line = shown.line.is_empty();
        let took = shown.started.map(|started| now.duration_since(started));
        match stage {
            Stage::New => {}
            // In a pipe lines cannot be rewritten, so only final ones are printed.
            Stage::Input | Stage::Answered if !self.settings.terminal => {}
            Stage::Called if !self.settings.terminal && before == stage => {}
            Stage::Input | Stage::Called | Stage::Answered => {
                self.running(index, &tool_line::running(&self.settings, tool));
            }
            Stage::Asked if before == stage => {}
            Stage::Asked => self.asked(index, tool),
            Stage::Settled => {
                let first = before < Stage::Called || has_no_line || self.live == Some(index);
                self.running(index, &tool_line::settled(&self.settings, tool, took, first));
                self.live = None;
                if before < Stage::Settled
                    && let Some(report) = command_report::of(tool)
                {
                    for line in command_report::lines(&self.settings, &report) {
                        self.begin(Block::Lines);
                        self.out.push(Piece::Info(line));
                        self.info_open = true;
                    }
                }
            }
        }
    }

    /// Prints the line of a call, or rewrites it while it is the last one.
    fn running(&mut self, index: usize, line: &str) {
        let ShownPart::Tool(shown) = &mut self.shown[index] else { return };
        if shown.line == line {
            return;
        }
        line.clone_into(&mut shown.line);
        if self.settings.terminal && self.live == Some(index) {
            self.out.push(Piece::Info(format!("\r\u{1b}[K{line}")));
        } else {
            self.begin(Block::Lines);
            self.out.push(Piece::Info(line.to_owned()));
            self.info_open = true;
        }
        self.live = self.settings.terminal.then_some(index);
        if !self.settings.terminal {
            self.close_line();
        }
    }

    /// Shows that a call needs approval. On a terminal the question itself follows, so the line of the call is erased.
    fn asked(&mut self, index: usize, tool: &ToolPart) {
        if !self.settings.terminal {
            let line = format!("? {}  needs approval", one_line(&tool.tool));
            self.begin(Block::Lines);
            self.line(&line);
        } else if self.live == Some(index) {
            self.erase_live();
        }
    }

    /// Erases the line of the running call. It is printed again below the next output if the call is still running.
    fn erase_live(&mut self) {
        let Some(ShownPart::Tool(shown)) = self.live.take().and_then(|index| self.shown.get_mut(index))
        else {
            return;
        };
        shown.line.clear();
        self.out.push(Piece::Info("\r\u{1b}[K".to_owned()));
        self.info_open = false;
    }

    fn plan(&mut self, index: usize, data: &Value) {
        if !matches!(self.shown[index], ShownPart::Data(_)) {
            self.shown[index] = ShownPart::Data(Vec::new());
        }
        let ShownPart::Data(versions) = &mut self.shown[index] else { return };
        if versions.contains(data) {
            return;
        }
        versions.push(data.clone());
        let lines = tool_line::plan(&self.settings, data);
        if !lines.is_empty() {
            self.erase_live();
            self.begin(Block::Lines);
            for line in lines {
                self.line(&line);
            }
        }
    }

    fn once(&mut self, index: usize, line: &str) {
        if matches!(self.shown[index], ShownPart::Whole) {
            return;
        }
        self.shown[index] = ShownPart::Whole;
        self.begin(Block::Lines);
        let line = one_line(line);
        self.line(&self.settings.styled(TextStyle::Dim, &line));
    }

    /// Begins a block: ends the one before and separates blocks of different kinds by an empty line.
    fn begin(&mut self, block: Block) {
        if self.block == block && !matches!(block, Block::Lines) {
            return;
        }
        self.close_line();
        self.live = None;
        let before = std::mem::replace(&mut self.block, block);
        if self.settings.terminal {
            if before != Block::Beginning && before != block {
                self.out.push(Piece::Info("\n".to_owned()));
            }
        } else if let Block::Text(index) = block
            && self.answer_part.replace(index).is_some_and(|before| before != index)
        {
            let separator = if self.answer_open { "\n\n" } else { "\n" };
            self.out.push(Piece::Answer(separator.to_owned()));
        }
        self.wrap = Wrap::new(self.settings.columns);
    }

    fn line(&mut self, line: &str) {
        self.out.push(Piece::Info(format!("{line}\n")));
    }

    fn close_line(&mut self) {
        let rest = self.wrap.flush();
        match self.block {
            Block::Text(_) => self.put_text(true, &rest),
            Block::Reasoning(_) => self.put_text(false, &rest),
            Block::Lines | Block::Beginning => {}
        }
        if self.info_open || (self.settings.terminal && self.answer_open) {
            self.out.push(Piece::Info("\n".to_owned()));
            self.info_open = false;
            if self.settings.terminal {
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
