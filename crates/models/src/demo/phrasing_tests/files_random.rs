//! Requests about files with random politeness, names and texts: the request and its parts must be found every time.

use crate::demo::{files::FileRequest, utterance::Utterance};

/// A small generator with a seed, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn word(&mut self) -> String {
        (0..3 + self.below(6)).map(|_| char::from(b'a' + u8::try_from(self.below(26)).unwrap())).collect()
    }

    fn path(&mut self) -> String {
        let ending = ["txt", "md", "rs", "toml", "json", "csv", "py"];
        let folders: String = (0..self.below(3)).map(|_| format!("{}/", self.word())).collect();
        let dash = if self.below(3) == 0 { format!("-{}", self.word()) } else { String::new() };
        format!("{}{folders}{}{dash}.{}", self.pick(&["", "", "./"]), self.word(), self.pick(&ending))
    }

    /// A text in quotation marks, with anything inside.
    fn text(&mut self) -> String {
        let pieces =
            ["a", "; drop", "茶", " ", ", ", "with", "in", "x.txt", "?", "1/2", "改成", "to", "#", "- "];
        let text: String = (0..1 + self.below(6)).map(|_| self.pick(&pieces)).collect();
        format!("{}{}{}", self.word(), text, self.word())
    }
}

const LEADS: &[&str] =
    &["", "please ", "Could you ", "can you please ", "Hi, ", "I want you to ", "now ", "ok, "];
const TRAILS: &[&str] = &["", ".", "!", ", please", " for me", " please.", ", thanks!"];
const LEADS_ZH: &[&str] = &["", "请", "帮我", "请帮我", "能不能", "麻烦你", "你能", "现在"];
const TRAILS_ZH: &[&str] = &["", "。", "吧", "吗？", "，谢谢", "好吗？"];

#[track_caller]
fn check(text: &str, wanted: &FileRequest) {
    let found = FileRequest::of(&Utterance::new(text)).map(|(request, _)| request);
    assert_eq!(found.as_ref(), Some(wanted), "{text}");
}

#[test]
fn random_english_requests_are_understood() {
    let mut random = Random(15);
    for _ in 0..200 {
        let (path, old, new) = (random.path(), random.text(), random.text());
        let (lead, trail) = (random.pick(LEADS), random.pick(TRAILS));
        let read =
            random.pick(&["read", "open", "show me", "print", "take a look at", "show me the contents of"]);
        check(&format!("{lead}{read} {path}{trail}"), &FileRequest::Read { path: path.clone(), lines: None });
        let replace = random.pick(&["replace", "change", "swap", "substitute", "replace all occurrences of"]);
        let with = random.pick(&["with", "by", "to", "into"]);
        let inside = random.pick(&["in", "inside", "within"]);
        if old != new {
            check(
                &format!("{lead}{replace} \"{old}\" {with} \"{new}\" {inside} {path}{trail}"),
                &FileRequest::Replace { path: path.clone(), old: old.clone(), new: new.clone() },
            );
        }
        let summarise = random.pick(&["summarise", "summarize", "sum up", "give me a summary of", "outline"]);
        check(&format!("{lead}{summarise} {path}{trail}"), &FileRequest::Summarise { path: path.clone() });
        let create =
            random.pick(&["create", "create a file called", "make a new file", "write a file named"]);
        let saying = random.pick(&["with", "containing", "that says", "with the text"]);
        check(
            &format!("{lead}{create} {path} {saying} “{new}”{trail}"),
            &FileRequest::Create { path: path.clone(), content: new },
        );
        let search = random.pick(&["search", "look in", "search in"]);
        check(
            &format!("{lead}{search} {path} for \"{old}\"{trail}"),
            &FileRequest::Search { text: old, place: path },
        );
    }
}

#[test]
fn random_chinese_requests_are_understood() {
    let mut random = Random(51);
    for _ in 0..200 {
        let (path, old, new) = (random.path(), random.text(), random.text());
        let (lead, trail) = (random.pick(LEADS_ZH), random.pick(TRAILS_ZH));
        let space = random.pick(&["", " "]);
        let read = random.pick(&["读一下", "打开", "查看", "读取", "显示"]);
        check(
            &format!("{lead}{read}{space}{path}{space}{trail}"),
            &FileRequest::Read { path: path.clone(), lines: None },
        );
        let to = random.pick(&["改成", "替换成", "换成", "改为", "替换为"]);
        let inside = random.pick(&["里的", "中的", "里面的"]);
        if old != new {
            check(
                &format!("{lead}把{space}{path}{space}{inside}“{old}”{to}“{new}”{trail}"),
                &FileRequest::Replace { path: path.clone(), old: old.clone(), new: new.clone() },
            );
        }
        let summarise = random.pick(&["总结一下", "概括", "归纳一下", "总结"]);
        check(
            &format!("{lead}{summarise}{space}{path}{trail}"),
            &FileRequest::Summarise { path: path.clone() },
        );
        let create = random.pick(&["新建", "创建", "创建一个文件"]);
        let saying = random.pick(&["内容是", "内容为", "里面写", "写上"]);
        check(
            &format!("{lead}{create}{space}{path}，{saying}“{new}”{trail}"),
            &FileRequest::Create { path: path.clone(), content: new },
        );
        let search = random.pick(&["搜索", "查找", "找"]);
        check(
            &format!("{lead}在{space}{path}{space}里{search}“{old}”{trail}"),
            &FileRequest::Search { text: old, place: path },
        );
    }
}
