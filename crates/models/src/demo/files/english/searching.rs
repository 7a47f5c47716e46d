//! English requests to find files by name and to search their text.

use super::{
    super::{
        pattern::Piece::{Any, Dir, File, Fill, Folder, Kind, Quote, Text},
        request::{Rule, make},
    },
    ASKED, IN,
};

const SEARCH: &str = "
    search, search for, grep, grep for, look for, find, scan for, hunt for, find all occurrences of, find every occurrence of, find occurrences of, find the word, search for the word,
    look for the word, find the text, search for the text, find all mentions of, find mentions of, locate, find all uses of, find uses of, find where it says, find every mention of, find the string, search for the string";
const THE_FILES: &str = "
    the files, all files, all the files, my files, files, the code, the source, the source code, every file, these files, the documents, my notes, the notes, the text files, the project files, all my files";
const MENTION: &str = "
    contain, contains, mention, mentions, include, includes, use, uses, have, has, containing, mentioning, that contain, that mention, that contains, that mentions, that include, that use, with, using, with the word,
    contain the word, mention the word, containing the word, with the text, contain the text, that contain the word, say, refer to";

pub(super) const RULES: &[Rule] = &[
    // Kinds of files and file names.
    Rule {
        pattern: &[
            Fill(ASKED),
            Any(
                "find, find me, list, show, show me, search for, look for, locate, give me, glob, get, which, what, are there, are there any, how many, where are, where are the, find all, list all, show all, find all the, list all the, show me all, find every, search for all, look for all, all, all the",
            ),
            Fill(
                "all, every, the, my, any, files matching, files that match, files named, file names matching, files like, files ending in, files ending with, files that end in, files that end with, files with the ending, files with the extension, files of type, files called, of",
            ),
            Kind,
            Fill(
                "files, file, documents, are there, do we have, do i have, exist, scripts, notes, there are, that are there",
            ),
            Fill("in the whole project, anywhere, everywhere"),
        ],
        make: make::find,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any(
                "find, find me, list, show, show me, search for, look for, locate, give me, get, which, what, are there, are there any, find all, list all, show all, find all the, list all the, show me all, where are",
            ),
            Fill(
                "all, every, the, my, any, files matching, files named, files ending in, files ending with, files of type",
            ),
            Kind,
            Fill("files, file, documents, are there, do we have, are, exist"),
            Any(IN),
            Dir,
        ],
        make: make::find,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any(
                "where is, where are, where do i find, where can i find, where did i put, where is the file, find the file, find the file named, find the file called, find a file named, find a file called, find files named, find files called, find all files named, find all files called, find all files, look for the file, search for the file, locate, locate the file, is there a file named, is there a file called, do i have a file named, do i have a file called, is there, do we have a file called, find me the file, look for a file called, look for a file named, search for a file named, search for a file called, search for files named, which folder is, in which folder is, find me, does the file, find out where, look for files named, look for files called, list files named, list all files named",
            ),
            File,
            Fill(
                "here, located, stored, in, is, exist, saved, somewhere, anywhere, the project, this folder",
            ),
        ],
        make: make::find,
    },
    Rule { pattern: &[Any("find"), File], make: make::find },
    // Searching text.
    Rule {
        pattern: &[
            Fill(ASKED),
            Any(
                "which files, which file, what files, what file, which documents, which of the files, which of my files, find files, find all files, find the files, find all the files, find me files, list files, list all files, list the files, show files, show me files, show me all files, search for files, look for files, search files, find every file, show me the files, files, find me all files, are there files, is there a file, find a file, find the file, in which files do you find, list every file, find documents, give me all files",
            ),
            Any(MENTION),
            Text,
            Fill("in it, in them, somewhere, anywhere"),
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any("search, look, scan, go, grep"),
            Fill("through, in, inside, into, all of"),
            Any(THE_FILES),
            Any("for, for the word, for the text, for the string, to find, and find"),
            Text,
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any(
                "search, look, scan, look through, search through, search in, look in, grep, scan through, search inside, look inside, go through",
            ),
            Fill("the, all of"),
            Folder,
            Any("for, for the word, for the text, for the string"),
            Text,
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any("search, look in, search in, scan, look through, search through, grep, look inside"),
            File,
            Any("for, for the word, for the text"),
            Text,
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any(SEARCH),
            Text,
            Any("in, inside, within, through, across, throughout, in all of, anywhere in, everywhere in"),
            Any(THE_FILES),
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any(SEARCH),
            Text,
            Any("in, inside, within, under, across, throughout, anywhere in, everywhere in"),
            Folder,
        ],
        make: make::search,
    },
    Rule { pattern: &[Any(SEARCH), Text, Any("in, inside, within, throughout"), File], make: make::search },
    Rule { pattern: &[Any(SEARCH), Quote], make: make::search_quote },
    Rule { pattern: &[Any("grep, grep for"), Text, Any("in, under, inside"), Dir], make: make::search },
    Rule { pattern: &[Any("grep, grep for"), Text], make: make::search },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any(
                "where is, where are, where do we use, where do i mention, where do the files mention, where does it say",
            ),
            Quote,
            Fill(
                "used, mentioned, defined, written, found, called, set, said, declared, in, the, code, files, project, source",
            ),
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any("where is, where are"),
            Text,
            Any("used, mentioned, defined, written, declared, called, set"),
            Any("in, inside"),
            Any(
                "the code, the files, the project, the source, the source code, my files, this project, this folder",
            ),
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any("does"),
            File,
            Any("contain, mention, have, say, include, contain the word, mention the word"),
            Text,
        ],
        make: make::search,
    },
    Rule {
        pattern: &[
            Any(
                "search for the word, search for the text, search for the string, look for the word, find the word, find the text, find the string",
            ),
            Text,
        ],
        make: make::search,
    },
    Rule { pattern: &[Any("search for, search"), Text], make: make::search_words },
];
