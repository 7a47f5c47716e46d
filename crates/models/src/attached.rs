//! Files of a user's message, as all wire formats look at them: where the bytes are, and what to say when a model
//! cannot be shown them.

use std::borrow::Cow;

/// A file's address taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// `data:` with base64; the bytes stay encoded, since every provider wants them so.
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

pub fn place(url: &str) -> Place<'_> {
    match url.strip_prefix("data:").and_then(|rest| rest.split_once(',')) {
        Some((head, base64)) if head.ends_with(";base64") => Place::Inline { base64 },
        Some((_, text)) => Place::InlineText { text },
        None => Place::Web { url },
    }
}

pub fn is_image(media_type: &str) -> bool {
    media_type.starts_with("image/")
}

pub fn is_pdf(media_type: &str) -> bool {
    media_type == "application/pdf"
}

/// What a model reads in the place of a file it cannot be shown.
pub fn named_only(media_type: &str, url: &str, filename: Option<&str>) -> Cow<'static, str> {
    let name = filename.unwrap_or("without a name");
    let at = match place(url) {
        Place::Web { url } => format!(" at {url}"),
        Place::Inline { .. } | Place::InlineText { .. } => String::new(),
    };
    format!("[attached file {name} ({media_type}){at}: its content cannot be shown here]").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_data_url_are_found() {
        assert_eq!(place("data:image/png;base64,AA=="), Place::Inline { base64: "AA==" });
        assert_eq!(place("data:text/plain,a,b"), Place::InlineText { text: "a,b" });
        assert_eq!(place("https://example.com/a.png"), Place::Web { url: "https://example.com/a.png" });
        assert_eq!(place("data:broken"), Place::Web { url: "data:broken" });
    }
}
