//! The messages a client brings along: whatever stands there. Most are read by hand, see `protocol/src/planted/plain.rs`.

use bytes::Bytes;
use protocol::{MessageId, Planted, PlantedMessage, Role, UiMessage, planted::Unread};
use serde_json::Deserializer;

/// What was made of a body's earlier messages, or what the client is told.
type Read = Result<Taken, String>;

#[derive(Debug, PartialEq)]
struct Taken {
    messages: Vec<UiMessage>,
    /// Also what nobody is shown.
    seen: Vec<String>,
    count: usize,
    last: Option<MessageId>,
}

/// Reading by hand never gives anything but what serde gives, and what is kept can be read again.
pub fn planted(input: &[u8]) {
    let body = Bytes::copy_from_slice(input);
    let Ok(text) = std::str::from_utf8(&body) else {
        assert!(Planted::read(body).is_err(), "only text is read");
        return;
    };
    let taken = read(&body, text);
    let again = Planted::read(body.clone()).and_then(|planted| planted.messages());
    assert_eq!(again.as_ref(), taken.as_ref().map(|taken| &taken.messages), "what is kept reads the same");
    let Some(found) = by_serde(text) else {
        assert!(taken.is_err(), "what serde cannot read is refused");
        return;
    };
    if let Ok(taken) = &taken {
        let shown = found.iter().filter(|(_, message)| message.role != Role::System);
        let seen: Vec<_> = shown.map(|(_, message)| format!("{message:?}")).collect();
        assert_eq!(taken.seen, seen, "messages are what serde reads");
        let kept = Planted::read(body.clone()).expect("it was read before");
        let event = serde_json::to_string(&kept).expect("an event can be written");
        let event: Planted = serde_json::from_str(&event).expect("an event can be read");
        assert_eq!(event.messages().as_ref(), Ok(&taken.messages), "an event reads back what was written");
    }
    // Nothing with a blank in it is read by hand.
    let with_blanks: Vec<_> =
        found.iter().map(|(text, _)| format!("{} {}", &text[..1], &text[1..])).collect();
    let with_blanks = Bytes::from(with_blanks.join(","));
    let text = std::str::from_utf8(&with_blanks).expect("it was text");
    assert_eq!(read(&with_blanks, text), taken, "how it is read makes no difference");
}

fn read(body: &Bytes, text: &str) -> Read {
    let each = |made: &mut Vec<_>, message: &PlantedMessage<'_>| {
        made.push((message.message(), format!("{message:?}")))
    };
    let (kept, made) = Unread::of(body, [text]).read(each)?;
    let (messages, seen) = made.into_iter().flatten().unzip();
    let last = kept.last().and_then(Planted::last).cloned();
    Ok(Taken { messages, seen, count: kept.iter().map(Planted::len).sum(), last })
}

/// The messages and where each stands, if all can be read.
fn by_serde(text: &str) -> Option<Vec<(&str, PlantedMessage<'_>)>> {
    let mut found = Vec::new();
    let mut rest = text.trim_ascii_start();
    while !rest.is_empty() {
        let mut messages = Deserializer::from_str(rest).into_iter();
        let message = messages.next()?.ok()?;
        let (text, behind) = rest.split_at(messages.byte_offset());
        found.push((text, message));
        rest = behind.trim_ascii_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_ascii_start();
    }
    Some(found)
}
