//! What the demo model understands as requests to list a folder or to read a file.

use super::{all_mean, files::means};
use crate::demo::files::FileRequest;

#[test]
fn requests_to_list_a_folder_are_understood() {
    all_mean(
        "list-files",
        &[
            "list the files",
            "List all files here, please",
            "ls",
            "ls src",
            "show me the files",
            "what files are there?",
            "Which files do you see?",
            "what's in this folder?",
            "What is in the src folder?",
            "what's inside docs/?",
            "list the contents of src",
            "list everything in the docs directory",
            "Could you show me the files in the folder notes?",
            "please list src/components",
            "show the files in this directory",
            "Give me a list of the files in this project",
            "tell me what is in the work directory",
            "what does the src folder contain?",
            "open the docs folder",
            "list the files in \"my notes\" folder",
            "browse this folder",
            "let me see the files",
            "Hi, which files are in the current directory?",
            "what do we have in the tests directory",
            "look into the src directory",
        ],
    );
    all_mean(
        "list-files",
        &[
            "列出所有文件",
            "列出文件",
            "请列出当前目录的文件",
            "这个文件夹里有什么",
            "看看 src 文件夹里有什么文件",
            "src 目录下有哪些文件？",
            "有哪些文件",
            "当前目录有什么文件？",
            "帮我看看这个文件夹",
            "显示 docs/ 里的文件",
            "列一下 src/components 下面的文件",
            "打开 docs 文件夹",
            "把当前目录的文件列出来",
            "请问这里有哪些文件",
            "查看工作目录",
            "列出项目里的所有文件",
            "浏览一下这个目录",
            "工作目录里都有什么",
            "你能看到哪些文件",
            "列出“我的笔记”文件夹里的内容",
            "展示当前文件夹的内容",
        ],
    );
}

#[test]
fn requests_to_read_a_file_are_understood() {
    all_mean(
        "read-file",
        &[
            "read notes.txt",
            "Read the file notes.txt, please.",
            "open README.md",
            "show me src/main.rs",
            "Could you show me what is in notes.txt?",
            "what is in config.toml?",
            "What's in .gitignore?",
            "what does notes.txt say?",
            "What does the file todo.md contain?",
            "cat Cargo.toml",
            "print the contents of data.csv",
            "let me see notes.txt",
            "I want to read ./docs/guide.md",
            "display the file \"my notes.txt\"",
            "take a look at package.json",
            "tell me what is written in diary.txt",
            "read the first 5 lines of notes.txt",
            "show me lines 10 to 20 of src/lib.rs",
            "read line 3 of notes.txt",
            "view the Makefile",
            "please open the notes.txt file for me",
            "give me the text of letter.txt",
            "what did I write in diary.md",
        ],
    );
    all_mean(
        "read-file",
        &[
            "读一下 notes.txt",
            "读取notes.txt的内容",
            "打开 README.md",
            "请帮我看看 src/main.rs",
            "notes.txt 里写了什么？",
            "config.toml里面有什么",
            "显示 .gitignore 的内容",
            "查看文件 data.csv",
            "把 notes.txt 读出来",
            "把会议记录.md念给我听",
            "帮我打开开发计划.md",
            "看一下“我的笔记.txt”",
            "请读取报告.txt",
            "todo.md 的内容是什么",
            "给我看 package.json",
            "读 notes.txt 的前 5 行",
            "看看 src/lib.rs 第 10 到 20 行",
            "能不能打开 docs/guide.md",
            "我想看看 Cargo.toml",
            "diary.txt 里说了什么",
            "麻烦显示一下 a.py 的全部内容",
        ],
    );
    means("read the first 5 lines of a.txt", FileRequest::Read { path: "a.txt".into(), lines: Some((1, 5)) });
    means("show lines 10 to 20 of a.txt", FileRequest::Read { path: "a.txt".into(), lines: Some((10, 20)) });
    means("看看 a.txt 第 10 到 20 行", FileRequest::Read { path: "a.txt".into(), lines: Some((10, 20)) });
    means("read \"my notes.txt\"", FileRequest::Read { path: "my notes.txt".into(), lines: None });
    means("把会议记录.md念给我听", FileRequest::Read { path: "会议记录.md".into(), lines: None });
}
