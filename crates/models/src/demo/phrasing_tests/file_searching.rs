//! What the demo model understands as requests to search files or to find them by name.

use super::{all_mean, files::means};
use crate::demo::files::FileRequest;

#[test]
fn requests_to_search_files_are_understood() {
    all_mean(
        "search-files",
        &[
            "search the files for tea",
            "which files mention tea?",
            "Which file contains \"hello world\"?",
            "find TODO in the files",
            "search for \"fn main\"",
            "grep TODO",
            "grep for unwrap in src",
            "look for password in the code",
            "find all occurrences of foo in this project",
            "search notes.txt for milk",
            "find \"tea\" in notes.txt",
            "search the src folder for unsafe",
            "look through the files for the word coffee",
            "find files that contain tea",
            "find all files containing tea",
            "show me all files that mention \"Kyoto\"",
            "Could you search for the word budget in docs/",
            "where is \"parse_line\" defined?",
            "where is parse_line used in the code?",
            "does notes.txt mention milk?",
            "please search all files for the text hello",
            "what files use tokio?",
        ],
    );
    all_mean(
        "search-files",
        &[
            "哪些文件提到了茶",
            "哪个文件里有“你好”",
            "在文件里搜索 TODO",
            "搜索“茶”",
            "在 src 里查找 unwrap",
            "在 notes.txt 里找牛奶",
            "查找包含“京都”的文件",
            "搜索所有包含茶的文件",
            "在代码里搜一下 main",
            "在当前目录搜索 foo",
            "请在所有文件中查找密码",
            "茶出现在哪些文件里",
            "“预算”在哪些文件里出现过",
            "notes.txt 里有没有牛奶",
            "帮我在 docs/ 下搜索 install",
            "查一下哪些文件用到了 tokio",
            "找出包含 TODO 的文件",
            "在项目里搜索 hello",
            "在 src 文件夹里找 unsafe",
            "搜一下“咖啡”这个词",
        ],
    );
    for text in [
        "search for foo",
        "Search for foo, please.",
        "can you search for foo?",
        "search foo",
        "搜索 foo",
        "请查找 foo",
        "搜一下 foo",
    ] {
        means(text, FileRequest::Search { text: "foo".into(), place: String::new() });
    }
    for (text, wanted) in [
        ("search for parse_line", "parse_line"),
        ("search for hello world", "hello world"),
        ("search for the word in", "in"),
        ("search for the text a cup of tea", "a cup of tea"),
        ("搜索绿茶", "绿茶"),
        ("搜索关键词预算", "预算"),
    ] {
        means(text, FileRequest::Search { text: wanted.into(), place: String::new() });
    }
    means("search for notes.txt", FileRequest::Find { pattern: "**/notes.txt".into() });
    means("search the src folder for x y", FileRequest::Search { text: "x y".into(), place: "src".into() });
    means(
        "find \"a. b\" in notes.txt",
        FileRequest::Search { text: "a. b".into(), place: "notes.txt".into() },
    );
    means("哪些文件提到了绿茶？", FileRequest::Search { text: "绿茶".into(), place: String::new() });
}

#[test]
fn requests_to_find_files_by_name_are_understood() {
    all_mean(
        "find-files",
        &[
            "find all *.rs files",
            "find all Markdown files",
            "list all .md files",
            "show me all rust files",
            "Which python files are there?",
            "find notes.txt",
            "where is notes.txt?",
            "Where is the file main.rs?",
            "find files named config.toml",
            "is there a file called todo.txt?",
            "locate Cargo.toml",
            "glob **/*.ts",
            "find every json file",
            "list all text files in docs/",
            "look for the file report.csv",
            "find files ending in .txt",
            "search for all *.log files",
            "do I have a file named diary.txt",
            "find the file \"my notes.txt\"",
            "are there any yaml files?",
            "show all files matching src/*.rs",
        ],
    );
    all_mean(
        "find-files",
        &[
            "找出所有 *.rs 文件",
            "找出所有 markdown 文件",
            "列出所有 .md 文件",
            "有哪些 python 文件",
            "notes.txt 在哪里",
            "找一下 notes.txt",
            "有没有叫 todo.txt 的文件",
            "查找名为 config.toml 的文件",
            "main.rs 在哪个文件夹里",
            "搜索 *.log",
            "所有 json 文件在哪里",
            "列出全部文本文件",
            "查找 **/*.ts",
            "docs 文件夹里有哪些 md 文件",
            "帮我找到 Cargo.toml",
            "显示所有 toml 文件",
            "有没有 report.csv 这个文件",
            "找出以 .txt 结尾的文件",
            "看看有哪些 rust 文件",
            "找到文件“我的笔记.txt”",
        ],
    );
    means("find all Markdown files", FileRequest::Find { pattern: "**/*.md".into() });
    means("where is notes.txt", FileRequest::Find { pattern: "**/notes.txt".into() });
    means("find all rust files in src", FileRequest::Find { pattern: "src/**/*.rs".into() });
}
