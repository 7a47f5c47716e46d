//! Files that a person attached, as a model reads them. Text of any common encoding becomes text here, once, for all wire
//! formats; images and PDF files go on as they are; of everything else the model reads the name.
//!
//! The bytes decide what a file is, not its name or the type that the client gave it. What a model is shown depends on the
//! message and on what was stored with it, never on the moment of the call: a request begins with the bytes of the one
//! before.

mod cut;
mod decode;
mod frame;
mod kind;
mod refuse;
#[cfg(test)]
mod samples;

use models::{UserContent, attached::named_only};
use protocol::{Part, PlantedPart};

use self::kind::Kind;
use crate::token_estimate;

pub(crate) use refuse::refusal;

/// Tokens of one file.
const EACH: u64 = 24_000;
/// Tokens of all files of one message.
const ALL: u64 = 48_000;
/// A window is never so small that less is shown.
const LEAST: u64 = 500;
/// All files of a message take at most this part of the window.
const SHARE_OF_WINDOW: u64 = 4;

/// A file as it was sent: an address, and what the client says about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent<'a> {
    pub(crate) media_type: &'a str,
    pub(crate) url: &'a str,
    pub(crate) filename: Option<&'a str>,
}

impl<'a> Sent<'a> {
    pub(crate) fn of(part: &'a Part) -> Option<Self> {
        match part {
            Part::File { media_type, url, filename } => {
                Some(Self { media_type, url, filename: filename.as_deref() })
            }
            _ => None,
        }
    }

    pub(crate) fn of_planted(part: &PlantedPart<'a>) -> Option<Self> {
        match *part {
            PlantedPart::File { media_type, url, filename } => Some(Self { media_type, url, filename }),
            PlantedPart::Text(_) => None,
        }
    }
}

/// How many tokens the files of a message may take, for a model with this window; nothing where the usual bound holds.
pub(crate) fn bound(window: u64) -> Option<u64> {
    let share = (window / SHARE_OF_WINDOW).max(LEAST);
    (share < ALL).then_some(share)
}

/// What a model is shown of the files of one message, in their order.
pub(crate) fn read<'a>(files: impl IntoIterator<Item = Sent<'a>>, bound: Option<u64>) -> Vec<UserContent> {
    let files: Vec<_> = files.into_iter().map(|sent| (sent, kind::of(&sent))).collect();
    let all = bound.unwrap_or(ALL).min(ALL);
    let wanted: Vec<u64> = files
        .iter()
        .map(|(_, kind)| match kind {
            Kind::Text(decoded) => token_estimate::of_text_up_to(&decoded.text, EACH),
            _ => 0,
        })
        .collect();
    let shares = shares(&wanted, all);
    files.into_iter().zip(shares).map(|((sent, kind), tokens)| shown(&sent, kind, tokens)).collect()
}

fn shown(sent: &Sent<'_>, kind: Kind, tokens: u64) -> UserContent {
    let Sent { media_type, url, filename } = *sent;
    match kind {
        Kind::Text(decoded) => UserContent::Attached(frame::framed(sent, &decoded, tokens)),
        Kind::Image(found) | Kind::Pdf(found) => UserContent::File {
            media_type: found.to_owned(),
            url: labelled(url, found),
            filename: filename.map(str::to_owned),
        },
        Kind::Elsewhere => UserContent::File {
            media_type: media_type.to_owned(),
            url: url.to_owned(),
            filename: filename.map(str::to_owned),
        },
        Kind::Other(found) => UserContent::Attached(named_only(found, url, filename).into_owned()),
        Kind::Unknown | Kind::Damaged => {
            UserContent::Attached(named_only(media_type, url, filename).into_owned())
        }
    }
}

/// A `data:` URL that names this type: servers read it there.
fn labelled(url: &str, media_type: &str) -> String {
    let head = format!("data:{media_type};base64,");
    match url.split_once(',') {
        Some((before, base64)) if before.ends_with(";base64") && !url.starts_with(&head) => head + base64,
        _ => url.to_owned(),
    }
}

/// Divides tokens among files: who wants less than an equal part gets all of it, the others share the rest.
fn shares(wanted: &[u64], all: u64) -> Vec<u64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|place| wanted[*place]);
    let mut given = vec![0; wanted.len()];
    let mut left = all;
    for (done, place) in order.into_iter().enumerate() {
        let equal = left / (wanted.len() - done) as u64;
        given[place] = wanted[place].min(equal);
        left -= given[place];
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_files_are_whole_and_large_ones_share_the_rest() {
        assert_eq!(shares(&[10, 900, 20, 800], 1_000), [10, 485, 20, 485]);
        assert_eq!(shares(&[10, 20], 1_000), [10, 20]);
        assert_eq!(shares(&[], 1_000), [] as [u64; 0]);
        assert_eq!(shares(&[5; 3], 7), [2, 2, 3]);
    }

    #[test]
    fn only_a_small_window_has_a_bound_of_its_own() {
        assert_eq!(bound(1_000_000), None);
        assert_eq!(bound(128_000), Some(32_000));
        assert_eq!(bound(100), Some(LEAST));
    }

    #[test]
    fn an_image_gets_the_label_of_its_bytes() {
        assert_eq!(labelled("data:text/plain;base64,AA", "image/png"), "data:image/png;base64,AA");
        assert_eq!(labelled("data:image/png;base64,AA", "image/png"), "data:image/png;base64,AA");
    }
}
