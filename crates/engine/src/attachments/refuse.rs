//! Why a message cannot go to a model: files that the model cannot be shown. Asked before a run begins.

use models::attached::{FileSupport, plain_name};
use protocol::UiMessage;

use super::{
    Sent, frame,
    kind::{self, Kind},
};

/// Characters of a type that are shown.
const LONGEST_TYPE: usize = 60;
const NAME: usize = 60;

/// A sentence for the person: which file, what it is, why it cannot go, and what can be done.
pub(crate) fn refusal(message: &UiMessage, reads: FileSupport, model: &str) -> Option<String> {
    let mut images = 0_u32;
    for sent in message.parts.iter().filter_map(Sent::of) {
        let kind = kind::of(&sent);
        let (what, why) = match &kind {
            Kind::Elsewhere | Kind::Text(_) => continue,
            Kind::Image(found) => {
                images += 1;
                if reads.images != Some(false) {
                    continue;
                }
                let why = format!(
                    "{model} reads no images. Choose a model that reads images, or leave the file out"
                );
                (*found, why)
            }
            Kind::Pdf(_) if reads.pdf != Some(false) => continue,
            Kind::Pdf(found) => {
                let why = format!(
                    "{model} reads no PDF files. Choose a model that reads PDF files, or attach the text of it"
                );
                (*found, why)
            }
            Kind::Other(found) => (*found, nobody_reads(found)),
            Kind::Unknown => (sent.media_type, nobody_reads("")),
            Kind::Damaged => (
                sent.media_type,
                "its content is damaged: what arrived is not the whole of it. Attach the file again"
                    .to_owned(),
            ),
        };
        let name = clipped(&frame::name(sent.filename));
        let what = match plain_name(what, LONGEST_TYPE) {
            what if what.is_empty() => String::new(),
            what => format!(" ({what})"),
        };
        return Some(format!("The file \"{name}\"{what} cannot be sent: {why}."));
    }
    let most = reads.max_images.filter(|most| images > *most)?;
    Some(format!(
        "The message has {images} images, and {model} takes {most} in one message. Send fewer at once."
    ))
}

fn nobody_reads(media_type: &str) -> String {
    let why = match media_type.split('/').next().unwrap_or_default() {
        "image" => "models read PNG, JPEG, GIF and WebP images. Save it as PNG or JPEG, and attach that",
        "audio" => "no model here can be given audio. Attach what is said in it as text",
        "video" => "no model here can be given video. Attach single images, or what is said in it as text",
        _ => {
            "it is not text, an image or a PDF file, and models here can be given nothing else. Attach its content as text \
             or as a PDF file"
        }
    };
    why.to_owned()
}

fn clipped(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}
