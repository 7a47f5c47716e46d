//! English requests to read a file or to list a folder.

use super::{
    super::{
        pattern::Piece::{Any, Dir, File, Fill, Folder, Number},
        request::{Rule, make},
    },
    ASKED, IN,
};

const SHOW: &str = "
    list, show, show me, display, print, give me, see, enumerate, ls, dir, look at, browse, explore, tell me, get, list me, list up, list out, name, check";
const FILES: &str = "
    the files, files, all files, all the files, every file, my files, the contents, contents, content, the content, the entries,
    a list of files, a list of the files, a list of all files, a listing, the listing, a directory listing, the files and folders, files and folders, all files and folders,
    everything, all, what is, which files are, what files are, the list of files, the names of the files, the file list, all the files and folders, the documents";
const READ: &str = "
    read, open, open up, show, show me, display, print, print out, cat, view, look at, look into, read me, read out, see, type, give me, get, load, check, take a look at, have a look at, let me read, output";
const CONTENT: &str = "
    the contents of, the content of, contents of, content of, the text of, the text in, what is in, what is inside, everything in, all of, the whole of, inside, the whole, the full text of, the full content of, the complete";
const LINES: &str = "line, lines, the line, the lines, from line, rows";

pub(super) const RULES: &[Rule] = &[
    // Reading.
    Rule {
        pattern: &[
            Any(READ),
            Any("the first, first, the top, the beginning"),
            Number,
            Any("lines of, lines from, lines in, rows of, line of"),
            File,
        ],
        make: make::read_beginning,
    },
    Rule {
        pattern: &[
            Any(READ),
            Any(LINES),
            Number,
            Any("to, through, until, and, till, up to"),
            Fill("line"),
            Number,
            Any("of, from, in"),
            File,
        ],
        make: make::read,
    },
    Rule { pattern: &[Any(READ), Any(LINES), Number, Any("of, from, in"), File], make: make::read },
    Rule {
        pattern: &[
            Any(READ),
            File,
            Any("from line, lines, line, from"),
            Number,
            Any("to, through, until, till, up to, to line"),
            Number,
        ],
        make: make::read,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any(
                "what is in, what is inside, what is written in, what stands in, what do you find in, what do you see in, what are the contents of, what is the content of, what is the text of, what do we have in, what have i written in, what did i write in, what does it say in, what is the text in",
            ),
            File,
        ],
        make: make::read,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any("what does, what do"),
            File,
            Any("say, contain, have, hold, look like, have in it, include, read, have inside"),
        ],
        make: make::read,
    },
    Rule {
        pattern: &[Fill(ASKED), Any("what"), File, Any("says, contains, looks like, holds")],
        make: make::read,
    },
    Rule {
        pattern: &[
            Any(READ),
            Fill(CONTENT),
            File,
            Fill(
                "to me, for me, aloud, and show it, and show me, and tell me what it says, and tell me what is in it, please, and show it to me",
            ),
        ],
        make: make::read,
    },
    // Listing.
    Rule { pattern: &[Any("ls, dir")], make: make::list },
    Rule { pattern: &[Any("ls, dir"), Dir], make: make::list },
    Rule {
        pattern: &[
            Any(SHOW),
            Any(
                "the files, files, all files, all the files, my files, the files and folders, files and folders, a list of files, a list of the files, a list of all files, the file list, every file, the names of the files, all files and folders, a directory listing, the folder, this folder, the directory, the current folder, the current directory, all my files, the list of files, the work directory, the workspace, the project files, the files you see, the files you have, what files there are, which files there are, what is here, what is there",
            ),
            Fill(
                "here, you have, you see, there are, there, that there are, we have, please, you can see, that you see, you find",
            ),
        ],
        make: make::list,
    },
    Rule {
        pattern: &[
            Any(SHOW),
            Any(
                "the files, files, all files, all the files, the contents, contents, the content, the entries, a list of the files",
            ),
            Any("in, of, inside, under, from, within"),
            Dir,
        ],
        make: make::list,
    },
    Rule { pattern: &[Any(SHOW), Any(FILES), Any(IN), Folder, Fill("please, to me")], make: make::list },
    Rule { pattern: &[Any(SHOW), Folder], make: make::list },
    Rule {
        pattern: &[
            Any(
                "open, look into, look inside, look in, go through, take a look at, have a look at, have a look in, peek into, see what is in, show what is in, show me what is in",
            ),
            Folder,
        ],
        make: make::list,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any(
                "what is in, what is inside, what files are in, which files are in, what files are there in, which files are there in, what is there in, what is stored in, what lies in, what do we have in, what do you see in, what do you find in, what are the files in, what can you see in, what all is in, which files do you see in, which files do we have in, what files do we have in, what files do you see in, what are the contents of, how many files are in",
            ),
            Folder,
        ],
        make: make::list,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any("what, which"),
            Any("files, documents, files and folders"),
            Any(
                "are there, are here, do you have, do you see, do we have, do i have, are in here, can you see, exist, is there, do you find, there are, are available, are there here, do you have here, do we have here, you see, you have",
            ),
        ],
        make: make::list,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any("what does"),
            Folder,
            Any("contain, hold, have in it, look like, include"),
        ],
        make: make::list,
    },
];
