//! English requests to summarise a file or a folder.

use super::{
    super::{
        pattern::Piece::{Any, File, Fill, Folder},
        request::{Rule, make},
    },
    ASKED,
};

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

pub(super) const RULES: &[Rule] = &[
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
];
