//! The patterns of English requests about files.

use super::{
    pattern::Piece::{Any, Dir, File, Fill, Folder, Kind, Number, Quote, Text},
    request::{Rule, make},
};

const IN: &str = "in, of, inside, under, from, within, at, for, on, there are in, there is in, that are in, are in, is in, you find in, you see in, in the";
const ASKED: &str = "
    tell me, show me, i want to know, i would like to know, do you know, can you tell me, could you tell me, please, and, so, now, just, let me know, i wonder";
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
const SEARCH: &str = "
    search, search for, grep, grep for, look for, find, scan for, hunt for, find all occurrences of, find every occurrence of, find occurrences of, find the word, search for the word,
    look for the word, find the text, search for the text, find all mentions of, find mentions of, locate, find all uses of, find uses of, find where it says, find every mention of, find the string, search for the string";
const THE_FILES: &str = "
    the files, all files, all the files, my files, files, the code, the source, the source code, every file, these files, the documents, my notes, the notes, the text files, the project files, all my files";
const MENTION: &str = "
    contain, contains, mention, mentions, include, includes, use, uses, have, has, containing, mentioning, that contain, that mention, that contains, that mentions, that include, that use, with, using, with the word,
    contain the word, mention the word, containing the word, with the text, contain the text, that contain the word, say, refer to";
const SUMMARISE: &str = "
    summarise, summarize, sum up, give me a summary of, give a summary of, summary of, a summary of, write a summary of, make a summary of, outline, give me the gist of,
    give me an overview of, describe, condense, recap, digest, a short summary of, give me a short summary of, give a short summary of, brief me on, create a summary of, give me an outline of, the gist of,
    an overview of, overview of, explain, prepare a summary of, shorten, provide a summary of, tldr, summarising, summarizing, i need a summary of, i want a summary of, a brief summary of, give me a brief summary of";
const BY_AGENT: &str = "
    let a sub agent, let sub agents, let a subagent, let subagents, have a sub agent, have a subagent, use a sub agent to, use a subagent to, ask a sub agent to, ask a subagent to, delegate, delegate to a sub agent, delegate this,
    let an agent, have an agent, get a sub agent to, a sub agent should, with a sub agent, a sub agent, sub agent, to, the task to, use sub agents to, let another agent, have another agent";
const BY_AGENT_AFTER: &str = "
    with a sub agent, with sub agents, using a sub agent, using sub agents, by a sub agent, to a sub agent, with a subagent, through a sub agent, via a sub agent, using a subagent, and report, and tell me what it is about, in a few sentences, briefly, in short, shortly, quickly";
const DIRECTLY: &str = "yourself, by yourself, on your own, without delegating, without sub agents, without a sub agent, directly, read its files, and read its files, list it and read its files";
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
    // Changes first: their texts may look like other requests.
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
    // Summaries.
    Rule {
        pattern: &[
            Fill(BY_AGENT),
            Any(SUMMARISE),
            Fill(
                "the contents of, the content of, what is in, all files in, all the files in, the files in, everything in, all files of, the files of",
            ),
            Folder,
            Fill("for me"),
            Any(DIRECTLY),
            Fill(DIRECTLY),
        ],
        make: make::summarise_directly,
    },
    Rule {
        pattern: &[
            Fill(BY_AGENT),
            Any(SUMMARISE),
            Fill(
                "the contents of, the content of, what is in, all files in, all the files in, the files in, everything in, all files of, the files of, all of, the whole",
            ),
            Folder,
            Fill("for me"),
            Fill(BY_AGENT_AFTER),
        ],
        make: make::summarise_folder,
    },
    Rule {
        pattern: &[
            Fill(BY_AGENT),
            Any(SUMMARISE),
            Fill("the contents of, the content of, what is in, all of, the whole, the text in"),
            File,
            Fill("for me"),
            Fill(BY_AGENT_AFTER),
        ],
        make: make::summarise,
    },
    Rule {
        pattern: &[Fill(ASKED), Any("what is, what are"), File, Any("about, about in short, all about")],
        make: make::summarise,
    },
    Rule {
        pattern: &[Fill(ASKED), Any("what is"), Folder, Any("about, for, all about")],
        make: make::summarise_folder,
    },
    Rule {
        pattern: &[
            Fill(ASKED),
            Any(
                "what is the gist of, what is the summary of, what are the main points of, what are the key points of, the main points of, the key points of, what are the main points in",
            ),
            File,
        ],
        make: make::summarise,
    },
    Rule {
        pattern: &[
            Any("give me, write, make, i need, i want"),
            Any("a summary, the summary, a short summary, an overview, the gist"),
            Any("of, for, about"),
            Folder,
        ],
        make: make::summarise_folder,
    },
    Rule {
        pattern: &[
            Fill("give me, write, make, i need, i want"),
            Any(
                "the main points, the key points, a summary, an outline, the gist, an overview, the headings",
            ),
            Any("of, for, in, about"),
            File,
        ],
        make: make::summarise,
    },
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
