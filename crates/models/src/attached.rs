//! Files of a user's message, for all wire formats: where their bytes are, and the text that replaces a file which a
//! model cannot read.

use std::{borrow::Cow, sync::Arc};

use crate::{
    model::{ModelMessage, UserContent},
    registry::ModelDefinition,
};

/// Which kinds of files a model accepts besides text. `None` is unknown: the file is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSupport {
    pub images: Option<bool>,
    pub pdf: Option<bool>,
    /// The most images of one message.
    pub max_images: Option<u32>,
}

impl FileSupport {
    pub const fn text_only() -> Self {
        Self { images: Some(false), pdf: Some(false), max_images: None }
    }

    /// Reads a definition. Without a tag other than `chat` nothing is known: only the model's name was given.
    pub fn of(definition: &ModelDefinition) -> Self {
        let input = definition.capabilities.as_ref().map(|capabilities| &capabilities.input);
        let max_images = input.and_then(|input| input.max_images);
        let is_described = definition.tags.iter().any(|tag| tag.as_str() != "chat");
        let tagged = |tag: &str| is_described.then(|| definition.has_tag(tag));
        Self {
            images: max_images.map(|most| most > 0).or_else(|| tagged("image_input")),
            pdf: input.and_then(|input| input.supports_pdf).or_else(|| tagged("pdf_input")),
            max_images: max_images.filter(|most| *most > 0),
        }
    }
}

/// Where the bytes of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLocation<'a> {
    /// `data:` with base64; the bytes stay encoded, because providers expect them encoded.
    Inline {
        base64: &'a str,
    },
    /// A `data:` URL that is not base64.
    InlineText {
        text: &'a str,
    },
    Web {
        url: &'a str,
    },
}

pub fn location(url: &str) -> FileLocation<'_> {
    match url.strip_prefix("data:").and_then(|rest| rest.split_once(',')) {
        Some((head, base64)) if head.ends_with(";base64") => FileLocation::Inline { base64 },
        Some((_, text)) => FileLocation::InlineText { text },
        None => FileLocation::Web { url },
    }
}

pub fn is_image(media_type: &str) -> bool {
    media_type.starts_with("image/")
}

pub fn is_pdf(media_type: &str) -> bool {
    media_type == "application/pdf"
}

/// Makes a name from a client safe to quote: one line, without quotes, brackets, and characters that are invisible or
/// change the reading direction.
pub fn plain_name(name: &str, longest: usize) -> String {
    let plain = |c: char| match c {
        '"' | '<' | '>' | '[' | ']' | '`' => '_',
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => '_',
        c if c.is_control() => '_',
        c => c,
    };
    let name = name.trim();
    match name.char_indices().nth(longest) {
        // The end is kept, because it has the file's extension.
        Some(_) => {
            let end: Vec<char> = name.chars().rev().take(longest / 4).collect();
            let begin = name.chars().take(longest - longest / 4 - 1);
            begin.chain(['…']).chain(end.into_iter().rev()).map(plain).collect()
        }
        None => name.chars().map(plain).collect(),
    }
}

/// Replaces files that the model is known not to read by their names; `None` if there are none.
pub fn readable(messages: &[Arc<ModelMessage>], support: FileSupport) -> Option<Vec<Arc<ModelMessage>>> {
    if support.images != Some(false) && support.pdf != Some(false) {
        return None;
    }
    let unread = |content: &UserContent| match content {
        UserContent::File { media_type, .. } => {
            is_image(media_type) && support.images == Some(false)
                || is_pdf(media_type) && support.pdf == Some(false)
        }
        UserContent::Text(_) | UserContent::Facts(_) | UserContent::Attached(_) => false,
    };
    let has_unread = |message: &Arc<ModelMessage>| match &**message {
        ModelMessage::User { content } => content.iter().any(unread),
        ModelMessage::Assistant { .. } | ModelMessage::Tool { .. } => false,
    };
    let first = messages.iter().position(has_unread)?;
    let mut readable = messages.to_vec();
    for message in readable.iter_mut().skip(first).filter(|message| has_unread(message)) {
        let ModelMessage::User { content } = &**message else { continue };
        let content = content.iter().map(|content| match content {
            UserContent::File { media_type, url, filename } if unread(content) => {
                UserContent::Attached(named_only(media_type, url, filename.as_deref()).into_owned())
            }
            content => content.clone(),
        });
        *message = Arc::new(ModelMessage::User { content: content.collect() });
    }
    Some(readable)
}

/// The text that replaces a file which the model cannot read.
pub fn named_only(media_type: &str, url: &str, filename: Option<&str>) -> Cow<'static, str> {
    let (name, media_type) = (plain_name(filename.unwrap_or_default(), 120), plain_name(media_type, 80));
    let name = if name.is_empty() { "without a name" } else { name.as_str() };
    let at = match location(url) {
        FileLocation::Web { url } => format!(" at {url}"),
        FileLocation::Inline { .. } | FileLocation::InlineText { .. } => String::new(),
    };
    format!("[attached file {name} ({media_type}){at}: its content cannot be shown here]").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(tags: &[&str], capabilities: serde_json::Value) -> ModelDefinition {
        let file = serde_json::json!({ "id": "m", "tags": tags, "capabilities": capabilities });
        serde_json::from_value(file).unwrap()
    }

    #[test]
    fn what_a_model_reads_is_what_its_definition_says() {
        let reads = |tags: &[&str]| {
            let support = FileSupport::of(&definition(tags, serde_json::json!({})));
            (support.images, support.pdf)
        };
        assert_eq!(reads(&[]), (None, None), "nothing is said");
        assert_eq!(reads(&["chat"]), (None, None), "only its name is known");
        assert_eq!(reads(&["chat", "tool_call"]), (Some(false), Some(false)));
        assert_eq!(reads(&["chat", "image_input"]), (Some(true), Some(false)));
        let told = serde_json::json!({ "input": { "maxImages": 3, "supportsPdf": true } });
        let told = FileSupport::of(&definition(&["chat"], told));
        assert_eq!((told.images, told.pdf, told.max_images), (Some(true), Some(true), Some(3)));
        let none =
            FileSupport::of(&definition(&["chat"], serde_json::json!({ "input": { "maxImages": 0 } })));
        assert_eq!((none.images, none.max_images), (Some(false), None));
    }

    #[test]
    fn files_that_are_not_read_are_named_and_nothing_else_changes() {
        let file = |media_type: &str| UserContent::File {
            media_type: media_type.to_owned(),
            url: "data:;base64,AA==".to_owned(),
            filename: Some("a".to_owned()),
        };
        let user = |content| Arc::new(ModelMessage::User { content });
        let words = user(vec![UserContent::Text("hi".to_owned())]);
        let messages = [Arc::clone(&words), user(vec![file("image/png"), file("application/pdf")])];
        assert_eq!(readable(&messages, FileSupport::default()), None);
        assert_eq!(readable(&messages[..1], FileSupport::text_only()), None);
        let images_only = FileSupport { images: Some(true), pdf: Some(false), max_images: None };
        let shown = readable(&messages, images_only).unwrap();
        assert!(Arc::ptr_eq(&shown[0], &words));
        let ModelMessage::User { content } = &*shown[1] else { panic!() };
        assert_eq!(content[0], file("image/png"));
        assert!(matches!(&content[1], UserContent::Attached(text) if text.contains("application/pdf")));
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(plain_name(" a\n\"<b>\u{202e}]c ", 50), "a___b___c");
        assert_eq!(plain_name(&format!("{}.csv", "x".repeat(100)), 20), "xxxxxxxxxxxxxx…x.csv");
    }

    #[test]
    fn the_bytes_of_a_data_url_are_found() {
        assert_eq!(location("data:image/png;base64,AA=="), FileLocation::Inline { base64: "AA==" });
        assert_eq!(location("data:text/plain,a,b"), FileLocation::InlineText { text: "a,b" });
        assert_eq!(
            location("https://example.com/a.png"),
            FileLocation::Web { url: "https://example.com/a.png" }
        );
        assert_eq!(location("data:broken"), FileLocation::Web { url: "data:broken" });
    }
}
