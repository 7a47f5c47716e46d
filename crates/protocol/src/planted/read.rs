//! Reads planted messages once, before they are stored. A long history is read and stored in pieces; two threads read it.

use std::{
    borrow::Cow,
    collections::HashSet,
    panic::resume_unwind,
    thread::{self, Builder},
};

use bytes::Bytes;

use super::{MAX_PLANTED, Planted, PlantedMessage, TWICE, invalid, plain};
use crate::{
    id::{MessageId, check},
    message::Role,
};

/// Approximate size of a piece in bytes: short enough to be copied within the processor's cache.
const PIECE: usize = 64 << 10;
/// From this many pieces on, a second thread helps.
const LONG: usize = 8;
/// Approximate smallest size of a message in bytes.
const MESSAGE: usize = 128;

/// JSON messages that were not read yet, in pieces with commas between the messages.
#[derive(Clone, Debug, Default)]
pub struct Unread(Vec<Bytes>);

/// The result of reading some pieces.
struct Read<'a, T> {
    planted: Vec<Planted>,
    ids: Ids<'a>,
    made: T,
}

type Ids<'a> = HashSet<Cow<'a, str>>;

impl Unread {
    /// Collects consecutive messages of `body`, given as slices of its text.
    pub fn of<'a>(body: &Bytes, messages: impl IntoIterator<Item = &'a str>) -> Self {
        let base = body.as_ptr() as usize;
        let mut pieces = Vec::new();
        let mut piece = 0..0;
        for message in messages {
            let start = message.as_ptr() as usize - base;
            if piece.is_empty() {
                piece.start = start;
            }
            piece.end = start + message.len();
            if piece.len() >= PIECE {
                pieces.push(body.slice(std::mem::take(&mut piece)));
            }
        }
        if !piece.is_empty() {
            pieces.push(body.slice(piece));
        }
        Self(pieces)
    }

    /// Whether reading takes so long that it should not block an async thread.
    pub fn is_long(&self) -> bool {
        self.0.len() >= LONG
    }

    /// Calls back with each message except those of role `system`. A long history is read in two halves in parallel, and the
    /// results are returned in order. The error is a sentence for the client.
    pub fn read<T: Default + Send>(
        self,
        each: impl Fn(&mut T, &PlantedMessage<'_>) + Sync,
    ) -> Result<(Vec<Planted>, Vec<T>), String> {
        let middle = if self.is_long() { self.0.len() / 2 } else { 0 };
        let (front, back) = self.0.split_at(middle);
        if front.is_empty() {
            let Read { planted, made, .. } = read(back, &each)?;
            return Ok((planted, vec![made]));
        }
        let (front, back) = thread::scope(|scope| {
            let aside = Builder::new().spawn_scoped(scope, || read(front, &each));
            let back = read(back, &each);
            let front = match aside {
                Ok(aside) => aside.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => read(front, &each),
            };
            (front, back)
        });
        let (mut front, back) = (front?, back?);
        if front.ids.len() + back.ids.len() > MAX_PLANTED {
            return Err(too_many());
        }
        if back.ids.iter().any(|id| front.ids.contains(id)) {
            return Err(TWICE.to_owned());
        }
        front.planted.extend(back.planted);
        Ok((front.planted, vec![front.made, back.made]))
    }
}

/// Reads pieces one after the other and leaves out empty ones.
fn read<'a, T: Default>(
    pieces: &'a [Bytes],
    each: &impl Fn(&mut T, &PlantedMessage<'_>),
) -> Result<Read<'a, T>, String> {
    let about = pieces.iter().map(Bytes::len).sum::<usize>() / MESSAGE;
    let mut ids = Ids::with_capacity(about.min(MAX_PLANTED));
    let mut made = T::default();
    let mut planted = Vec::with_capacity(pieces.len());
    for text in pieces {
        let piece = messages(text, &mut ids, &mut |message| each(&mut made, message))?;
        if piece.len > 0 {
            planted.push(Planted { text: text.clone(), ..piece });
        }
    }
    Ok(Read { planted, ids, made })
}

/// Reads one piece.
pub(super) fn piece(text: Bytes, each: &mut impl FnMut(&PlantedMessage<'_>)) -> Result<Planted, String> {
    let planted = messages(&text, &mut Ids::new(), each)?;
    Ok(Planted { text, ..planted })
}

/// Reads the messages of one piece. The result does not have its text yet.
fn messages<'a>(
    text: &'a [u8],
    ids: &mut Ids<'a>,
    each: &mut impl FnMut(&PlantedMessage<'_>),
) -> Result<Planted, String> {
    let mut rest = std::str::from_utf8(text)
        .map_err(|_| "The earlier messages are not valid UTF-8.".to_owned())?
        .trim_ascii_start();
    let before = ids.len();
    let mut last = None;
    let mut room = Vec::new();
    while !rest.is_empty() {
        let (message, end) = match plain::message(rest, std::mem::take(&mut room)) {
            Some(read) => read,
            None => {
                let mut messages = serde_json::Deserializer::from_str(rest).into_iter();
                match messages.next() {
                    Some(Ok(message)) => (message, messages.byte_offset()),
                    Some(Err(error)) => return Err(invalid(&error)),
                    None => break,
                }
            }
        };
        rest = rest[end..].trim_ascii_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_ascii_start();
        check(&message.id).map_err(|error| format!("The message id {error}."))?;
        if message.role == Role::System {
            continue;
        }
        if ids.len() == MAX_PLANTED {
            return Err(too_many());
        }
        if let Some(error) = message.parts.iter().find_map(|part| part.believed().err()) {
            return Err(invalid(&error));
        }
        each(&message);
        last = Some(message.id.clone());
        room = message.parts;
        room.clear();
        if !ids.insert(message.id) {
            return Err(TWICE.to_owned());
        }
    }
    let last = last.map(|id| MessageId::new(&*id));
    Ok(Planted { text: Bytes::new(), len: ids.len() - before, last })
}

fn too_many() -> String {
    format!("At most {MAX_PLANTED} earlier messages can be taken over.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str) -> String {
        let text = "said ".repeat(200);
        format!(r#"{{"id":"{id}","role":"user","parts":[{{"type":"text","text":"{text}"}}]}}"#)
    }

    /// What a client sends, cut into messages.
    fn unread(ids: &[String]) -> Unread {
        let messages: Vec<_> = ids.iter().map(|id| message(id)).collect();
        let body = Bytes::from(format!("[{}]", messages.join(" , ")));
        let text = std::str::from_utf8(&body).unwrap();
        let places = messages.iter().scan(0, |from, message| {
            let start = *from + text[*from..].find(message.as_str()).unwrap();
            *from = start + message.len();
            Some(&text[start..*from])
        });
        Unread::of(&body, places)
    }

    fn read(ids: &[String]) -> Result<(Vec<Planted>, Vec<String>), String> {
        let (planted, made) = unread(ids)
            .read(|ids: &mut Vec<String>, message: &PlantedMessage<'_>| ids.push(message.id.to_string()))?;
        Ok((planted, made.concat()))
    }

    fn ids(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("m{number}")).collect()
    }

    #[test]
    fn a_history_of_any_length_is_read_in_order_and_kept_whole() {
        for count in [0, 1, 63, 64, 500, 2000] {
            let ids = ids(count);
            let (planted, read) = read(&ids).unwrap();
            assert_eq!(read, ids);
            assert_eq!(planted.iter().map(Planted::len).sum::<usize>(), count);
            let last = planted.last().and_then(Planted::last).map(MessageId::as_str);
            assert_eq!(last, ids.last().map(String::as_str));
            let kept: Vec<_> = planted.iter().flat_map(|piece| piece.messages().unwrap()).collect();
            assert!(kept.iter().map(|message| message.id.as_str()).eq(ids.iter().map(String::as_str)));
            assert!(planted.iter().all(|piece| piece.as_bytes().len() < 2 * PIECE));
        }
    }

    #[test]
    fn an_id_that_comes_again_is_found_wherever_it_stands() {
        for (one, other) in [(0, 1), (0, 1999), (900, 1100), (1998, 1999)] {
            let mut ids = ids(2000);
            ids[other] = ids[one].clone();
            assert_eq!(read(&ids).unwrap_err(), TWICE);
        }
    }

    #[test]
    fn more_than_can_be_taken_over_is_refused() {
        let short = |number| format!(r#"{{"id":"{number}","role":"user","parts":[]}}"#);
        let messages: Vec<_> = (0..=MAX_PLANTED).map(short).collect();
        let body = Bytes::from(messages.join(","));
        let text = std::str::from_utf8(&body).unwrap();
        let places = messages.iter().scan(0, |from, message| {
            let start = *from;
            *from += message.len() + 1;
            Some(&text[start..start + message.len()])
        });
        let refused = Unread::of(&body, places).read(|(): &mut (), _| {}).unwrap_err();
        assert!(refused.starts_with("At most"), "{refused}");
    }
}
