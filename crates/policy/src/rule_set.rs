//! The rules in force, and the verdict on a call.

use std::sync::Arc;

use protocol::InputForm;
use protocol::policy::{ApprovalMode, CallPattern, Rule, RuleEffect, RuleLayer, Verdict};

use crate::{
    built_in::{self, BuiltInWrite},
    grant::{self, READING_TOOLS, WRITING_TOOLS},
    need::Need,
    pattern::{Layer, Touched, plain_glob},
    reason,
};

/// The mode and the rules that apply to a call, compiled once.
///
/// The built-in rules are part of every set. Layers are shared by the sets that are made from each other with
/// [`RuleSet::with`], so a set per session costs only the session's own rules.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    mode: ApprovalMode,
    server: Arc<Layer>,
    workspace: Arc<Layer>,
    session: Arc<Layer>,
}

/// The tools that show what is in a file, for [`RuleSet::may_read`].
const CONTENT_TOOLS: [&str; 2] = ["grep-files", "read-file"];
/// Reading tools whose path is a folder.
const FOLDER_TOOLS: [&str; 3] = ["list-dir", "grep-files", "glob-files"];

impl RuleSet {
    /// Compiles rules. Rules of the built-in layer are ignored: the program's own are always in force.
    pub fn new(mode: ApprovalMode, rules: impl IntoIterator<Item = (RuleLayer, Rule)>) -> Self {
        let (mut server, mut workspace, mut session) = (Vec::new(), Vec::new(), Vec::new());
        for (layer, rule) in rules {
            match layer {
                RuleLayer::BuiltIn => {}
                RuleLayer::Server => server.push(rule),
                RuleLayer::Workspace => workspace.push(rule),
                RuleLayer::Session => session.push(rule),
            }
        }
        let compiled = |rules: Vec<Rule>| Arc::new(Layer::new(rules));
        Self { mode, server: compiled(server), workspace: compiled(workspace), session: compiled(session) }
    }

    /// Returns a set in which the rules of one layer are replaced. The built-in layer cannot be replaced.
    #[must_use]
    pub fn with(&self, layer: RuleLayer, rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut set = self.clone();
        let place = match layer {
            RuleLayer::BuiltIn => return set,
            RuleLayer::Server => &mut set.server,
            RuleLayer::Workspace => &mut set.workspace,
            RuleLayer::Session => &mut set.session,
        };
        *place = Arc::new(Layer::new(rules.into_iter().collect()));
        set
    }

    /// Returns a set with the same rules in another mode.
    #[must_use]
    pub fn in_mode(&self, mode: ApprovalMode) -> Self {
        Self { mode, ..self.clone() }
    }

    pub fn mode(&self) -> ApprovalMode {
        self.mode
    }

    /// Says what happens to a call of a tool. See the crate's documentation for the order.
    pub fn judge(&self, tool: &str, need: &Need) -> Verdict {
        match need {
            Need::Refused { why } => Verdict::Refuse { why: why.clone() },
            Need::Nothing => match self.by_rules(tool, Touched::NoFile, Action::Call) {
                Some(verdict) => verdict,
                None => Verdict::Run,
            },
            Need::Approval { why, always } => self.judge_approval(tool, why, *always),
            Need::Input { form } => self.judge_input(tool, form),
            Need::Read { paths } => self.judge_paths(tool, paths, Access::Read),
            Need::Write { paths, why } => self.judge_paths(tool, paths, Access::Write { why }),
            Need::Command(line) => self.judge_command(tool, line),
        }
    }

    /// Whether a search may read this file, given that the search itself may run. Files that a rule asks about or refuses
    /// are left out of searches, also when the rule is only for reading them one by one; and so are files that usually
    /// hold secrets. The mode does not count here: a person who allowed the search of a folder allowed its ordinary files.
    pub fn may_read(&self, path: &str) -> bool {
        let is_free = |tool: &&str| {
            matches!(self.by_rules(tool, Touched::Path(path), Action::Read), None | Some(Verdict::Run))
        };
        is_plain(path)
            && CONTENT_TOOLS.iter().all(is_free)
            && (!self.protects_secret(path)
                || CONTENT_TOOLS.iter().all(|tool| self.allows_secret(tool, path)))
    }

    fn judge_approval(&self, tool: &str, why: &str, always: bool) -> Verdict {
        let by_rules = self.by_rules(tool, Touched::NoFile, Action::Call);
        if !always && !matches!(by_rules, Some(Verdict::Refuse { .. })) {
            return Verdict::Ask { why: why.to_owned(), grant: None, sensitive: true };
        }
        by_rules.unwrap_or_else(|| match self.mode {
            ApprovalMode::Yolo => Verdict::Run,
            ApprovalMode::Ask | ApprovalMode::AutoReadOnly => {
                Verdict::Ask { why: why.to_owned(), grant: Some(CallPattern::tool(tool)), sensitive: false }
            }
        })
    }

    fn judge_input(&self, tool: &str, form: &InputForm) -> Verdict {
        match self.by_rules(tool, Touched::NoFile, Action::Call) {
            Some(refusal @ Verdict::Refuse { .. }) => refusal,
            _ => Verdict::Ask { why: reason::asks_for_input(form), grant: None, sensitive: false },
        }
    }

    fn judge_paths(&self, tool: &str, paths: &[String], access: Access<'_>) -> Verdict {
        // A call that names no path is still covered by rules for its tool.
        let touched: Vec<Touched<'_>> = match paths {
            [] => vec![Touched::NoFile],
            paths => paths.iter().map(|path| Touched::Path(path)).collect(),
        };
        let mut strictest = Verdict::Run;
        let mut mode_asks = false;
        let (mut asking, mut secret) = (Vec::new(), Vec::new());
        for touched in touched {
            match self.judge_path(tool, touched, access) {
                PathVerdict::Run => {}
                PathVerdict::ByMode => {
                    mode_asks = true;
                    asking.extend(touched.path());
                }
                PathVerdict::Secret => secret.extend(touched.path()),
                PathVerdict::Decided(verdict) => {
                    if strictness(&verdict) > strictness(&strictest) {
                        strictest = verdict;
                    }
                }
            }
        }
        if strictest != Verdict::Run || (!mode_asks && secret.is_empty()) {
            return strictest;
        }
        let (why, grant) = match (mode_asks, secret.as_slice()) {
            (_, []) => (access.why(&asking), access.grant(tool, &asking)),
            (false, [file]) => (reason::reads_secret(&secret), grant::of_file(tool, &READING_TOOLS, file)),
            _ => (reason::reads_secret(&secret), None),
        };
        Verdict::Ask { why, grant, sensitive: false }
    }

    fn judge_path(&self, tool: &str, touched: Touched<'_>, access: Access<'_>) -> PathVerdict {
        if let Some(path) = touched.path()
            && !is_plain(path)
        {
            return PathVerdict::Decided(Verdict::Refuse { why: reason::not_plain(path) });
        }
        let by_rules = self.by_rules(tool, touched, access.action());
        if let Some(refusal @ Verdict::Refuse { .. }) = by_rules {
            return PathVerdict::Decided(refusal);
        }
        if let (Access::Write { .. }, Some(path)) = (access, touched.path()) {
            match built_in::write_of(path) {
                BuiltInWrite::Refused(why) => return PathVerdict::Decided(Verdict::Refuse { why }),
                BuiltInWrite::Sensitive(why) => {
                    return PathVerdict::Decided(Verdict::Ask { why, grant: None, sensitive: true });
                }
                BuiltInWrite::Free => {}
            }
        }
        if let Some(ask @ Verdict::Ask { .. }) = by_rules {
            return PathVerdict::Decided(ask);
        }
        if let (Access::Read, Some(path)) = (access, touched.path())
            && self.protects_secret(path)
            && !self.allows_secret(tool, path)
        {
            return PathVerdict::Secret;
        }
        match by_rules {
            Some(_) => PathVerdict::Run,
            None if self.mode_asks(access) => PathVerdict::ByMode,
            None => PathVerdict::Run,
        }
    }

    fn mode_asks(&self, access: Access<'_>) -> bool {
        match (self.mode, access) {
            (ApprovalMode::Ask, _) | (ApprovalMode::AutoReadOnly, Access::Write { .. }) => true,
            (ApprovalMode::AutoReadOnly, Access::Read) | (ApprovalMode::Yolo, _) => false,
        }
    }

    /// Whether reading this file asks, unless a rule allows it, because it usually holds secrets.
    pub(crate) fn protects_secret(&self, path: &str) -> bool {
        self.mode != ApprovalMode::Yolo && built_in::is_secret(path)
    }

    /// Whether a rule allows to read this file, which usually holds secrets. Rules that allow a folder do not mean the
    /// secrets in it: a rule allows them when its path names them, like `.env`, `config/*.pem` or `.ssh/**`.
    pub(crate) fn allows_secret(&self, tool: &str, path: &str) -> bool {
        let names_secret = |rule: &Rule| {
            let glob = rule.calls.path.as_deref().and_then(plain_glob);
            rule.effect == RuleEffect::Allow
                && glob.is_some_and(|glob| built_in::is_secret(glob.strip_suffix("/**").unwrap_or(&glob)))
        };
        let covered = |layer: &Layer| layer.covering(tool, Touched::Path(path)).into_iter().any(names_secret);
        self.layers().into_iter().any(|(_, layer)| covered(layer))
    }

    /// The layers that can be changed, strongest first.
    fn layers(&self) -> [(RuleLayer, &Layer); 3] {
        [
            (RuleLayer::Session, &self.session),
            (RuleLayer::Workspace, &self.workspace),
            (RuleLayer::Server, &self.server),
        ]
    }

    /// Returns what the rules say about a call or one of its paths.
    pub(crate) fn by_rules(&self, tool: &str, touched: Touched<'_>, action: Action) -> Option<Verdict> {
        self.decide(action, |layer| layer.covering(tool, touched))
    }

    /// Returns what the covering rules say: a refusal of any layer, else the strongest layer that has a covering rule.
    pub(crate) fn decide<'a>(
        &'a self,
        action: Action,
        covering: impl Fn(&'a Layer) -> Vec<&'a Rule>,
    ) -> Option<Verdict> {
        let mut decided = None;
        for (layer, rules) in self.layers() {
            let covering = covering(rules);
            let with = |effect: RuleEffect| covering.iter().find(|rule| rule.effect == effect);
            if let Some(rule) = with(RuleEffect::Refuse) {
                return Some(Verdict::Refuse { why: reason::of_rule(layer, rule, action) });
            }
            if decided.is_some() {
                continue;
            }
            if let Some(rule) = with(RuleEffect::Ask) {
                let why = reason::of_rule(layer, rule, action);
                // Whoever wrote the rule wants to be asked. To stop that, they revoke it.
                decided = Some(Verdict::Ask { why, grant: None, sensitive: false });
            } else if with(RuleEffect::Allow).is_some() {
                decided = Some(Verdict::Run);
            }
        }
        decided
    }
}

/// What a call does with its paths.
#[derive(Clone, Copy)]
enum Access<'a> {
    Read,
    Write { why: &'a str },
}

/// What a rule is about, for the sentence that names it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Call,
    Read,
    Write,
}

impl Access<'_> {
    fn action(self) -> Action {
        match self {
            Self::Read => Action::Read,
            Self::Write { .. } => Action::Write,
        }
    }

    fn why(self, paths: &[&str]) -> String {
        match self {
            Self::Read => reason::reads(paths),
            Self::Write { why } => why.to_owned(),
        }
    }

    fn grant(self, tool: &str, paths: &[&str]) -> Option<CallPattern> {
        match self {
            Self::Write { .. } => grant::of_folder(tool, &WRITING_TOOLS, paths),
            Self::Read => match paths {
                [folder] if FOLDER_TOOLS.contains(&tool) => grant::of_searched_folder(tool, folder),
                _ => grant::of_folder(tool, &READING_TOOLS, paths),
            },
        }
    }
}

/// The verdict on one path of a call.
enum PathVerdict {
    Run,
    /// No rule covers it, and the mode asks.
    ByMode,
    /// It is read and usually holds secrets.
    Secret,
    Decided(Verdict),
}

fn strictness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Run => 0,
        Verdict::Ask { sensitive: false, .. } => 1,
        Verdict::Ask { sensitive: true, .. } => 2,
        Verdict::Refuse { .. } => 3,
    }
}

/// Whether a path is relative and in its plain form. The file access layer returns no others.
fn is_plain(path: &str) -> bool {
    path.is_empty() || path.split('/').all(|component| !matches!(component, "" | "." | ".."))
}
