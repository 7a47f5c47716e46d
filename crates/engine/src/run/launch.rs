//! Starts and resumes runs for the owners of sessions: implements [`Runner`].

use std::sync::Arc;

use async_trait::async_trait;
use models::{ChoiceError, Model};
use protocol::{
    AgentKind, ApprovalMode, MessageFacts, Rule, RunOptions, Seq, SessionEvent,
    project::chat::{Reading, View},
};
use store::{RecoveryStage, RunRecord, RunStatus, SessionRecord};
use tokio::sync::mpsc;
use tools::{Tool as _, project_notes, read_file::ReadFile};

use super::{
    agent_inbox::AgentInbox,
    agent_log::AgentLog,
    agent_loop::{
        driver::AgentWork,
        lifecycle::{self, Branch},
        turn::Turn,
    },
    context::{AgentContext, AgentSetup, RunScope},
    delegation::{
        position::Position,
        tree::{AgentTree, RELAYED},
        work_permit::WorkPermit,
    },
    end::{self, corrupt},
    frame::Frame,
    model_call::title,
    restore::{self, RestoredRun},
    tool_calls::{
        plan::{self, Cause},
        verdict::Judge,
    },
};
use crate::{
    EngineError,
    agents::{AgentDefinition, tool_set::ToolScope},
    context::{cache::History, command::Command, preface, prompt},
    files::{blocking, call_files::RunFiles, workspaces::Workspace},
    log::writer::LogWriter,
    mailbox::answer::GivenGrant,
    model_choice::{UnavailableModel, choose_model},
    services::Services,
    session::{
        chat_surface::ChatSurface,
        live_run::LiveRun,
        log_end::{LogEnd, is_young},
        recover::note_stage,
        registry::SessionHandle,
        rules::SessionRules,
        runner::{Ending, FailedStart, NewRun, Resume, Runner, StartedRun},
        viewer::Viewer,
    },
    session_name::SessionName,
};

pub(crate) struct AgentRunner {
    services: Arc<Services>,
}

/// What a run begins with.
struct Beginning {
    rules: Arc<SessionRules>,
    /// Where its files are.
    workspace: Arc<Workspace>,
    /// The branch before it, if it is known without reading it.
    history: Option<History>,
    may_need_title: bool,
    /// The event after which it begins.
    began: Seq,
}

impl AgentRunner {
    pub(crate) fn new(services: Arc<Services>) -> Self {
        Self { services }
    }
}

#[async_trait]
impl Runner for AgentRunner {
    async fn start(&self, session: &SessionName, new: NewRun) -> Result<StartedRun, EngineError> {
        let NewRun { end, mut events, answers, options, agent, model, history, command } = new;
        let services = &self.services;
        let log = end.open(services);
        let began = log.last();
        let mut writer = LogWriter::new(Arc::clone(&log), Arc::clone(&services.tasks.flusher));
        let beginning = self.beginning(session, end.rules, options.yolo).await?;
        let notes = self.project_notes(session, &agent, &beginning);
        let preface = preface::of_run(end.preface.as_ref(), &agent, &options, notes).await;
        // A command is not a turn of an agent.
        if preface.is_new && command.is_none() {
            let (agent, text) = (agent.name.clone(), preface.text.clone());
            events.push(SessionEvent::PrefaceWritten { agent, text });
        }
        let setup = self.set_up(session, agent, model, &options, &preface.text).await?;
        let run = RunRecord {
            id: services.ids.run(),
            message: services.ids.message(),
            answers,
            status: RunStatus::Running,
            first_seq: began + events.len() as Seq + 1,
            last_resume: 0,
            options,
        };
        let mut frame = Frame::new(run.message.clone());
        let mut facts = self.start_facts(&setup);
        facts.command = command.as_ref().map(Command::fact);
        frame.open(facts, None).map_err(corrupt)?;
        let may_need_title = end.is_young && command.is_none();
        events.push(SessionEvent::RunStarted {
            run: run.id.clone(),
            answers: run.answers.clone(),
            message: run.message.clone(),
            options: Box::new(run.options.clone()),
        });
        events.extend(frame.take());
        let reading = Reading { view: View::WholeMessage, last_resume: 0, edge: began };
        let viewer = Viewer::new(log, ChatSurface::of(services), began, run.message.clone(), reading)
            .of_run(began)
            .lane(run.options.sub_agent_stream);
        // The model serialises a long history while it is being stored.
        let messages = history.as_ref().map_or_else(Default::default, |history| history.messages());
        let (stored, ()) =
            tokio::join!(writer.append_beginning(events, Vec::new()), setup.model.prepare(messages));
        stored?;
        let turn = Turn::new(setup.definition.max_steps);
        let restored = RestoredRun::new(frame);
        let beginning = Beginning { history, may_need_title, began, ..beginning };
        Ok(StartedRun { live: self.spawn(session, run, setup, writer, restored, turn, beginning), viewer })
    }

    async fn resume(
        &self,
        session: &SessionName,
        record: &SessionRecord,
        mut run: RunRecord,
        how: Resume,
    ) -> Result<Option<StartedRun>, EngineError> {
        let services = &self.services;
        let mut restored = self.restore(record, &run, &how).await?;
        let cause = if matches!(how, Resume::Recover(_)) { Cause::Crash } else { Cause::Person };
        restored.sub_agents.iter_mut().for_each(|sub_agent| sub_agent.cause = cause);
        let beginning = self.beginning(session, record.rules.clone(), run.options.yolo).await?;
        let setup = self.set_up_again(session, record, &run.options, &beginning).await?;
        let how = match how {
            Resume::Answer { decisions, mut outputs } => {
                restored.retain_expected(&mut outputs, &setup.tools);
                if decisions.is_empty() && outputs.is_empty() {
                    return Ok(None);
                }
                Resume::Answer { decisions, outputs }
            }
            how => how,
        };
        let given = given_grants(&how);
        restored.unshown.show(&mut restored.frame, &*services.ids).map_err(corrupt)?;
        apply(&mut restored, how).map_err(corrupt)?;
        let mut events = Vec::new();
        for sub_agent in &mut restored.sub_agents {
            if !sub_agent.frame.is_closed() {
                sub_agent.frame.resume(run.id.clone()).map_err(corrupt)?;
            }
            events.extend(sub_agent.frame.take());
        }
        restored.frame.resume(run.id.clone()).map_err(corrupt)?;
        events.extend(restored.frame.take());
        let log = LogEnd::from(record).open(services);
        let began = log.last();
        let mut writer = LogWriter::new(Arc::clone(&log), Arc::clone(&services.tasks.flusher));
        if cause == Cause::Person {
            run.last_resume = began + events.len() as Seq;
        }
        run.status = RunStatus::Running;
        let reading = Reading { view: View::Continuation, last_resume: run.last_resume, edge: began };
        let (surface, first) = (ChatSurface::of(services), run.last_resume.saturating_sub(1));
        let mut viewer = Viewer::new(log, surface, first, run.message.clone(), reading)
            .of_run(began)
            .lane(run.options.sub_agent_stream);
        if !restored.sub_agents.is_empty() {
            viewer = viewer.beginning(run.first_seq);
        }
        writer.append_beginning(events, std::mem::take(&mut restored.closed)).await?;
        let beginning = Beginning { may_need_title: is_young(record), began, ..beginning };
        // The log has them by now.
        for grant in given {
            beginning.rules.give(grant).await?;
        }
        let files = &beginning.workspace.domain;
        let judge = Judge { tools: &setup.tools, rules: &beginning.rules, files };
        let calls = plan::plan(&restored.frame, judge, cause);
        let turn = Turn::resume(setup.definition.max_steps, restored.frame.steps(), calls);
        let live = self.spawn(session, run, setup, writer, restored, turn, beginning);
        Ok(Some(StartedRun { live, viewer }))
    }

    async fn end(&self, record: &SessionRecord, run: &RunRecord, ending: Ending) -> Result<(), EngineError> {
        end::end(&self.services, record, run, ending).await
    }

    async fn fail_to_start(&self, record: &SessionRecord, failed: FailedStart) -> Result<(), EngineError> {
        end::fail_to_start(&self.services, record, failed).await
    }

    fn write_title(&self, session: SessionHandle) {
        title::write_in_background(&self.services, session);
    }
}

/// What a person allowed with their answers.
fn given_grants(how: &Resume) -> Vec<GivenGrant> {
    match how {
        Resume::Answer { decisions, .. } => {
            decisions.iter().filter_map(|answered| answered.decision.grant.clone()).collect()
        }
        Resume::Continue | Resume::Recover(_) | Resume::StopSubAgent(_) => Vec::new(),
    }
}

/// Writes what a person did to a parked run into its frames.
fn apply(restored: &mut RestoredRun, how: Resume) -> Result<(), protocol::FoldError> {
    match how {
        Resume::Continue | Resume::Recover(_) => Ok(()),
        Resume::Answer { decisions, outputs } => {
            for answered in &decisions {
                restored.answer(answered)?;
            }
            restored.settle_outputs(outputs)
        }
        Resume::StopSubAgent(message) => restored.stop_sub_agent(&message),
    }
}

impl AgentRunner {
    /// Folds the log of a run. After crashes the stages are stored, so that the next crash is attributed to one.
    async fn restore(
        &self,
        record: &SessionRecord,
        run: &RunRecord,
        how: &Resume,
    ) -> Result<RestoredRun, EngineError> {
        let services = &self.services;
        let Resume::Recover(attempt) = how else {
            return Ok(restore::restore(&services.store, record.key, run).await?);
        };
        note_stage(services, record.key, &run.message, *attempt, RecoveryStage::Folding).await?;
        let restored = restore::restore(&services.store, record.key, run).await?;
        note_stage(services, record.key, &run.message, *attempt, RecoveryStage::Active).await?;
        Ok(restored)
    }

    /// The rules and the files of a run of this session.
    async fn beginning(
        &self,
        session: &SessionName,
        rules: Vec<Rule>,
        yolo: bool,
    ) -> Result<Beginning, EngineError> {
        let services = &self.services;
        let rules = SessionRules::new(&services.tools.rules, &session.workspace, rules).await?;
        Ok(Beginning {
            rules: Arc::new(if yolo { rules.in_mode(ApprovalMode::Yolo) } else { rules }),
            workspace: services.tools.files.get(&session.workspace).await?,
            history: None,
            may_need_title: false,
            began: 0,
        })
    }

    /// The notes of the work directory, for an agent that works with files, where no rule keeps them from being read.
    async fn project_notes(
        &self,
        session: &SessionName,
        agent: &AgentDefinition,
        beginning: &Beginning,
    ) -> Option<String> {
        let tools = self.services.agents.registry.tools_of(&session.workspace, agent);
        let reads = tools.iter().any(|tool| tool == ReadFile::NAME);
        if !reads || !beginning.rules.in_force().may_read(project_notes::FILE) {
            return None;
        }
        let workspace = Arc::clone(&beginning.workspace);
        blocking(move || Ok(project_notes::of_root(&workspace.domain))).await.ok()?
    }

    async fn set_up(
        &self,
        session: &SessionName,
        agent: Arc<AgentDefinition>,
        model: Arc<dyn Model>,
        options: &RunOptions,
        preface: &str,
    ) -> Result<AgentSetup, EngineError> {
        let agents = &self.services.agents;
        let scope = ToolScope::of(&session.workspace, options);
        let tools = agents.tool_sets.of(&agent, scope, &agents.registry, &self.services.tools.registry);
        let threads = &agents.template_threads;
        let system =
            prompt::system(&agent, &tools, &session.workspace, options, None, preface, threads).await;
        let system_prompt = self.services.caches.texts.share(system.map_err(EngineError::InvalidMessage)?);
        let project_notes = preface::project_notes(preface).into();
        Ok(AgentSetup { definition: agent, model, tools, system_prompt, project_notes })
    }

    /// Sets up the agent of a run that is resumed. If the agent is gone or can no longer be used, the run ends with that
    /// reason instead of staying unfinished for ever.
    async fn set_up_again(
        &self,
        session: &SessionName,
        record: &SessionRecord,
        options: &RunOptions,
        beginning: &Beginning,
    ) -> Result<AgentSetup, EngineError> {
        let found = match self.services.agents.main(&session.workspace, options) {
            Ok(agent) => {
                let notes = self.project_notes(session, &agent, beginning);
                let preface = preface::of_run(record.preface.as_ref(), &agent, options, notes).await;
                let model = choose_model(&self.services.catalog, session, options, &agent)
                    .unwrap_or_else(|error| Arc::new(UnavailableModel(error)));
                self.set_up(session, agent, model, options, &preface.text).await
            }
            Err(error) => Err(error),
        };
        match found {
            Ok(setup) => Ok(setup),
            Err(error) => {
                let name = options.agent_id.as_deref().unwrap_or("general");
                let agent = Arc::new(AgentDefinition::bare(AgentKind::Main, name, "You are gone."));
                let model = Arc::new(UnavailableModel(ChoiceError::Unknown(error.to_string())));
                self.set_up(session, agent, model, options, "").await
            }
        }
    }

    fn start_facts(&self, setup: &AgentSetup) -> MessageFacts {
        let agent = &setup.definition;
        MessageFacts {
            agent: Some(protocol::AgentRef::main(&agent.name, &agent.display_name)),
            agent_name: Some(agent.name.clone()),
            model: Some(setup.model.name().to_owned()),
            created_at: Some(self.services.clock.now()),
            ..MessageFacts::default()
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a run, put together in one place")]
    fn spawn(
        &self,
        session: &SessionName,
        record: RunRecord,
        setup: AgentSetup,
        writer: LogWriter,
        restored: RestoredRun,
        turn: Turn,
        beginning: Beginning,
    ) -> LiveRun {
        let services = &self.services;
        let RestoredRun { frame, sub_agents, hub, .. } = restored;
        let Beginning { rules, workspace, history, may_need_title, began } = beginning;
        let (store, ids) = (Arc::clone(&services.store), Arc::clone(&services.ids));
        let tracker = services.tasks.tracker.clone();
        let files = Arc::new(RunFiles::new(workspace, store, ids, writer.log().key(), tracker));
        let (relay, relayed) = mpsc::channel(RELAYED);
        let limits = services.settings.sub_agents;
        let tree = AgentTree::new(record.message.clone(), limits, Arc::clone(&rules), hub, relay);
        tree.hub.set_auto_broadcast(setup.definition.auto_broadcast);
        tree.restore(sub_agents);
        let cancel = services.tasks.runs.child_token();
        let rejected = Arc::default();
        let context = AgentContext {
            services: Arc::clone(services),
            run: Arc::new(RunScope {
                id: record.id.clone(),
                workspace: session.workspace.clone(),
                chat: session.session.clone(),
                options: record.options.clone(),
                rejected: Arc::clone(&rejected),
                files,
            }),
            position: Arc::new(Position::of_main_agent(&setup.definition, record.message.clone())),
            agent: setup,
            history: Arc::default(),
            cancel: cancel.clone(),
            tree: Arc::clone(&tree),
        };
        let (log, over) = (Arc::clone(writer.log()), writer.run_over());
        let inbox = AgentInbox::of_main_agent(relayed);
        let answers = inbox.sender().clone();
        let permit = WorkPermit::of_main_agent(&tree, tree.activity.begin());
        let branch = Branch { answers: record.answers.clone(), history };
        let work = AgentWork { context, log: AgentLog::of_main_agent(writer), frame, turn, inbox, permit };
        let task = services.tasks.tracker.spawn(lifecycle::run(work, branch));
        LiveRun {
            record,
            log,
            began,
            rejected,
            over,
            surface: ChatSurface::of(services),
            cancel,
            answers,
            agents: Arc::clone(&tree.agents),
            rules,
            may_need_title: may_need_title && services.settings.auto_title,
            task,
        }
    }
}
