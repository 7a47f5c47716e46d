//! The decoder with every form of event stream that servers are known to send.

use proptest::prelude::*;

use super::*;

fn decode(chunks: &[&[u8]]) -> Vec<String> {
    let mut decoder = SseDecoder::default();
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        while let Some(event) = decoder.next_event().unwrap() {
            events.push(String::from_utf8_lossy(event).into_owned());
        }
    }
    events.extend(decoder.last_event().map(|event| String::from_utf8_lossy(event).into_owned()));
    events
}

#[test]
fn many_events_of_one_chunk_come_without_another_chunk() {
    let mut decoder = SseDecoder::default();
    decoder.push(Bytes::from_static(b"data: a\n\ndata: b\n\ndata:c\n\n"));
    assert_eq!(decoder.next_event(), Ok(Some(&b"a"[..])));
    assert_eq!(decoder.next_event(), Ok(Some(&b"b"[..])));
    assert_eq!(decoder.next_event(), Ok(Some(&b"c"[..])));
    assert_eq!(decoder.next_event(), Ok(None));
    assert_eq!(decoder.last_event(), None);
}

#[test]
fn an_event_within_one_chunk_is_not_copied() {
    let chunk = Bytes::from_static(b"data: {\"a\":1}\n\n");
    let range = chunk.as_ptr_range();
    let mut decoder = SseDecoder::default();
    decoder.push(chunk);
    let event = decoder.next_event().unwrap().unwrap();
    assert_eq!(event, b"{\"a\":1}");
    assert!(range.contains(&event.as_ptr()));
}

#[test]
fn crlf_comments_other_fields_and_a_byte_order_mark_are_understood() {
    let body =
        b"\xef\xbb\xbfdata: a\r\n\r\n: PROCESSING\r\n\r\nevent: x\r\nid: 1\r\nretry: 5\r\ndata: b\r\n\r\n";
    assert_eq!(decode(&[body]), ["a", "b"]);
}

#[test]
fn several_data_lines_are_joined_and_only_one_space_is_dropped() {
    assert_eq!(decode(&[b"data: a\ndata:  b\ndata\ndata:\n\n"]), ["a\n b\n\n"]);
}

#[test]
fn the_last_event_needs_no_blank_line_and_no_line_end() {
    assert_eq!(decode(&[b"data: a\n\ndata: b\n"]), ["a", "b"]);
    assert_eq!(decode(&[b"data: a\n\ndata: b"]), ["a", "b"]);
    assert_eq!(decode(&[b"data: a\n\n: bye"]), ["a"]);
    assert_eq!(decode(&[b""]), Vec::<String>::new());
}

#[test]
fn blank_lines_and_text_that_is_no_field_make_no_event() {
    assert_eq!(decode(&[b"\n\n\nhello\n\ndatabase: x\n\ndata: a\n\n\n"]), ["a"]);
}

#[test]
fn an_event_beyond_the_bound_is_refused_and_memory_stays_bounded() {
    let mut decoder = SseDecoder::default();
    let piece = Bytes::from(vec![b'x'; 1024 * 1024]);
    decoder.push(Bytes::from_static(b"data: "));
    assert_eq!(decoder.next_event(), Ok(None));
    let refused = (0..16).find(|_| {
        decoder.push(piece.clone());
        decoder.next_event().is_err()
    });
    assert_eq!(refused, Some(7));
}

#[test]
fn a_whole_event_beyond_the_bound_is_refused_too() {
    let mut body = b"data: ".to_vec();
    body.resize(MAX_EVENT_BYTES + 7, b'x');
    body.extend_from_slice(b"\n\n");
    let mut decoder = SseDecoder::default();
    decoder.push(Bytes::from(body));
    assert_eq!(decoder.next_event(), Err(EventTooLarge));
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => "data: ?[a-zé€🎼 ]{0,12}".prop_map(String::into_bytes),
        2 => Just(Vec::new()),
        1 => "(: ?|event: |id:|x)[a-z]{0,6}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>().prop_filter("a line end", |b| !b"\r\n".contains(b)), 0..8),
    ]
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(
        lines in proptest::collection::vec((line(), any::<bool>()), 0..12),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..10),
        ended in any::<bool>(),
    ) {
        let mut body = Vec::new();
        for (line, crlf) in &lines {
            body.extend_from_slice(line);
            body.extend_from_slice(if *crlf { b"\r\n" } else { b"\n" });
        }
        if !ended {
            body.pop();
        }
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        places.extend([0, body.len()]);
        places.sort_unstable();
        let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
        let bytewise: Vec<&[u8]> = body.chunks(1).collect();
        let whole = decode(&[&body]);
        prop_assert_eq!(&decode(&pieces), &whole);
        prop_assert_eq!(&decode(&bytewise), &whole);
    }
}
