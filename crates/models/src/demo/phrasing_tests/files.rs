//! What the demo model understands as requests about files.

use super::{all_mean, name_of};
use crate::demo::{
    files::{FileRequest, Place},
    utterance::Utterance,
};

#[track_caller]
fn means(text: &str, wanted: FileRequest) {
    assert_eq!(FileRequest::of(&Utterance::new(text)).map(|(request, _)| request), Some(wanted), "{text}");
}

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

#[test]
fn requests_to_change_a_file_are_understood() {
    all_mean(
        "edit-file",
        &[
            "replace foo with bar in notes.txt",
            "Replace \"good morning\" with \"good evening\" in letter.txt, please.",
            "change 2024 to 2025 in report.md",
            "in notes.txt, replace tea with coffee",
            "in config.toml change debug to release",
            "replace all occurrences of foo with bar in src/main.rs",
            "swap milk for oat milk in todo.txt",
            "replace tea in notes.txt with coffee",
            "remove \"old line\" from notes.txt",
            "delete the line milk from todo.txt",
            "add a line \"buy milk\" to todo.txt",
            "add buy milk to todo.txt",
            "append \"the end\" to story.txt",
            "add the line hello at the end of notes.txt",
            "Could you add a line that says 'call Anna' to todo.txt?",
            "append to notes.txt: remember the keys",
            "add # Title at the top of notes.md",
            "insert \"first\" at the beginning of list.txt",
            "edit notes.txt and replace a with b",
            "use tea instead of coffee in notes.txt",
            "please change the word red into blue in the file colours.txt",
            "correct teh to the in letter.txt",
        ],
    );
    all_mean(
        "edit-file",
        &[
            "把 notes.txt 里的 foo 改成 bar",
            "把notes.txt中的茶替换成咖啡",
            "将 report.md 里的 2024 改为 2025",
            "在 notes.txt 里把茶换成咖啡",
            "请把“早上好”改成“晚上好”，在 letter.txt 里把旧改成新",
            "帮我把 config.toml 里所有的 debug 改成 release",
            "用咖啡替换 notes.txt 里的茶",
            "替换 a.txt 中的 foo 为 bar",
            "删除 todo.txt 里的牛奶",
            "从 notes.txt 中删掉“旧的一行”",
            "把 notes.txt 里的“多余”删掉",
            "在 todo.txt 末尾加一行“买牛奶”",
            "在 todo.txt 里添加一行 买牛奶",
            "给 todo.txt 加上一行：买鸡蛋",
            "往 notes.txt 里写一行“你好”",
            "把“结束”追加到 story.txt",
            "把买牛奶加到 todo.txt 里",
            "在 notes.md 的开头加上“标题”",
            "向 log.txt 追加一行 完成",
            "把“第一”插入到 list.txt 的开头",
            "将会议记录.md里的苹果换成梨",
        ],
    );
    let replace = |path: &str, old: &str, new: &str| FileRequest::Replace {
        path: path.into(),
        old: old.into(),
        new: new.into(),
    };
    means("replace foo with bar in notes.txt", replace("notes.txt", "foo", "bar"));
    means("Replace \"a. b\" with 'c, d' in x.md.", replace("x.md", "a. b", "c, d"));
    means("replace all occurrences of red tea with tea in a.txt", replace("a.txt", "red tea", "tea"));
    means("remove \"x\" from a.txt", replace("a.txt", "x", ""));
    means("把 notes.txt 里的绿茶改成红茶", replace("notes.txt", "绿茶", "红茶"));
    means("用咖啡替换 notes.txt 里的茶", replace("notes.txt", "茶", "咖啡"));
    let insert =
        |path: &str, line: &str, at| FileRequest::Insert { path: path.into(), line: line.into(), at };
    means("add a line \"- buy milk\" to todo.txt", insert("todo.txt", "- buy milk", Place::End));
    means("insert \"first\" at the beginning of list.txt", insert("list.txt", "first", Place::Start));
    means("在 todo.txt 末尾加一行“买牛奶”", insert("todo.txt", "买牛奶", Place::End));
}

#[test]
fn requests_to_create_a_file_are_understood() {
    all_mean(
        "create-file",
        &[
            "create notes.txt",
            "create an empty file notes.txt",
            "create a file called todo.txt with buy milk",
            "Create a new file hello.txt with the text \"Hello, world\"",
            "make a file named a.md containing # Title",
            "write \"hello\" to greeting.txt",
            "write hello to greeting.txt",
            "save \"1,2,3\" as data.csv",
            "save the line hello in notes.txt",
            "new file test.py",
            "please create the file src/new.rs with \"fn main() {}\"",
            "create letter.txt that says Dear Anna",
            "make todo.txt with the content milk",
            "write a file poem.txt with roses are red",
            "create \"my notes.txt\" with hello",
            "touch empty.log",
            "Could you create a text file story.txt with once upon a time?",
            "store \"key=value\" in settings.ini",
            "create docs/plan.md with \"# Plan\"",
            "generate a file called out.txt with done",
            "start a new file called diary.md with Dear diary",
        ],
    );
    all_mean(
        "create-file",
        &[
            "创建 notes.txt",
            "新建文件 notes.txt",
            "创建一个空文件 a.txt",
            "新建 todo.txt，内容是买牛奶",
            "创建一个名为 hello.txt 的文件，内容为“你好，世界”",
            "写一个文件 poem.txt，里面写“床前明月光”",
            "把“你好”写入 greeting.txt",
            "把你好写到 greeting.txt 里",
            "将“1,2,3”保存为 data.csv",
            "把“完成”保存到文件 out.txt 中",
            "帮我新建一个 diary.md，写上“亲爱的日记”",
            "请创建 src/new.rs，内容是“fn main() {}”",
            "建一个 test.py",
            "生成文件 a.md，内容为“标题”",
            "新建“我的笔记.txt”，内容是你好",
            "创建一个叫 b.txt 的文件",
            "能不能新建一个 c.txt，里面写上“测试”",
            "把“键=值”存到 settings.ini",
            "新建一个空白的 d.txt",
            "建立一个文件 e.txt，包含“一二三”",
        ],
    );
    let create =
        |path: &str, content: &str| FileRequest::Create { path: path.into(), content: content.into() };
    means("Create hello.txt with the text \"Hello, world. Bye\"", create("hello.txt", "Hello, world. Bye"));
    means("create todo.txt with buy milk, eggs and tea", create("todo.txt", "buy milk, eggs and tea"));
    means("新建 todo.txt，内容是买牛奶", create("todo.txt", "买牛奶"));
    means("write hello to greeting.txt", create("greeting.txt", "hello"));
    means("create notes.txt", create("notes.txt", ""));
}

#[test]
fn sentences_that_only_look_like_requests_about_files_are_not_understood() {
    for text in [
        "search for a hotel in Paris",
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
    let begun = std::time::Instant::now();
    FileRequest::of(&Utterance::new(&text));
    FileRequest::of(&Utterance::new(&format!("replace {} in a.txt", "with in ".repeat(60))));
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
}
