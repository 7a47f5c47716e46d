//! The second opinion: the line read with the tree-sitter grammar of bash.

use std::{collections::BTreeSet, ops::ControlFlow};

use tree_sitter::{Node, ParseOptions, Parser, Tree, TreeCursor};

/// How often the parser may report progress before it is stopped; each report stands for about a hundred steps.
const MAX_STEPS: u32 = 20_000;
const MAX_NODES: usize = 40_000;
/// Deeper nodes are not visited.
const MAX_DEPTH: usize = 200;

/// A line as the grammar sees it.
pub(crate) struct Grammar {
    tree: Tree,
}

impl Grammar {
    /// Reads a line. `None` when that takes too long.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
        let mut steps = 0;
        let mut progress = |_: &_| {
            steps += 1;
            if steps > MAX_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let masked = masked(line);
        let bytes = masked.as_slice();
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = parser.parse_with_options(
            &mut |at, _| bytes.get(at..).unwrap_or_default(),
            None,
            Some(options),
        )?;
        (tree.root_node().descendant_count() <= MAX_NODES).then_some(Self { tree })
    }

    /// Whether parts of the line do not fit the grammar.
    pub(crate) fn has_errors(&self) -> bool {
        self.tree.root_node().has_error()
    }

    /// Where the names of commands start.
    pub(crate) fn names(&self) -> BTreeSet<usize> {
        let mut names = BTreeSet::new();
        self.visit(|node, _| match node.kind() {
            "command_name" | "declaration_command" | "unset_command" | "test_command" => {
                names.insert(node.start_byte());
            }
            _ => {}
        });
        names
    }

    /// Visits every node, parents first, and says whether it is a later part of a pipeline. Parts that are nested too deeply are
    /// left out.
    pub(crate) fn visit<'a>(&'a self, mut see: impl FnMut(Node<'a>, bool)) {
        let mut cursor = self.tree.walk();
        // For each level: whether it is inside a later part of a pipeline.
        let mut piped = vec![false];
        loop {
            let node = cursor.node();
            let inside = piped.last().copied().unwrap_or_default();
            see(node, inside);
            if piped.len() < MAX_DEPTH && cursor.goto_first_child() {
                piped.push(inside);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                piped.pop();
            }
            if let [.., outer, here] = piped.as_mut_slice() {
                *here = *outer || in_pipeline(&cursor);
            }
        }
    }
}

/// Whether the node, which is not the first of its parent, is a part of a pipeline.
fn in_pipeline(cursor: &TreeCursor<'_>) -> bool {
    let mut parent = cursor.clone();
    parent.goto_parent() && parent.node().kind() == "pipeline"
}

/// The line with `x` for every byte that is not ASCII or is a control character. The grammar looks characters up in tables that
/// have no place for others, and takes a zero byte for the end. Positions stay the same.
fn masked(line: &str) -> Vec<u8> {
    let keep = |byte: u8| byte == b'\n' || byte == b'\t' || (b' '..=b'~').contains(&byte);
    line.bytes().map(|byte| if keep(byte) { byte } else { b'x' }).collect()
}
