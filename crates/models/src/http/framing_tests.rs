//! Every way to cut the bytes yields the same body, and bytes that are not HTTP are refused.

use proptest::prelude::*;

use super::*;

/// Status, body, whether the body has ended, and the bytes after it.
type Read = (u16, Vec<u8>, bool, Vec<u8>);

/// Reads an answer that arrives in these pieces.
fn read(pieces: &[&[u8]]) -> Result<Option<Read>, Malformed> {
    let mut buffer = BytesMut::new();
    let mut head: Option<Head> = None;
    let mut body = Vec::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        if head.is_none() {
            head = read_head(&mut buffer)?;
        }
        if let Some(head) = &mut head {
            while let Some(piece) = head.framing.take(&mut buffer)? {
                assert!(!piece.is_empty());
                body.extend_from_slice(&piece);
            }
        }
    }
    Ok(head.map(|head| (head.status.as_u16(), body, head.framing == Framing::Done, buffer.to_vec())))
}

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nA: b\r\n\r\nHTTP";

#[test]
fn a_chunked_body_ends_where_it_says() {
    let all = (200, b"hello world".to_vec(), true, b"HTTP".to_vec());
    assert_eq!(read(&[CHUNKED]), Ok(Some(all.clone())));
    for cut in 0..CHUNKED.len() {
        let (left, right) = CHUNKED.split_at(cut);
        assert_eq!(read(&[left, right]), Ok(Some(all.clone())), "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = CHUNKED.chunks(1).collect();
    assert_eq!(read(&bytes), Ok(Some(all)));
}

#[test]
fn a_body_of_known_length_ends_there() {
    let answer = b"HTTP/1.1 404 Not Found\r\ncontent-length: 3\r\n\r\nabcd";
    assert_eq!(read(&[answer]), Ok(Some((404, b"abc".to_vec(), true, b"d".to_vec()))));
    let empty = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(read(&[empty]), Ok(Some((200, Vec::new(), true, Vec::new()))));
}

#[test]
fn without_a_length_the_body_lasts_until_the_connection_closes() {
    let answer = b"HTTP/1.1 200 OK\r\n\r\nabc";
    assert_eq!(read(&[answer, b"def"]), Ok(Some((200, b"abcdef".to_vec(), false, Vec::new()))));
}

#[test]
fn interim_answers_are_skipped() {
    let answer = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    assert_eq!(read(&[answer]), Ok(Some((204, Vec::new(), true, Vec::new()))));
}

#[test]
fn a_connection_is_kept_only_where_both_sides_can_tell_the_end() {
    let keep_alive = |head: &str| {
        let mut buffer = BytesMut::from(format!("{head}\r\n\r\n").as_bytes());
        read_head(&mut buffer).unwrap().unwrap().keep_alive
    };
    assert!(keep_alive("HTTP/1.1 200 OK\r\ncontent-length: 1"));
    assert!(keep_alive("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked"));
    assert!(!keep_alive("HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: Close"));
    assert!(!keep_alive("HTTP/1.1 200 OK"));
    assert!(!keep_alive("HTTP/1.0 200 OK\r\ncontent-length: 1"));
    assert!(keep_alive("HTTP/1.0 200 OK\r\ncontent-length: 1\r\nconnection: keep-alive"));
}

#[test]
fn what_is_not_http_is_refused() {
    let long = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(70_000));
    for answer in [
        &b"SSH-2.0-x\r\n\r\n"[..],
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1, 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n",
        long.as_bytes(),
    ] {
        assert_eq!(
            read(&[answer]),
            Err(Malformed),
            "{}",
            String::from_utf8_lossy(answer).get(..60).unwrap_or("")
        );
    }
}

#[test]
fn endless_lines_and_trailers_are_refused() {
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    assert_eq!(read(&[head, &[b'1'; 5000]]), Err(Malformed));
    let trailers = b"a: b\r\n".repeat(20_000);
    assert_eq!(read(&[head, b"0\r\n", &trailers]), Err(Malformed));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400), cut in 0usize..400) {
        let (left, right) = bytes.split_at(cut.min(bytes.len()));
        prop_assert_eq!(read(&[left, right]).is_ok(), read(&[&bytes]).is_ok());
        let mut chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        chunked.extend(&bytes);
        prop_assert_eq!(read(&[&chunked]), read(&chunked.chunks(3).collect::<Vec<_>>()));
    }
}
