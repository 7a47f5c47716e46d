//! The interactive loop: one line, one turn, until the person leaves. A failed turn ends nothing.

use std::time::Instant;

use anyhow::Result;
use protocol::{Role, UiMessage};

use super::{
    edit::{self, Read},
    look::Paint,
    random_id,
    render::Renderer,
    session::{End, Session, quoted},
    terminal,
};

const PROMPT: &str = "› ";
const HELP: &str = "/new      begin a new chat
/retry    answer the last question again
/history  show this chat
/compact  summarise the older part of this chat for the model
/summary-title  have the model name this chat
/help     this list
/quit     leave (also Ctrl-D)
Ctrl-C stops an answer; Alt-Enter begins a new line; the arrow keys recall what you wrote.";

#[derive(Debug, PartialEq, Eq)]
enum Said<'a> {
    Nothing,
    Message(&'a str),
    New,
    Retry,
    History,
    Help,
    Quit,
    UnknownCommand(&'a str),
}

/// A command is a slash and one word; a path or a sentence that begins with a slash is a message.
fn read(line: &str) -> Said<'_> {
    let line = line.trim();
    match line {
        "" => Said::Nothing,
        "/new" => Said::New,
        "/retry" => Said::Retry,
        "/history" => Said::History,
        "/help" | "/?" => Said::Help,
        "/quit" | "/exit" | "/q" => Said::Quit,
        // For the server.
        "/compact" => Said::Message(line),
        _ => match line.strip_prefix('/') {
            Some(word) if !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic()) => {
                Said::UnknownCommand(line)
            }
            _ => Said::Message(line),
        },
    }
}

pub(crate) async fn talk(session: &mut Session, is_known: bool) -> Result<u8> {
    let greeting =
        format!("Concertino at {}. /help lists the commands, Ctrl-D leaves.", session.client.url());
    session.note(Paint::Dim, &greeting)?;
    if is_known && take_up(session).await? == End::Quit {
        return Ok(End::Quit.exit_code());
    }
    let mut earlier: Vec<String> = Vec::new();
    let mut interrupted = false;
    loop {
        session.print(vec![super::render::Piece::Aside("\n".to_owned())])?;
        let line = match edit::read_line(&mut session.signals, PROMPT, &earlier).await? {
            Read::Line(line) => line,
            Read::Interrupted if interrupted => break,
            Read::Interrupted => {
                session.note(Paint::Dim, "Ctrl-C once more or Ctrl-D leaves.")?;
                interrupted = true;
                continue;
            }
            Read::Ended => break,
        };
        interrupted = false;
        if !line.trim().is_empty() && earlier.last() != Some(&line) {
            earlier.push(line.clone());
        }
        let end = match read(&line) {
            Said::Nothing => continue,
            Said::Quit => break,
            Said::Message(text) => session.send(text).await,
            Said::Retry => session.retry().await,
            Said::History => history(session).await,
            Said::New => {
                session.chat = random_id()?;
                session.note(Paint::Dim, "A new chat.").map(|()| End::Done)
            }
            Said::Help => session.note(Paint::Dim, HELP).map(|()| End::Done),
            Said::UnknownCommand(command) => session
                .note(Paint::Red, &format!("✗ there is no {command}; /help lists the commands"))
                .map(|()| End::Failed),
        };
        match end {
            Ok(End::Quit) => break,
            Ok(_) => {}
            Err(error) if terminal::is_reader_gone(&error) => return Err(error),
            Err(error) => session.note(Paint::Red, &format!("✗ {error:#}"))?,
        }
    }
    let text = format!("Go on later with: concertino chat --id {}", quoted(&session.chat));
    session.note(Paint::Dim, &text)?;
    Ok(0)
}

/// Shows where a known chat stands and takes up what is open in it.
async fn take_up(session: &mut Session) -> Result<End> {
    let messages = session.client.history(&session.chat).await?;
    let last_question = messages.iter().rposition(|message| message.role == Role::User);
    let Some(last_question) = last_question else { return Ok(End::Done) };
    if last_question > 0 {
        session.note(Paint::Dim, &format!("{} earlier messages; /history shows them.", last_question))?;
    }
    show(session, &messages[last_question..=last_question])?;
    match session.take_up(&messages).await? {
        Some(end) => Ok(end),
        None => {
            show(session, &messages[last_question + 1..])?;
            Ok(End::Done)
        }
    }
}

async fn history(session: &mut Session) -> Result<End> {
    let messages = session.client.history(&session.chat).await?;
    if messages.is_empty() {
        session.note(Paint::Dim, "Nothing was said yet.")?;
    }
    show(session, &messages)?;
    Ok(End::Done)
}

fn show(session: &Session, messages: &[UiMessage]) -> Result<()> {
    for message in messages {
        let mut renderer = Renderer::new(session.look);
        match message.role {
            Role::User => {
                session.print(renderer.note(Paint::Bold, &format!("\n{PROMPT}{}", message.text())))?
            }
            Role::Assistant | Role::System => {
                session.print(renderer.show(message, Instant::now()))?;
                session.print(renderer.finish())?;
                let about =
                    |name: &str| message.metadata.as_ref().and_then(|about| about.get(name)?.as_str());
                match about("status") {
                    Some("cancelled") => session.print(renderer.note(Paint::Yellow, "stopped"))?,
                    Some("failed") => {
                        let error = about("error").unwrap_or("this answer failed; /retry asks for another");
                        session.print(renderer.note(Paint::Red, &format!("✗ {error}")))?;
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
        assert_eq!(read("  "), Said::Nothing);
        assert_eq!(read(" /new "), Said::New);
        assert_eq!(read("/retry"), Said::Retry);
        assert_eq!(read("/compact"), Said::Message("/compact"));
        assert_eq!(read("/summary-title short"), Said::Message("/summary-title short"));
        assert_eq!(read("/dance"), Said::UnknownCommand("/dance"));
        assert_eq!(read("/etc/hosts, what is it?"), Said::Message("/etc/hosts, what is it?"));
        assert_eq!(read(" hello "), Said::Message("hello"));
    }
}
