//! The broken calls. `make-note` needs `text`, `move-file` needs `from` and `to`, the whole input of `run-text` is a text, and
//! `conf_echo` is a contract tool that takes exactly `text`.

pub struct Row {
    pub wrong: &'static str,
    /// The name and the arguments as the model wrote them.
    pub written: &'static str,
    pub arguments: &'static str,
    /// The tool that is meant.
    pub meant: &'static str,
    pub expect: Expect,
}

pub enum Expect {
    /// Made without another word; the tool gets this.
    Made(&'static str),
    /// The model is asked once more; without a right answer it reads this.
    AskedAgain { error: &'static str },
    /// There is nothing to ask for; the model reads this.
    Refused { error: &'static str },
}

use Expect::{AskedAgain, Made, Refused};

impl Row {
    /// Arguments that are right.
    pub fn right(&self) -> &'static str {
        match self.meant {
            "move-file" => r#"{"from": "a", "to": "b"}"#,
            "run-text" => r#"{"input": "ls"}"#,
            _ => r#"{"text": "hi"}"#,
        }
    }
}

const fn row(
    wrong: &'static str,
    written: &'static str,
    arguments: &'static str,
    meant: &'static str,
    expect: Expect,
) -> Row {
    Row { wrong, written, arguments, meant, expect }
}

const fn note(wrong: &'static str, arguments: &'static str, expect: Expect) -> Row {
    row(wrong, "make-note", arguments, "make-note", expect)
}

const fn echo(wrong: &'static str, arguments: &'static str, expect: Expect) -> Row {
    row(wrong, "conf_echo", arguments, "conf_echo", expect)
}

const fn text(wrong: &'static str, arguments: &'static str, expect: Expect) -> Row {
    row(wrong, "run-text", arguments, "run-text", expect)
}

const HI: Expect = Made(r#"{"text":"hi"}"#);
const ECHOED: Expect = Made(r#"{"echoed":"hi"}"#);
const CUT: Expect = AskedAgain { error: "end before the JSON is complete" };
const NOT_JSON: Expect = AskedAgain { error: "not valid JSON" };
const TEXT_EXPECTED: Expect = AskedAgain { error: "one text" };

pub const ROWS: &[Row] = &[
    // Broken JSON: the same for every tool.
    echo("a code fence around it", "```json\n{\"text\": \"hi\"}\n```", ECHOED),
    echo("prose before it", "Here you go: {\"text\": \"hi\"}", ECHOED),
    echo("prose behind it", "{\"text\": \"hi\"} That should do.", ECHOED),
    echo("written as a function call", "conf_echo({\"text\": \"hi\"})", ECHOED),
    echo("a comma too many", "{\"text\": \"hi\",}", ECHOED),
    echo("single quotes", "{'text': 'hi'}", ECHOED),
    echo("typographic quotes", "{“text”: “hi”}", ECHOED),
    echo("a name without quotes", "{text: \"hi\"}", ECHOED),
    echo("a brace too many", "{\"text\": \"hi\"}}", ECHOED),
    echo("JSON inside a JSON string", "\"{\\\"text\\\": \\\"hi\\\"}\"", ECHOED),
    echo("a line end inside a text", "{\"text\": \"two\nlines\"}", Made(r#"{"echoed":"two\nlines"}"#)),
    echo("an escape that JSON does not know", "{\"text\": \"\\d+\"}", Made(r#"{"echoed":"\\d+"}"#)),
    note(
        "Python's words",
        "{'text': 'hi', 'urgent': True, 'colour': None}",
        Made(r#"{"text":"hi","urgent":true}"#),
    ),
    echo("cut off in a text", "{\"text\": \"unclosed", CUT),
    echo("cut off behind a text", "{\"text\": \"hi\"", CUT),
    echo("two objects", "{\"text\": \"a\"}{\"text\": \"b\"}", NOT_JSON),
    echo("a comma missing", "{\"text\": \"hi\" \"more\": 1}", NOT_JSON),
    echo("a quote inside single quotes", "{'text': 'it's fine'}", NOT_JSON),
    echo("key = value", "text=\"hi\"", NOT_JSON),
    // Names.
    row("wrong case", "Make-Note", "{\"text\": \"hi\"}", "make-note", HI),
    row("another separator", "make_note", "{\"text\": \"hi\"}", "make-note", HI),
    row("camel case", "makeNote", "{\"text\": \"hi\"}", "make-note", HI),
    row("a prefix", "functions.make-note", "{\"text\": \"hi\"}", "make-note", HI),
    row("a token of the model's own", "make-note<|channel|>json", "{\"text\": \"hi\"}", "make-note", HI),
    row("a typing error", "maek-note", "{\"text\": \"hi\"}", "make-note", HI),
    row(
        "no such tool",
        "write-novel",
        "{}",
        "write-novel",
        Refused { error: "no tool named \"write-novel\"" },
    ),
    row("no name at all", " ", "{\"text\": \"hi\"}", " ", Refused { error: "no tool named" }),
    // Bare strings.
    note("a bare JSON string", "\"hi\"", HI),
    note("plain words", "buy milk, then rest", Made(r#"{"text":"buy milk, then rest"}"#)),
    echo("a bare JSON string for a contract tool", "\"hi\"", AskedAgain { error: "expected an object" }),
    row(
        "a bare string, but two texts are needed",
        "move-file",
        "\"a\"",
        "move-file",
        AskedAgain { error: "expected an object" },
    ),
    // Shape: host tools only.
    note("the arguments in a list", "[{\"text\": \"hi\"}]", HI),
    note("the arguments in a wrapper", "{\"name\": \"make-note\", \"arguments\": {\"text\": \"hi\"}}", HI),
    note(
        "another spelling of a field",
        "{\"Text\": \"hi\", \"max_words\": 9}",
        Made(r#"{"text":"hi","maxWords":9}"#),
    ),
    note(
        "a number as a text",
        "{\"text\": \"hi\", \"maxWords\": \"9\"}",
        Made(r#"{"text":"hi","maxWords":9}"#),
    ),
    note(
        "a whole number with a fraction of nothing",
        "{\"text\": \"hi\", \"maxWords\": 9.0}",
        Made(r#"{"text":"hi","maxWords":9}"#),
    ),
    note(
        "a truth as a text",
        "{\"text\": \"hi\", \"urgent\": \"true\"}",
        Made(r#"{"text":"hi","urgent":true}"#),
    ),
    note("a text as a number", "{\"text\": 7}", Made(r#"{"text":"7"}"#)),
    note(
        "one entry instead of a list",
        "{\"text\": \"hi\", \"tags\": \"home\"}",
        Made(r#"{"text":"hi","tags":["home"]}"#),
    ),
    note(
        "a list as a text",
        "{\"text\": \"hi\", \"tags\": \"[\\\"a\\\", \\\"b\\\"]\"}",
        Made(r#"{"text":"hi","tags":["a","b"]}"#),
    ),
    note(
        "an object as a text",
        "{\"text\": \"hi\", \"place\": \"{\\\"city\\\": \\\"Bonn\\\"}\"}",
        Made(r#"{"text":"hi","place":{"city":"Bonn"}}"#),
    ),
    note(
        "a listed word in another spelling",
        "{\"text\": \"hi\", \"colour\": \"Dark Green\"}",
        Made(r#"{"text":"hi","colour":"dark_green"}"#),
    ),
    echo("another spelling, for a contract tool", "{\"Text\": \"hi\"}", AskedAgain { error: "`text`" }),
    echo(
        "a number for a text, for a contract tool",
        "{\"text\": 7}",
        AskedAgain { error: "expected a string" },
    ),
    // Fields too many, invalid, missing.
    note("a field too many", "{\"text\": \"hi\", \"font\": \"serif\"}", HI),
    note("an optional field that cannot be right", "{\"text\": \"hi\", \"maxWords\": \"many\"}", HI),
    note("a word that is not listed, optional", "{\"text\": \"hi\", \"colour\": \"blue\"}", HI),
    note(
        "a required field is missing",
        "{\"urgent\": true}",
        AskedAgain { error: "field `text`: is required and missing" },
    ),
    note("nothing at all", "", AskedAgain { error: "field `text`: is required and missing" }),
    note("null", "null", AskedAgain { error: "field `text`: is required and missing" }),
    note(
        "a required field of the wrong kind",
        "{\"text\": [1, 2]}",
        AskedAgain { error: "field `text`: expected a string" },
    ),
    row(
        "one of two required fields",
        "move-file",
        "{\"from\": \"a\"}",
        "move-file",
        AskedAgain { error: "field `to`" },
    ),
    echo(
        "a field too many, for a contract tool",
        "{\"text\": \"hi\", \"font\": \"serif\"}",
        AskedAgain { error: "field `font`: this tool has no such field" },
    ),
    // A tool whose whole input is a text.
    text("right: a JSON string", "\"ls -l\"", Made(r#""ls -l""#)),
    text("the text as it is", "ls -l {a,b}", Made(r#""ls -l {a,b}""#)),
    text("the text in an object", "{\"command\": \"ls -l\"}", Made(r#""ls -l""#)),
    text("an object in careless JSON", "{command: 'ls -l',}", Made(r#""ls -l""#)),
    text("a JSON string with line ends", "\"two\nlines\"", Made(r#""two\nlines""#)),
    text("a JSON string that is cut off", "\"ls -l", TEXT_EXPECTED),
    text("an object with two texts", "{\"a\": \"x\", \"b\": \"y\"}", TEXT_EXPECTED),
    text("a list", "[\"ls\", \"-l\"]", TEXT_EXPECTED),
    text("nothing at all", "", TEXT_EXPECTED),
];
