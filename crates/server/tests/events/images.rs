//! Images with a message: which ones are accepted, and that the model gets them.

use serde_json::{Value, json};
use testkit::{
    models::{ModelMessage, UserContent},
    says,
};

use crate::scripted;

/// Base64 without a dependency: only what the tests need.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for three in bytes.chunks(3) {
        let number = three.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte))
            << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * place)) as usize & 63];
            text.push(if place > three.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nxxxx";

fn image(kind: &str, bytes: &[u8]) -> Value {
    json!({ "data": format!("data:{kind};base64,{}", base64(bytes)), "mimeType": kind })
}

fn png(size: usize) -> Value {
    let mut bytes = PNG.to_vec();
    bytes.resize(size, 0);
    image("image/png", &bytes)
}

#[tokio::test]
async fn an_image_reaches_the_model_and_the_history() {
    let app = scripted([says("A violin."), says("Two.")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    let sent = json!({ "type": "chat", "content": "what is it?", "images": [image("image/png", PNG)] });
    client.message(sent).await;
    client.until_kind("complete").await;
    assert_eq!(
        client.seen.iter().find(|event| event.text("role") == "user").unwrap().data()["hasImages"],
        true
    );
    let request = &app.model.requests()[0];
    let files = request.messages.iter().filter_map(|message| match &**message {
        ModelMessage::User { content } => Some(content),
        _ => None,
    });
    let files = files.flatten().filter(
        |content| matches!(content, UserContent::File { media_type, .. } if media_type == "image/png"),
    );
    assert_eq!(files.count(), 1);
    assert_eq!(client.history(&session).await[0]["images"][0]["mimeType"], "image/png");
    let only = json!({ "type": "image", "images": [image("image/gif", b"GIF89a"), image("image/jpeg", b"\xff\xd8\xff\xe0"),
        image("image/webp", b"RIFF\0\0\0\0WEBPVP8 ")] });
    assert_eq!(client.message(only).await["success"], true, "no text is needed");
    client.until_kind("complete").await;
}

#[tokio::test]
async fn images_that_are_refused() {
    let app = scripted([]).await;
    let mut client = app.caller.events().await;
    client.create().await;
    let good = png(100);
    let cases = [
        ("seven", vec![good.clone(); 7]),
        ("another type", vec![image("image/svg+xml", b"<svg/>")]),
        ("no image", vec![image("text/plain", b"hello")]),
        ("types that differ", vec![json!({ "data": good["data"], "mimeType": "image/jpeg" })]),
        ("a type that lies", vec![image("image/jpeg", PNG)]),
        ("no WebP", vec![image("image/webp", b"RIFF\0\0\0\0WAVE")]),
        ("no type", vec![json!({ "data": good["data"] })]),
        ("no data", vec![json!({ "mimeType": "image/png" })]),
        ("an address", vec![json!({ "data": "https://example.com/a.png", "mimeType": "image/png" })]),
        ("no base64", vec![json!({ "data": "data:image/png,abc", "mimeType": "image/png" })]),
        ("broken base64", vec![json!({ "data": "data:image/png;base64,@@@", "mimeType": "image/png" })]),
        ("not an object", vec![json!("data:image/png;base64,AAAA")]),
        ("too large", vec![png((5 << 20) + 1)]),
        ("too large together", vec![png((4 << 20) + 1); 5]),
        ("one of two", vec![good, json!({})]),
    ];
    for (name, images) in cases {
        let answer = client.send(json!({ "type": "chat", "content": "x", "images": images })).await;
        assert_eq!(
            (answer.status, &answer.json()["errorCode"]),
            (400, &json!("invalid_image")),
            "{name}: {answer:?}"
        );
    }
    assert_eq!(client.rest().await, []);
    assert!(app.model.requests().is_empty());
}
