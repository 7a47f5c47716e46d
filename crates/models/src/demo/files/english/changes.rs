//! English requests to change or create a file.

use super::super::{
    pattern::Piece::{Any, File, Fill, Quote, Text},
    request::{Rule, make},
};

const REPLACE: &str = "
    replace, change, swap, substitute, exchange, turn, correct, rename, replace all, change all, replace every, replace each, change every, change the word, replace the word, replace the text, replace the words,
    replace all occurrences of, replace every occurrence of, change all occurrences of, change every occurrence of, change the text, replace the line, change the line, replace each occurrence of, find and replace, replace the string, replace the name, change the name, fix, modify, edit, update, alter, replace all instances of, change all instances of";
const WITH: &str = "with, by, to, into, for, with the word, with the text, to the word, so that it says, to say, to read, with the line";
const REMOVE: &str = "
    remove, delete, drop, erase, take out, strip, cut, get rid of, remove the word, remove the line, delete the line, delete the word, remove the text, delete the text, remove all, delete all, remove every, remove the sentence, delete the sentence, take, strip out, cut out, remove the words";
const ADD: &str = "
    add, append, put, insert, add a line, append a line, add the line, append the line, add a new line, add the text, append the text, add a line saying, add a line that says, add a line with, add the words, add the sentence, add a sentence, insert a line, insert the line,
    add the word, write a line, put a line, put the line, append the words, add another line, add a line reading, write the line, add a new line saying, add a new line that says, add an entry, add the entry, add an item, add the item, tack, put a line saying, append a line saying, note, jot down, add one line, insert the text";
const TO_END: &str = "
    to, at the end of, to the end of, onto, into, in, to the bottom of, at the bottom of, on to, as the last line of, as the last line in, as a new line to, as a new line in, on the end of, after the last line of, at the very end of, as a line to, under the last line of";
const TO_START: &str = "
    at the top of, to the top of, at the beginning of, to the beginning of, at the start of, to the start of, as the first line of, as the first line in, before the first line of, in front of, on top of, at the head of";
const CREATE: &str = "
    create, make, write, generate, start, new, save, set up, produce, create me, make me, touch, add, create a file, make a file, write a file, create a new file, make a new file, create the file, write the file, new file, create a text file, make a text file, create a file named, create a file called,
    make a file called, make a file named, create a new file called, create a new file named, create an empty file, make an empty file, create an empty file called, create an empty file named, write a new file, create a new text file, add a file, add a new file, add a file called, add a new file called, create a document, make a new file called, make a new file named, start a file, start a new file, start a new file called, save a file, make a new text file, create a markdown file, create a note, write a file called, write a file named, a new file, a new file called, generate a file, generate a file called, put a file called, save a file called";
const SAYING: &str = "
    with, containing, that says, saying, with the text, with the content, with the contents, with content, and write, and put, with the words, with the line, with the following text, with the following content, and write in it, that contains, which says, which contains, that reads, reading, and put in it, with the sentence, with this text, with this content, with this in it, and add, and fill it with, content, with the following, and type, with a line, and write into it, holding, with the word";
const INTO: &str = "
    to, into, in, as, to a file, to a new file, into a file, into a new file, in a new file, in a file, to the file, to a file called, to a file named, to a new file called, to a new file named, into a file called, into a new file called, in a file called, in a new file called, as a file, as a new file, as a file called, to disk as, into the file, in the file, in a file named, under, under the name";

pub(super) const RULES: &[Rule] = &[
    Rule {
        pattern: &[
            Any(REPLACE),
            Text,
            Any(WITH),
            Text,
            Any("in, inside, within, throughout, of, everywhere in, in all of, from, across"),
            File,
            Fill("everywhere, please"),
        ],
        make: make::replace,
    },
    Rule {
        pattern: &[
            Any(REPLACE),
            Text,
            Any("in, inside, within, throughout, everywhere in"),
            File,
            Any(WITH),
            Text,
        ],
        make: make::replace,
    },
    Rule {
        pattern: &[
            Any("in, inside, within, edit, change, open, update, modify, go to, take"),
            File,
            Fill("and, so that, to, please, you"),
            Any(REPLACE),
            Text,
            Any(WITH),
            Text,
        ],
        make: make::replace,
    },
    Rule {
        pattern: &[
            Any("use, write, put"),
            Text,
            Any("instead of, in place of"),
            Text,
            Any("in, inside, within"),
            File,
        ],
        make: make::replace_reversed,
    },
    Rule { pattern: &[Any(REMOVE), Text, Any("from, out of, in, off, inside"), File], make: make::remove },
    Rule {
        pattern: &[Any("in, from, inside, edit, open"), File, Fill("and, please"), Any(REMOVE), Text],
        make: make::remove,
    },
    Rule { pattern: &[Any(ADD), Text, Any(TO_START), File], make: make::prepend },
    Rule { pattern: &[Any(TO_START), File, Fill("please"), Any(ADD), Text], make: make::prepend },
    Rule {
        pattern: &[Any(ADD), Any(TO_START), File, Fill("the line, the text, saying, that says"), Text],
        make: make::prepend,
    },
    Rule {
        pattern: &[Any(CREATE), Fill("a, an, the, new, empty, text, file, blank"), File, Any(SAYING), Text],
        make: make::create,
    },
    Rule {
        pattern: &[
            Any(CREATE),
            Fill("a, an, the, new, empty, text, file, blank"),
            File,
            Fill("in it, inside"),
            Any(SAYING),
            Text,
        ],
        make: make::create,
    },
    Rule {
        pattern: &[Any(CREATE), Fill("a, an, the, new, text, file"), File, Fill("and, in it"), Quote],
        make: make::create,
    },
    Rule {
        pattern: &[Any("write, save, store, put, dump, export, output, keep"), Quote, Any(INTO), File],
        make: make::create,
    },
    Rule { pattern: &[Any("write, save, store, dump, keep"), Text, Any(INTO), File], make: make::create },
    Rule {
        pattern: &[
            Any(
                "create, make, touch, start, new, new file, create a file, make a file, create a new file, make a new file, create an empty file, make an empty file, create the file, create a file called, create a file named, create a new file called, create a new file named, create an empty file called, create an empty file named, make an empty file called, make a file called, make a file named, i need an empty file, start a new file, add an empty file, create a blank file",
            ),
            Fill("a, an, new, empty, file, called, named, blank"),
            File,
        ],
        make: make::create,
    },
    Rule { pattern: &[Any(ADD), Text, Any(TO_END), File], make: make::append },
    Rule {
        pattern: &[
            Any("add, append, write"),
            Any(TO_END),
            File,
            Fill(
                "the line, the text, a line, saying, that says, the words, a new line, this line, the following line, the following",
            ),
            Text,
        ],
        make: make::append,
    },
    Rule {
        pattern: &[
            Any("to, at the end of, in, edit, open, extend, at the bottom of"),
            File,
            Fill("and, please"),
            Any(ADD),
            Text,
        ],
        make: make::append,
    },
];
