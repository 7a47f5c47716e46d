//! The interactive prompt: reads a line, runs a turn, and repeats until the person leaves. A failed turn does not end it.

use std::time::Instant;

use anyhow::Result;
use protocol::{Role, UiMessage};

use super::{
    edit::{self, LineInput},
    output_settings::TextStyle,
    random_id,
    render::Renderer,
    session::{ChatSession, TurnEnd, quoted},
    terminal,
};

const PROMPT: &str = "› ";
const HELP: &str = "/new            start a new chat
/retry          get another answer to the last question
/history        show this chat
/compact        summarise the older part of this chat for the model
/summary-title  let the model name this chat
/help           show this list
/quit           leave (also Ctrl-D)
Ctrl-C stops an answer, Alt-Enter starts a new line, and the arrow keys recall
earlier lines.";

#[derive(Debug, PartialEq, Eq)]
enum PromptInput<'a> {
    Empty,
    Message(&'a str),
    New,
    Retry,
    History,
    Help,
    Quit,
    UnknownCommand(&'a str),
}

/// Parses a line. A slash and one word is a command; a path or a sentence that begins with a slash is a message.
fn parse(line: &str) -> PromptInput<'_> {
    let line = line.trim();
    match line {
        "" => PromptInput::Empty,
        "/new" => PromptInput::New,
        "/retry" => PromptInput::Retry,
        "/history" => PromptInput::History,
        "/help" | "/?" => PromptInput::Help,
        "/quit" | "/exit" | "/q" => PromptInput::Quit,
        // The server carries it out.
        "/compact" => PromptInput::Message(line),
        _ => match line.strip_prefix('/') {
            Some(word) if !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic()) => {
                PromptInput::UnknownCommand(line)
            }
            _ => PromptInput::Message(line),
        },
    }
}

pub(crate) async fn run(session: &mut ChatSession, is_known: bool) -> Result<u8> {
    let greeting =
        format!("Concertino at {}. /help lists the commands, Ctrl-D leaves.", session.client.url());
    session.note(TextStyle::Dim, &greeting)?;
    if is_known && show_latest(session).await? == TurnEnd::Quit {
        return Ok(TurnEnd::Quit.exit_code());
    }
    let mut earlier: Vec<String> = Vec::new();
    let mut interrupted = false;
    loop {
        session.print(vec![super::render::Piece::Info("\n".to_owned())])?;
        let line = match edit::read_line(&mut session.signals, PROMPT, &earlier).await? {
            LineInput::Line(line) => line,
            LineInput::Interrupted if interrupted => break,
            LineInput::Interrupted => {
                session.note(TextStyle::Dim, "Press Ctrl-C again or Ctrl-D to leave.")?;
                interrupted = true;
                continue;
            }
            LineInput::Ended => break,
        };
        interrupted = false;
        if !line.trim().is_empty() && earlier.last() != Some(&line) {
            earlier.push(line.clone());
        }
        let end = match parse(&line) {
            PromptInput::Empty => continue,
            PromptInput::Quit => break,
            PromptInput::Message(text) => session.send(text).await,
            PromptInput::Retry => session.retry().await,
            PromptInput::History => history(session).await,
            PromptInput::New => {
                session.chat = random_id()?;
                session.note(TextStyle::Dim, "This is a new chat.").map(|()| TurnEnd::Done)
            }
            PromptInput::Help => session.note(TextStyle::Dim, HELP).map(|()| TurnEnd::Done),
            PromptInput::UnknownCommand(command) => session
                .note(TextStyle::Red, &format!("✗ there is no command {command}; /help lists the commands"))
                .map(|()| TurnEnd::Failed),
        };
        match end {
            Ok(TurnEnd::Quit) => break,
            Ok(_) => {}
            Err(error) if terminal::is_closed_pipe(&error) => return Err(error),
            Err(error) => session.note(TextStyle::Red, &format!("✗ {error:#}"))?,
        }
    }
    let text = format!("Continue later with: concertino chat --id {}", quoted(&session.chat));
    session.note(TextStyle::Dim, &text)?;
    Ok(0)
}

/// Shows the newest question of the chat and its answer, and resumes what is pending.
async fn show_latest(session: &mut ChatSession) -> Result<TurnEnd> {
    let messages = session.client.history(&session.chat).await?;
    let last_question = messages.iter().rposition(|message| message.role == Role::User);
    let Some(last_question) = last_question else { return Ok(TurnEnd::Done) };
    if last_question > 0 {
        session.note(TextStyle::Dim, &format!("{} earlier messages; /history shows them.", last_question))?;
    }
    show(session, &messages[last_question..=last_question])?;
    match session.resume(&messages).await? {
        Some(end) => Ok(end),
        None => {
            show(session, &messages[last_question + 1..])?;
            Ok(TurnEnd::Done)
        }
    }
}

async fn history(session: &mut ChatSession) -> Result<TurnEnd> {
    let messages = session.client.history(&session.chat).await?;
    if messages.is_empty() {
        session.note(TextStyle::Dim, "This chat has no messages yet.")?;
    }
    show(session, &messages)?;
    Ok(TurnEnd::Done)
}

fn show(session: &ChatSession, messages: &[UiMessage]) -> Result<()> {
    for message in messages {
        let mut renderer = Renderer::new(session.settings);
        match message.role {
            Role::User => {
                session.print(renderer.note(TextStyle::Bold, &format!("\n{PROMPT}{}", message.text())))?
            }
            Role::Assistant | Role::System => {
                session.print(renderer.show(message, Instant::now()))?;
                session.print(renderer.finish())?;
                let field =
                    |name: &str| message.metadata.as_ref().and_then(|metadata| metadata.get(name)?.as_str());
                match field("status") {
                    Some("cancelled") => session.print(renderer.note(TextStyle::Yellow, "stopped"))?,
                    Some("failed") => {
                        let error = field("error").unwrap_or("this answer failed; /retry requests another");
                        session.print(renderer.note(TextStyle::Red, &format!("✗ {error}")))?;
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_and_one_word_is_a_command() {
        assert_eq!(parse("  "), PromptInput::Empty);
        assert_eq!(parse(" /new "), PromptInput::New);
        assert_eq!(parse("/retry"), PromptInput::Retry);
        assert_eq!(parse("/compact"), PromptInput::Message("/compact"));
        assert_eq!(parse("/summary-title short"), PromptInput::Message("/summary-title short"));
        assert_eq!(parse("/dance"), PromptInput::UnknownCommand("/dance"));
        assert_eq!(parse("/etc/hosts, what is it?"), PromptInput::Message("/etc/hosts, what is it?"));
        assert_eq!(parse(" hello "), PromptInput::Message("hello"));
    }
}
