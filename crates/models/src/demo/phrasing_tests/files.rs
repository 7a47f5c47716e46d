//! Sentences that only look like requests about files, and what the tests of such requests share.

use test_support::cpu_time;

use super::name_of;
use crate::demo::{files::FileRequest, utterance::Utterance};

#[track_caller]
pub(super) fn means(text: &str, wanted: FileRequest) {
    assert_eq!(FileRequest::of(&Utterance::new(text)).map(|(request, _)| request), Some(wanted), "{text}");
}

#[test]
fn sentences_that_only_look_like_requests_about_files_are_not_understood() {
    for text in [
        "search for a hotel in Paris",
        "search for flights to Rome",
        "search for cheap hotels",
        "search the web for tea",
        "search for the best restaurant",
        "do not search for foo",
        "I search for meaning",
        "搜索附近的餐厅",
        "在网上搜索茶",
        "不要搜索 foo",
        "find a good restaurant",
        "where is Berlin?",
        "read the news",
        "open the window",
        "replace the battery in my car with a new one",
        "add two and three",
        "create a poem about tea",
        "what is in a name?",
        "I read notes.txt yesterday",
        "do not read notes.txt",
        "never replace foo with bar in notes.txt",
        "visit example.com",
        "delete the folder",
        "list five animals",
        "show me a picture of a cat",
        "summarise the second world war",
        "write a letter to Anna",
        "save money",
        "用英文介绍一下北京",
        "总结一下这篇文章",
        "打开窗户",
        "创建一个网站",
        "昨天我读了 notes.txt",
        "不要读 notes.txt",
        "把苹果换成梨",
        "在北京找一家酒店",
        "写一首诗",
    ] {
        assert_eq!(FileRequest::of(&Utterance::new(text)), None, "{text}");
    }
    assert_eq!(name_of("ask me before you change notes.txt").map(|(name, _)| name), Some("approval"));
}

#[test]
fn a_sentence_that_matches_in_very_many_ways_is_given_up_soon() {
    let text = format!("把 a.txt {} 改成", "的里面".repeat(45));
    let ((), took) = cpu_time(|| {
        FileRequest::of(&Utterance::new(&text));
        FileRequest::of(&Utterance::new(&format!("replace {} in a.txt", "with in ".repeat(60))));
    });
    assert!(took < std::time::Duration::from_secs(5), "{took:?}");
}
