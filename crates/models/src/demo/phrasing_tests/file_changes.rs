//! What the demo model understands as requests to change or create a file.

use super::{all_mean, files::means};
use crate::demo::files::{FileRequest, Place};

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
