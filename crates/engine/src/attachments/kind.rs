//! What a file is, by its bytes.

use data_url::{
    DataUrl,
    forgiving_base64::{DecodeError, Decoder},
};

use super::{
    Sent,
    decode::{self, Decoded, is_text_byte},
};

/// How much of a file is looked at before all of it is decoded: enough for every magic number.
const BEGINNING: usize = 4 << 10;
/// Images that every provider with image input takes.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Not in the message but at another address. Only the client's word says what it is.
    Elsewhere,
    Text(Decoded),
    /// An image that models are shown.
    Image(&'static str),
    Pdf(&'static str),
    /// Of a known type that no model is shown.
    Other(&'static str),
    /// Neither text nor anything known.
    Unknown,
    /// The address holds no whole content.
    Damaged,
}

pub(super) fn of(sent: &Sent<'_>) -> Kind {
    let is_data = sent.url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    if !is_data {
        return Kind::Elsewhere;
    }
    // What some browsers give for an empty file.
    if sent.url.len() == 5 {
        return Kind::Text(Decoded::empty());
    }
    let Ok(data) = DataUrl::process(sent.url) else { return Kind::Damaged };
    if let Some(media) = beginning(sent.url).and_then(|beginning| media(&beginning)) {
        return media;
    }
    let Ok((bytes, _)) = data.decode_to_vec() else { return Kind::Damaged };
    let charset = charset(sent.media_type).or_else(|| data.mime_type().get_parameter("charset"));
    match decode::decode(&bytes, charset) {
        Some(decoded) => Kind::Text(decoded),
        None => infer::get(&bytes).map_or(Kind::Unknown, |found| named(&found)),
    }
}

/// The first bytes of base64, without a look at the rest.
fn beginning(url: &str) -> Option<Vec<u8>> {
    let (head, base64) = url.split_once(',')?;
    if !head.ends_with(";base64") {
        return None;
    }
    let mut bytes = Vec::with_capacity(BEGINNING);
    let mut decoder = Decoder::new(|decoded: &[u8]| {
        bytes.extend_from_slice(decoded);
        Ok::<(), ()>(())
    });
    let base64 = base64.as_bytes();
    let fed: Result<(), DecodeError<()>> = decoder.feed(&base64[..base64.len().min(BEGINNING / 3 * 4)]);
    fed.is_ok().then_some(bytes)
}

/// What is told by a magic number. A number alone is not enough where all the bytes could be text: some are two letters.
fn media(beginning: &[u8]) -> Option<Kind> {
    if beginning.starts_with(b"%PDF-") {
        return Some(Kind::Pdf("application/pdf"));
    }
    if beginning.iter().all(|byte| is_text_byte(*byte)) || decode::is_utf16(beginning) {
        return None;
    }
    infer::get(beginning).map(|found| named(&found))
}

fn named(found: &infer::Type) -> Kind {
    match found.mime_type() {
        "application/pdf" => Kind::Pdf("application/pdf"),
        image if IMAGES.contains(&image) => Kind::Image(image),
        other => Kind::Other(other),
    }
}

fn charset(media_type: &str) -> Option<&str> {
    let (_, parameters) = media_type.split_once(';')?;
    let value = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    });
    value.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(media_type: &str, url: &str) -> Kind {
        of(&Sent { media_type, url, filename: None })
    }

    fn is_text(url: &str, expected: &str) {
        match kind("application/octet-stream", url) {
            Kind::Text(decoded) => assert_eq!(decoded.text, expected),
            other => panic!("{url}: {other:?}"),
        }
    }

    #[test]
    fn data_urls_of_all_shapes_are_read() {
        is_text("data:,hello%20world", "hello world");
        is_text("data:text/plain;base64,aGVs bG8=", "hello");
        is_text("DATA:text/plain;charset=utf-8;base64,aGVsbG8", "hello");
        is_text("data:", "");
        is_text("data:application/octet-stream;base64,", "");
        for damaged in ["data:text/plain", "data:;base64,aGVs!", "data:;base64,aGVsb"] {
            assert_eq!(kind("text/plain", damaged), Kind::Damaged, "{damaged}");
        }
        for elsewhere in ["https://example.com/a.csv", "blob:x", "", "dat", "é\u{301}ééé"] {
            assert_eq!(kind("text/plain", elsewhere), Kind::Elsewhere, "{elsewhere}");
        }
    }

    #[test]
    fn letters_that_look_like_a_magic_number_are_text() {
        // Windows bitmaps begin with BM, programs with MZ, sounds with ID3.
        for text in
            ["BM,25,kg", "MZ is a country code", "ID3 tags are old", "GIF89a is a format", "RIFF raff"]
        {
            is_text(&format!("data:,{}", text.replace(' ', "%20")), text);
        }
    }

    #[test]
    fn a_drawing_in_xml_is_text() {
        is_text("data:image/svg+xml,<svg/>", "<svg/>");
    }

    #[test]
    fn the_charset_of_the_type_is_found() {
        assert_eq!(charset("text/csv; header=present; Charset=\"gbk\""), Some("gbk"));
        assert_eq!(charset("text/csv"), None);
        assert_eq!(charset("text/csv;charset="), None);
    }

    proptest! {
        #[test]
        fn every_address_is_something(url in "(data:)?[ -~é\u{0}]{0,80}", media_type in ".{0,20}") {
            kind(&media_type, &url);
        }

        #[test]
        fn every_content_is_something(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let encoded: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
            let kind = kind("text/plain", &format!("data:,{encoded}"));
            prop_assert!(!matches!(kind, Kind::Elsewhere | Kind::Damaged));
        }
    }
}
