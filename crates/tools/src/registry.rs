//! The list of all tools, built once at the start. Groups, modes and agents select from it.
//!
//! Names are unique and in a fixed order, so that the tools of a model request are always the same bytes.

use std::{collections::HashMap, sync::Arc};

use commands::CommandTable;
use protocol::{ToolRisk, ToolSpec};
use serde_json::Value;

use crate::{
    AnyTool, Effect, Executor, InputError, PreparedCall,
    apply_patch::ApplyPatch,
    bench, conformance, delegation,
    edit_file::EditFile,
    exec_command::ExecCommand,
    glob_files::GlobFiles,
    grep_files::GrepFiles,
    list_dir::ListDir,
    read_file::ReadFile,
    request_user_input::RequestUserInput,
    shell::Shell,
    shell_command::ShellCommand,
    test_approval::TestApproval,
    time_now::TimeNow,
    typed::{Family, erase},
    update_plan::UpdatePlan,
    write_file::WriteFile,
    write_stdin::WriteStdin,
};

/// The longest name that all model providers accept.
const LONGEST_NAME: usize = 64;

#[derive(Default)]
pub struct Registry {
    tools: Vec<Arc<dyn AnyTool>>,
    indexes: HashMap<String, usize>,
}

impl Registry {
    /// The default tools and those of the enabled groups.
    pub fn builtin(enable: &[Group]) -> Result<Self, RegistryError> {
        Self::with_commands(enable, &Arc::new(CommandTable::built_in().clone()))
    }

    /// The same, with another table of what commands do.
    pub fn with_commands(enable: &[Group], table: &Arc<CommandTable>) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        registry.register(erase(TimeNow, Family::Host))?;
        registry.register(erase(UpdatePlan, Family::Host))?;
        registry.register(erase(ReadFile, Family::Host))?;
        registry.register(erase(ListDir, Family::Host))?;
        registry.register(erase(GrepFiles, Family::Host))?;
        registry.register(erase(GlobFiles, Family::Host))?;
        registry.register(erase(WriteFile, Family::Host))?;
        registry.register(erase(EditFile, Family::Host))?;
        registry.register(erase(ApplyPatch, Family::Host))?;
        registry.register(erase(Shell::new(table), Family::Host))?;
        registry.register(erase(ShellCommand::new(table), Family::Host))?;
        registry.register(erase(ExecCommand { table: Arc::clone(table) }, Family::Host))?;
        registry.register(erase(WriteStdin, Family::Host))?;
        registry.register(erase(RequestUserInput, Family::Host))?;
        registry.register(erase(TestApproval, Family::Host))?;
        for tool in delegation::tools() {
            registry.register(tool)?;
        }
        for group in Group::ALL.into_iter().filter(|group| enable.contains(group)) {
            for tool in group.tools() {
                registry.register(tool)?;
            }
        }
        Ok(registry)
    }

    /// Adds a tool. A name that is taken is refused.
    pub fn register(&mut self, tool: Arc<dyn AnyTool>) -> Result<(), RegistryError> {
        self.register_or(tool, NameTaken::Refuse)
    }

    /// Adds a tool, and says what happens when its name is taken.
    pub fn register_or(&mut self, tool: Arc<dyn AnyTool>, taken: NameTaken) -> Result<(), RegistryError> {
        let ToolSpec { name, description, .. } = tool.spec();
        if !is_name(name) {
            return Err(RegistryError::BadName(name.clone()));
        }
        if description.trim().is_empty() {
            return Err(RegistryError::NoDescription(name.clone()));
        }
        if let Some(index) = self.indexes.get(name).copied() {
            match taken {
                NameTaken::Refuse => return Err(RegistryError::Duplicate(name.clone())),
                NameTaken::Skip => {}
                NameTaken::Replace => {
                    if let Some(place) = self.tools.get_mut(index) {
                        *place = tool;
                    }
                }
                NameTaken::Rename(name) => {
                    let spec = ToolSpec { name, ..tool.spec().clone() };
                    return self.register(Arc::new(Renamed { tool, spec }));
                }
            }
            return Ok(());
        }
        self.indexes.insert(name.clone(), self.tools.len());
        self.tools.push(tool);
        Ok(())
    }

    /// All tools, in the order of registration.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn AnyTool>> {
        self.tools.iter()
    }

    pub fn get(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        self.indexes.get(name).and_then(|index| self.tools.get(*index)).cloned()
    }

    /// The specs of these tools, in the order of `names`.
    pub fn specs<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Vec<ToolSpec>, RegistryError> {
        let spec_of = |name: N| match self.get(name.as_ref()) {
            Some(tool) => Ok(tool.spec().clone()),
            None => Err(RegistryError::Unknown(name.as_ref().to_owned())),
        };
        names.into_iter().map(spec_of).collect()
    }

    /// All names, in the order of registration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.spec().name.as_str())
    }
}

/// What happens to a tool whose name another one has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameTaken {
    Refuse,
    /// The first one stays, the new one is left out.
    Skip,
    /// The new one takes the place of the first.
    Replace,
    /// The new one gets this name, which must be free.
    Rename(String),
}

/// A tool under another name.
struct Renamed {
    tool: Arc<dyn AnyTool>,
    spec: ToolSpec,
}

impl AnyTool for Renamed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn executor(&self) -> Executor {
        self.tool.executor()
    }

    fn effect(&self) -> Effect {
        self.tool.effect()
    }

    fn risk(&self) -> ToolRisk {
        self.tool.risk()
    }

    fn one_at_a_time(&self) -> bool {
        self.tool.one_at_a_time()
    }

    fn family(&self) -> Family {
        self.tool.family()
    }

    fn prepare(self: Arc<Self>, input: &Value) -> Result<Box<dyn PreparedCall>, InputError> {
        Arc::clone(&self.tool).prepare(input)
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(allowed)
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    #[error("there are two tools named `{0}`; names must be unique")]
    Duplicate(String),
    #[error("`{0}` is not a valid tool name: use 1 to {LONGEST_NAME} ASCII letters, digits, `-` and `_`")]
    BadName(String),
    #[error("tool `{0}` has no description: write a doc comment on its input")]
    NoDescription(String),
    #[error("there is no tool named `{0}`")]
    Unknown(String),
}

/// Tools that are disabled by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The tools of the conformance suite.
    Conformance,
    /// The tools of the load generator.
    Bench,
}

impl Group {
    pub const ALL: [Self; 2] = [Self::Conformance, Self::Bench];

    pub fn name(self) -> &'static str {
        match self {
            Self::Conformance => "conformance",
            Self::Bench => "bench",
        }
    }

    /// Reads a comma-separated list; empty entries and repetitions are ignored.
    pub fn parse_list(list: &str) -> Result<Vec<Self>, GroupError> {
        let mut groups = Vec::new();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let group = Self::ALL.into_iter().find(|group| group.name() == name);
            let group = group.ok_or_else(|| GroupError(name.to_owned()))?;
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        Ok(groups)
    }

    fn tools(self) -> Vec<Arc<dyn AnyTool>> {
        match self {
            Self::Conformance => conformance::tools(),
            Self::Bench => bench::tools(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool group named `{0}`; the groups are {names}", names = Group::ALL.map(Group::name).join(", "))]
pub struct GroupError(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    fn names(groups: &[Group]) -> Vec<String> {
        Registry::builtin(groups).unwrap().names().map(str::to_owned).collect()
    }

    #[test]
    fn opt_in_groups_come_after_the_default_tools() {
        assert_eq!(names(&[])[..3], ["time-now", "update-plan", "read-file"]);
        let all = names(&[Group::Bench, Group::Conformance, Group::Bench]);
        assert_eq!(
            all.strip_prefix(names(&[]).as_slice()).unwrap(),
            ["conf_echo", "conf_fail", "conf_approve", "conf_client", "conf_delegate", "echo", "delegate"]
        );
    }

    #[test]
    fn a_second_tool_of_the_same_name_is_refused() {
        let mut registry = Registry::builtin(&[]).unwrap();
        let before = registry.names().count();
        let refused = registry.register(erase(TimeNow, Family::Host));
        assert_eq!(refused, Err(RegistryError::Duplicate("time-now".to_owned())));
        assert_eq!(registry.names().count(), before);
    }

    #[test]
    fn a_taken_name_is_skipped_replaced_or_changed_when_asked() {
        let mut registry = Registry::builtin(&[]).unwrap();
        let before: Vec<String> = registry.names().map(str::to_owned).collect();
        /// Another clock.
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        struct Other {}
        let other = || crate::client_side::<Other>("time-now", Family::Host);
        registry.register_or(other(), NameTaken::Skip).unwrap();
        assert_ne!(registry.get("time-now").unwrap().spec().description, "Another clock.");
        registry.register_or(other(), NameTaken::Rename("time-now-2".to_owned())).unwrap();
        assert_eq!(registry.get("time-now-2").unwrap().spec().description, "Another clock.");
        let taken = registry.register_or(other(), NameTaken::Rename("update-plan".to_owned()));
        assert_eq!(taken, Err(RegistryError::Duplicate("update-plan".to_owned())));
        registry.register_or(other(), NameTaken::Replace).unwrap();
        assert_eq!(registry.get("time-now").unwrap().spec().description, "Another clock.");
        let names: Vec<&str> = registry.names().collect();
        assert_eq!(names[..before.len()], before, "the order stays");
    }

    #[test]
    fn names_that_a_provider_would_refuse_and_silent_tools_do_not_get_in() {
        /// Says something.
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        struct Described {}
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        struct Silent {}

        let mut registry = Registry::default();
        for name in ["", "two words", "zeit-für", &"x".repeat(65)] {
            let refused = registry.register(crate::client_side::<Described>(name, Family::Host));
            assert_eq!(refused, Err(RegistryError::BadName(name.to_owned())));
        }
        let refused = registry.register(crate::client_side::<Silent>("silent", Family::Host));
        assert_eq!(refused, Err(RegistryError::NoDescription("silent".to_owned())));
    }

    #[test]
    fn specs_come_in_the_order_asked_for_and_unknown_names_are_told() {
        let registry = Registry::builtin(&[]).unwrap();
        let specs = registry.specs(["update-plan", "time-now"]).unwrap();
        assert_eq!(
            specs.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(),
            ["update-plan", "time-now"]
        );
        assert_eq!(registry.specs(["nope"]), Err(RegistryError::Unknown("nope".to_owned())));
        assert!(registry.get("nope").is_none());
    }

    #[test]
    fn a_group_list_is_read_and_a_wrong_name_is_answered_with_the_right_ones() {
        assert_eq!(
            Group::parse_list(" bench, conformance,bench,"),
            Ok(vec![Group::Bench, Group::Conformance])
        );
        assert_eq!(Group::parse_list(""), Ok(vec![]));
        assert_eq!(
            Group::parse_list("conformance,benhc").unwrap_err().to_string(),
            "there is no tool group named `benhc`; the groups are conformance, bench"
        );
    }
}
