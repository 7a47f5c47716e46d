//! How runs begin, go on, and are withdrawn while they wait. The actor decides when.

use std::sync::Arc;

use models::{ChoiceError, Model, Written};
use protocol::{
    AgentKind, FinishReason, FrameEnd, Grant, MessageFacts, MessageRef, RunEnd, RunOptions, Seq,
    SessionEvent,
    project::chat::{Reading, View},
};
use store::{PrefaceRecord, RunRecord, RunStatus, SessionRecord, SessionTarget};
use tokio::sync::mpsc;

use super::{
    actor::{Actor, Live, order},
    log::{LogWriter, SessionLog},
    recover,
    subscribe::Viewer,
};
use crate::{
    EngineError,
    agents::{
        AgentDefinition,
        kit::{Kit, Scene},
    },
    context::{cache::History, command::Command, conversation::Conversation, preface, prompt},
    run::{
        call_model::LONG,
        choose_model::{Gone, choose_model},
        drive::RunCtx,
        frame::Frame,
        grants::Grants,
        lifecycle::{self, Branch},
        mail::Mail,
        post::Post,
        resume::{self, Rebuilt, Why},
        tree::{RAISED, Revived, Tree},
        turn::Turn,
    },
};

/// How many answers may wait for a run to write them down.
const ANSWERS: usize = 16;

/// Where a session's log goes on.
pub(super) struct LogEnd {
    target: SessionTarget,
    high_water: Seq,
    preface: Option<PrefaceRecord>,
    /// The model that the session goes on with, and where from.
    chat_model: Option<(String, Option<String>)>,
    grants: Vec<Grant>,
    /// What a model reads up to here, where that is known without reading it.
    history: Option<Conversation>,
    /// Whether it may be without a title.
    is_young: bool,
}

/// The agent of a run, and what its system prompt says in this session.
struct Voice {
    agent: Arc<AgentDefinition>,
    kit: Arc<Kit>,
    system: Arc<str>,
    model: Arc<dyn Model>,
}

/// What a run goes on from, where that is known without reading it, and what was written down of it already.
#[derive(Default)]
struct Known {
    history: Option<History>,
    written: Option<Arc<Written>>,
    /// The session may have no answer yet.
    is_first: bool,
}

/// A session with so many messages may be without a title because its first answers failed.
const YOUNG: u64 = 4;

fn is_young(record: &SessionRecord) -> bool {
    !record.is_titled && record.message_count <= YOUNG
}

/// Writes a long history down for the model, on a thread of its own.
async fn write_ahead(model: &Arc<dyn Model>, history: Option<&History>) -> Option<Arc<Written>> {
    let history = history.filter(|history| history.messages().len() >= LONG)?;
    let (model, history) = (Arc::clone(model), Arc::clone(history));
    tokio::task::spawn_blocking(move || model.write_ahead(history.messages())).await.ok()?.map(Arc::new)
}

impl From<&SessionRecord> for LogEnd {
    fn from(record: &SessionRecord) -> Self {
        Self {
            target: SessionTarget::Known(record.key),
            high_water: record.high_water,
            preface: record.preface.clone(),
            chat_model: record.chat_model_id.clone().map(|id| (id, record.chat_model_source.clone())),
            grants: record.grants.clone(),
            history: None,
            is_young: is_young(record),
        }
    }
}

impl Actor {
    /// The end of the log of a session that does not exist yet, but for what the client brought along.
    pub(super) fn no_log(&self, history: Conversation) -> LogEnd {
        let (workspace, id) = self.name.clone();
        let target = SessionTarget::New { workspace, id };
        LogEnd {
            target,
            high_water: 0,
            preface: None,
            chat_model: None,
            grants: Vec::new(),
            history: Some(history),
            is_young: true,
        }
    }

    pub(super) fn open_log(&self, end: &LogEnd) -> Arc<SessionLog> {
        SessionLog::new(
            Arc::clone(&self.parts.store),
            Arc::clone(&self.parts.clock),
            self.parts.settings.profile,
            end.target.clone(),
            end.high_water,
        )
    }

    /// Records what led to the run and the run itself in one go, and starts it.
    pub(super) async fn start(
        &mut self,
        mut end: LogEnd,
        events: Vec<SessionEvent>,
        answers: MessageRef,
        mut options: RunOptions,
        agent: Arc<AgentDefinition>,
        command: Option<Command>,
    ) -> Result<Viewer, EngineError> {
        if options.chat_model_id.is_none()
            && let Some((id, source)) = &end.chat_model
        {
            options.chat_model_id = Some(id.clone());
            options.chat_model_source = source.clone();
        }
        let model = choose_model(&self.parts.catalog, &self.name, &options, &agent)?;
        let (mut events, history) = self.admit(events, end.history.take(), &*model).await?;
        let high_water = end.high_water;
        let log = self.open_log(&end);
        let mut writer = LogWriter::new(Arc::clone(&log), Arc::clone(&self.parts.flusher));
        let preface = preface::of_run(end.preface.as_ref(), &agent, &options);
        // A command is no turn of an agent.
        if preface.is_new && command.is_none() {
            let (agent, text) = (agent.name.clone(), preface.text.clone());
            events.push(SessionEvent::PrefaceWritten { agent, text });
        }
        let voice = self.voice(agent, model, &options, &preface.text).await?;
        let run = RunRecord {
            id: self.parts.ids.run(),
            message: self.parts.ids.message(),
            answers,
            status: RunStatus::Running,
            first_seq: high_water + events.len() as Seq + 1,
            last_resume: 0,
            options,
        };
        let mut frame = Frame::new(run.message.clone());
        let mut facts = self.start_facts(&voice.agent, &*voice.model);
        facts.command = command.as_ref().map(Command::fact);
        frame.open(facts, None).map_err(order)?;
        let is_first = end.is_young && command.is_none();
        events.push(SessionEvent::RunStarted {
            run: run.id.clone(),
            answers: run.answers.clone(),
            message: run.message.clone(),
            options: Box::new(run.options.clone()),
        });
        events.extend(frame.take());
        let reading = Reading { view: View::WholeMessage, last_resume: 0, edge: high_water };
        let viewer =
            Viewer::new(log, high_water, run.message.clone(), reading).lane(run.options.sub_agent_stream);
        // In this order: the history is on its way to the disk while it is written down for the model.
        let (stored, written) =
            tokio::join!(writer.append(events, Vec::new()), write_ahead(&voice.model, history.as_ref()));
        stored?;
        let turn = Turn::new(voice.agent.max_steps);
        let rebuilt = Rebuilt { grants: end.grants.clone(), ..Rebuilt::fresh(frame) };
        self.spawn(run, voice, writer, rebuilt, turn, Known { history, written, is_first });
        Ok(viewer)
    }

    /// The agent that a request is for; it must be usable where the request comes from.
    pub(super) fn main_agent(&self, options: &RunOptions) -> Result<Arc<AgentDefinition>, EngineError> {
        let agent = self.parts.agents.main(&self.name.0, options.agent_id.as_deref());
        let agent = agent.map_err(|error| EngineError::InvalidMessage(error.to_string()))?;
        if agent.fits(options.mode.as_deref(), options.page_id.as_deref()) {
            Ok(agent)
        } else {
            Err(EngineError::InvalidMessage(format!(
                "The agent \"{}\" cannot be used in this mode or on this page.",
                agent.name
            )))
        }
    }

    async fn voice(
        &self,
        agent: Arc<AgentDefinition>,
        model: Arc<dyn Model>,
        options: &RunOptions,
        preface: &str,
    ) -> Result<Voice, EngineError> {
        let workspace = &self.name.0;
        let kit = self.parts.kits.of(&self.parts, &agent, Scene::of(workspace, options));
        let threads = &self.parts.template_threads;
        let system = prompt::system(&agent, &kit, workspace, options, None, preface, threads).await;
        let system = self.parts.texts.share(system.map_err(EngineError::InvalidMessage)?);
        Ok(Voice { agent, kit, system, model })
    }

    /// The agent of a run that goes on. One that is gone, or cannot be used any more, ends the run with the reason
    /// instead of leaving it for ever.
    async fn voice_again(&self, record: &SessionRecord, options: &RunOptions) -> Result<Voice, EngineError> {
        let found = match self.main_agent(options) {
            Ok(agent) => {
                let preface = preface::of_run(record.preface.as_ref(), &agent, options);
                let model = choose_model(&self.parts.catalog, &self.name, options, &agent)
                    .unwrap_or_else(|error| Arc::new(Gone(error)));
                self.voice(agent, model, options, &preface.text).await
            }
            Err(error) => Err(error),
        };
        match found {
            Ok(voice) => Ok(voice),
            Err(error) => {
                let name = options.agent_id.as_deref().unwrap_or("general");
                let agent = Arc::new(AgentDefinition::bare(AgentKind::Main, name, "You are gone."));
                let model = Arc::new(Gone(ChoiceError::Unknown(error.to_string())));
                self.voice(agent, model, options, "").await
            }
        }
    }

    fn start_facts(&self, agent: &AgentDefinition, model: &dyn Model) -> MessageFacts {
        MessageFacts {
            agent: Some(protocol::AgentRef::main(&agent.name, &agent.display_name)),
            agent_name: Some(agent.name.clone()),
            model: Some(model.name().to_owned()),
            created_at: Some(self.parts.clock.now()),
            ..MessageFacts::default()
        }
    }

    fn spawn(
        &mut self,
        run: RunRecord,
        voice: Voice,
        writer: LogWriter,
        rebuilt: Rebuilt,
        turn: Turn,
        known: Known,
    ) {
        let Rebuilt { frame, below, grants, hub, .. } = rebuilt;
        let (raised, raising) = mpsc::channel(RAISED);
        let limits = self.parts.settings.sub_agents;
        let tree = Tree::new(run.message.clone(), limits, Grants::new(grants), hub, raised);
        tree.hub.set_auto_broadcast(voice.agent.auto_broadcast);
        tree.revive(below);
        let cancel = self.parts.runs.child_token();
        let ctx = RunCtx {
            parts: Arc::clone(&self.parts),
            workspace: self.name.0.clone(),
            run: run.id.clone(),
            post: Arc::new(Post::root(&voice.agent, run.message.clone())),
            kit: voice.kit,
            tree: Arc::clone(&tree),
            agent: voice.agent,
            model: voice.model,
            options: run.options.clone(),
            system: voice.system,
            history: Arc::default(),
            written: known.written,
            cancel: cancel.clone(),
        };
        let log = Arc::clone(writer.log());
        let (answers, taken) = mpsc::channel(ANSWERS);
        let mail = Mail::new(answers.clone(), taken, Some(raising));
        let busy = tree.busy();
        let branch = Branch { answers: run.answers.clone(), history: known.history };
        let work = lifecycle::run(ctx, branch, writer, frame, turn, mail, busy);
        let task = self.parts.tasks.spawn(work);
        self.parts.sessions.follow(&self.name, &log);
        let is_first = known.is_first && self.parts.settings.auto_title;
        self.live = Some(Live { run, log, cancel, answers, tree, is_first, task });
    }

    /// Takes a run that left memory up again; `before` is written ahead of the moment it goes on.
    pub(super) async fn resume(
        &mut self,
        record: &SessionRecord,
        run: RunRecord,
        why: Why,
        before: impl FnOnce(&mut Rebuilt) -> Result<(), protocol::FoldError>,
    ) -> Result<Viewer, EngineError> {
        let rebuilt = resume::rebuild(&self.parts.store, record.key, &run).await?;
        self.resume_from(record, run, rebuilt, why, before).await
    }

    /// The same, from the log as it was read.
    pub(super) async fn resume_from(
        &mut self,
        record: &SessionRecord,
        mut run: RunRecord,
        mut rebuilt: Rebuilt,
        why: Why,
        before: impl FnOnce(&mut Rebuilt) -> Result<(), protocol::FoldError>,
    ) -> Result<Viewer, EngineError> {
        let voice = self.voice_again(record, &run.options).await?;
        rebuilt.grants.clone_from(&record.grants);
        rebuilt.unshown.show(&mut rebuilt.frame, &*self.parts.ids).map_err(order)?;
        before(&mut rebuilt).map_err(order)?;
        let mut events = Vec::new();
        for Revived { frame, .. } in &mut rebuilt.below {
            if !frame.is_closed() {
                frame.go_on(run.id.clone()).map_err(order)?;
            }
            events.extend(frame.take());
        }
        rebuilt.frame.go_on(run.id.clone()).map_err(order)?;
        let high_water = record.high_water;
        let log = self.open_log(&record.into());
        let mut writer = LogWriter::new(Arc::clone(&log), Arc::clone(&self.parts.flusher));
        events.extend(rebuilt.frame.take());
        if why == Why::Asked {
            run.last_resume = high_water + events.len() as Seq;
        }
        run.status = RunStatus::Running;
        let reading = Reading { view: View::Continuation, last_resume: run.last_resume, edge: high_water };
        let mut viewer = Viewer::new(log, run.last_resume.saturating_sub(1), run.message.clone(), reading)
            .lane(run.options.sub_agent_stream);
        if !rebuilt.below.is_empty() {
            viewer = viewer.beginning(run.first_seq);
        }
        writer.append(events, std::mem::take(&mut rebuilt.closed)).await?;
        let grants = Grants::new(rebuilt.grants.iter().cloned());
        let calls = resume::plan(&rebuilt.frame, &self.parts.tools, &grants, why);
        let turn = Turn::resume(voice.agent.max_steps, rebuilt.frame.steps(), calls);
        let known = Known { is_first: is_young(record), ..Known::default() };
        self.spawn(run, voice, writer, rebuilt, turn, known);
        Ok(viewer)
    }

    /// A question that waits is moot: its calls are denied and the run ends.
    pub(super) async fn withdraw(&self, record: &SessionRecord, end: RunEnd) -> Result<bool, EngineError> {
        let (id, waits) = match &record.last_run {
            Some((id, RunStatus::Parked)) => (id, true),
            // Left behind by a store that failed: nothing runs, and a stop ends it.
            Some((id, RunStatus::Running)) if self.live.is_none() && end == RunEnd::Cancelled => (id, false),
            _ => return Ok(false),
        };
        let Some(run) = self.parts.store.run_of_message(record.key, id).await? else { return Ok(false) };
        let rebuilt = resume::rebuild(&self.parts.store, record.key, &run).await?;
        let (why, frame_end) = match end {
            RunEnd::Cancelled if waits => ("stopped instead of answered", FrameEnd::Cancelled),
            RunEnd::Cancelled => ("stopped before this call had a result", FrameEnd::Cancelled),
            _ => (
                "the person sent something else instead of answering",
                FrameEnd::Finished { reason: FinishReason::Other },
            ),
        };
        let (events, messages) =
            recover::ending(&*self.parts.ids, rebuilt, &run, why, end, |frame| frame.close(frame_end))
                .map_err(order)?;
        self.write_beside(record, events, messages).await?;
        Ok(true)
    }
}
