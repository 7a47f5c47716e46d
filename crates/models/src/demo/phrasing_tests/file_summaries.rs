//! What the demo model understands as requests to summarise a file or a folder.

use super::{all_mean, files::means};
use crate::demo::files::FileRequest;

#[test]
fn requests_to_summarise_a_file_are_understood() {
    all_mean(
        "summarise-file",
        &[
            "summarise README.md",
            "Summarize the file notes.txt, please",
            "sum up notes.md for me",
            "give me a summary of report.txt",
            "What is README.md about?",
            "what's notes.txt about?",
            "outline docs/guide.md",
            "give me the gist of letter.txt",
            "describe src/main.rs",
            "Could you summarise \"my notes.txt\"?",
            "a short summary of diary.md",
            "I need a summary of minutes.md",
            "explain Makefile",
            "give me an overview of ARCHITECTURE.md",
            "condense story.txt",
            "please recap meeting.md",
            "write a summary of paper.txt",
            "summarise what is in todo.txt",
            "the main points of speech.txt",
            "what are the key points of report.md?",
            "let a sub-agent summarise README.md",
        ],
    );
    all_mean(
        "summarise-file",
        &[
            "总结 README.md",
            "总结一下 notes.txt",
            "概括 docs/guide.md",
            "请帮我总结文件 report.txt",
            "README.md 讲了什么",
            "notes.txt 的主要内容是什么",
            "给 letter.txt 写一个摘要",
            "把会议记录.md总结一下",
            "归纳一下 speech.txt",
            "简述 src/main.rs",
            "概述 ARCHITECTURE.md 的内容",
            "diary.md 说的是什么",
            "生成 paper.txt 的摘要",
            "介绍一下 Makefile",
            "帮我概括一下“我的笔记.txt”",
            "对 story.txt 进行总结",
            "能不能总结 todo.txt",
            "总结年度总结.md",
            "minutes.md 的要点是什么",
            "麻烦小结一下 a.txt",
        ],
    );
}

#[test]
fn requests_to_summarise_a_folder_are_understood() {
    all_mean(
        "summarise-folder",
        &[
            "summarise this folder",
            "Summarize this directory, please.",
            "summarise the src folder",
            "summarise src/",
            "give me a summary of this project",
            "what is this project about?",
            "Could you summarise the docs directory?",
            "sum up the folder notes",
            "give me an overview of this repository",
            "summarise all files in this folder",
            "summarise the files in docs/",
            "let a sub-agent summarise this folder",
            "have a sub-agent summarise the src folder",
            "describe the current directory",
            "summarise this folder with a sub-agent",
            "outline the work directory",
            "explain this project",
            "summarise everything in the tests folder",
            "what is the src folder for?",
            "summarise \"my notes\" folder",
            "summarise this folder yourself",
        ],
    );
    all_mean(
        "summarise-folder",
        &[
            "总结这个文件夹",
            "总结一下当前目录",
            "请总结 src 文件夹",
            "概括 docs/ 的内容",
            "这个项目是做什么的",
            "让子代理总结这个文件夹",
            "用子代理总结 src 目录",
            "总结这个目录里的所有文件",
            "帮我概括一下这个项目",
            "对这个文件夹做个总结",
            "给当前目录写一个摘要",
            "归纳一下工作目录的内容",
            "这个文件夹讲了什么",
            "介绍一下这个仓库",
            "把 docs 文件夹总结一下",
            "概述整个项目",
            "总结“我的笔记”文件夹",
            "你自己总结一下这个文件夹",
            "简单介绍这个项目",
            "梳理一下 src/components 的内容",
        ],
    );
    let folder = |folder: &str, direct| FileRequest::SummariseFolder { folder: folder.into(), direct };
    means("Summarise this folder yourself, list it and read its files.", folder("", true));
    means("Summarise the folder \"src\" yourself, list it and read its files.", folder("src", true));
    means("请你自己总结一下这个文件夹里的文件。", folder("", true));
    means("请你自己总结一下“src”文件夹里的文件。", folder("src", true));
    means("summarise the src folder", folder("src", false));
}
