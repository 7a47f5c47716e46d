// A conversation on the screen: header, messages, composer, and the panel beside them.

import { Menu as MenuIcon, PanelRight } from 'lucide-react'
import type { FileUIPart } from 'ai'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useAgents } from '../agents/routes'
import { usePreferences, setPreferences } from '../app/preferences'
import { go, useRoute } from '../app/router'
import { useShortcut } from '../app/shortcuts'
import { usePage } from '../app/page-context'
import { countFileChanges, useChanges } from '../changes/use-changes'
import { useTexts } from '../i18n'
import { JobsContext } from '../jobs/jobs-context'
import { useChatJobs } from '../jobs/use-chat-jobs'
import { exportMarkdown } from '../sessions/export'
import { sessions, useSession } from '../sessions/sessions-store'
import { IconButton } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { showToast } from '../ui/toasts'
import { AgentPicker } from './agent-picker'
import { ChatContext, type ChatSurroundings } from './chat-context'
import { ChangesChip } from './changes-chip'
import { begunChats, ChatPage } from './chat-page'
import { Composer, QueuedMessages, restoreDraft, type ComposerHandle } from './composer'
import { DemoBanner } from './demo-banner'
import { JobsChip } from './jobs-chip'
import { MessageList } from './message-list'
import type { MessageActions } from './message'
import type { ChatMessage } from './message-types'
import { ModelPicker, type ModelChoice } from './model-picker'
import { Panel } from './panel'
import { StartScreen } from './start-screen'
import { SteerBox } from './steer-box'
import { TroubleNotice, ConnectionNotice } from './notices'
import { giveTitle } from './routes'
import type { Command } from './suggestions'
import type { Choices } from './transport'
import { useBeat } from './use-beat'
import { useMainAgent } from './use-main-agent'
import { PAGE, useSessionChat } from './use-session-chat'

interface ConversationProps {
  id: string
  initial: ChatMessage[]
  known: boolean
  readOnly: boolean
  firstAgent?: string | undefined
}

export function Conversation({ id, initial, known, readOnly, firstAgent }: ConversationProps) {
  const t = useTexts()
  const page = usePage()
  const { panel, panelTab } = usePreferences()
  const info = useSession(id)
  const agents = useAgents()
  const composer = useRef<ComposerHandle>(null)
  const agent = useMainAgent(info, firstAgent)
  const { forMessage } = agent
  const [model, setModel] = useState<ModelChoice>()
  const route = useRoute()
  const drill = !readOnly && route.page === 'chat' && route.id === id ? route.agent : undefined
  const chosenModel = useRef(model)
  chosenModel.current = model
  const choices = useCallback((): Choices => {
    const [agentId, named] = [forMessage(), chosenModel.current]
    return { ...(agentId ? { agentId } : {}), ...(named ? { chatModelId: named.id, chatModelSource: named.source } : {}) }
  }, [forMessage])
  const onBegin = useCallback(() => {
    begunChats.add(id)
    if (!readOnly) go({ page: 'chat', id }, 'replace')
  }, [id, readOnly])
  const draftKey = known ? id : 'new'
  const onRefused = useCallback((text: string, files: FileUIPart[]) => restoreDraft(draftKey, text, files), [draftKey])
  const chat = useSessionChat({ id, initial, hasEarlier: initial.length >= PAGE, known, sub: readOnly, choices, onBegin, onRefused })
  const { busy, stop, messages } = chat
  const beat = useBeat(busy && !readOnly)
  // `beat`: sub-agents change files without the messages.
  // oxlint-disable-next-line react/exhaustive-deps
  const fileChanges = useMemo(() => (readOnly ? 0 : countFileChanges(messages, chat.lanes)), [messages, chat.lanes, readOnly, beat])
  const signal = `${fileChanges} ${busy}`
  const stored = messages.length > 0 && !readOnly
  const changes = useChanges(id, stored && (fileChanges > 0 || (panel && panelTab === 'changes')), signal)
  const { jobs, nearby } = useChatJobs({ id, messages, lanes: chat.lanes, beat, busy, readOnly })

  useEffect(() => {
    if (info && document.visibilityState === 'visible') sessions.markSeen(id, info.updatedAt)
  }, [id, info])
  const newest = messages.at(-1)?.metadata?.agent
  const title = info?.title ?? (messages.length > 0 ? t.untitled : t.newChat)
  useEffect(() => {
    if (!readOnly) document.title = messages.length > 0 ? `${title} · Concertino` : 'Concertino'
  }, [title, messages.length, readOnly])

  useShortcut('Escape', () => busy && stop(), !readOnly)
  useShortcut('mod+i', () => composer.current?.focus(), !readOnly)
  useShortcut('mod+.', () => setPreferences({ panel: !panel }), !readOnly)
  useEffect(() => {
    if (!readOnly && matchMedia('(min-width: 900px)').matches) composer.current?.focus()
  }, [readOnly])

  // An agent opened from within another agent's conversation takes its place beside the same chat.
  const mainId = readOnly && route.page === 'chat' ? route.id : id
  const names = useRef(new Map<string, string>())
  const openAgent = useCallback(
    (chatId: string, name: string) => {
      names.current.set(chatId, name)
      go({ page: 'chat', id: mainId, agent: chatId })
    },
    [mainId],
  )
  const surroundings = useMemo<ChatSurroundings>(
    () => ({ chatId: id, lanes: chat.lanes, readOnly, answer: chat.answer, fillIn: chat.fillIn, openAgent }),
    [id, chat.lanes, readOnly, chat.answer, chat.fillIn, openAgent],
  )
  const { edit, retry, goOn, switchBranch } = chat
  const actions = useMemo<MessageActions>(
    () => ({
      edit,
      retry,
      goOn,
      switchBranch,
      quote: (text) => composer.current?.insert(`${text.slice(0, 2000).split('\n').map((line) => `> ${line}`).join('\n')}\n\n`),
    }),
    [edit, retry, goOn, switchBranch],
  )
  const retitle = async () => {
    try {
      await giveTitle(id)
      await sessions.refreshOne(id)
    } catch (error) {
      showToast({ kind: 'error', text: `${t.errorRequest} ${error instanceof Error ? error.message : ''}` })
    }
  }
  const command = (name: Command) => {
    switch (name) {
      case 'new':
        return page.newChat()
      case 'retry':
        return messages.length > 0 && !busy ? retry() : undefined
      case 'stop':
        return stop()
      case 'compact':
        return messages.length > 0 ? send('/compact', [], busy ? 'queue' : undefined) : undefined
      case 'summary-title':
        return messages.length > 0 ? void retitle() : undefined
      case 'export':
        return void exportMarkdown(id, title)
      case 'theme':
        return page.switchTheme()
      case 'language':
        return page.switchLanguage()
      case 'help':
        return page.showShortcuts()
    }
  }
  const send: typeof chat.send = (text, files, whenBusy) => {
    const named = /(?:^|\s)@([\w-]+)/.exec(text)?.[1]
    const mentioned = agents.find((one) => one.kind === 'main' && one.name === named)
    if (mentioned) agent.choose(mentioned.name)
    chat.send(text, files, whenBusy)
  }
  const empty = messages.length === 0
  const notices = (
    <>
      <TroubleNotice trouble={chat.trouble} onRetry={messages.at(-1)?.role === 'user' ? () => retry() : undefined} onDismiss={chat.dismissTrouble} />
      <QueuedMessages texts={chat.queued} />
    </>
  )
  const composerBox = !readOnly && (
    <Composer
      ref={composer}
      draftKey={draftKey}
      busy={busy}
      agents={agents}
      tools={
        <>
          <AgentPicker agents={agents} chosen={agent.shown ?? newest?.name} missing={agent.shown === info?.agentId ? info?.agentFallbackFrom : undefined} busy={busy} onChoose={agent.choose} />
          <ModelPicker chosen={model} present={messages.findLast((one) => one.metadata?.model)?.metadata?.model} onChoose={setModel} />
        </>
      }
      onSend={send}
      onStop={stop}
      onCommand={command}
    />
  )
  return (
    <ChatContext value={surroundings}>
      <JobsContext value={nearby}>
        <div className={panel && !readOnly ? `conversation conversation-panel${panelTab === 'details' ? '' : ' conversation-wide'}` : 'conversation'}>
          <section className="chat" aria-label={title}>
            {!readOnly && (
              <header className="chat-head">
                <IconButton label={t.showSidebar} className="only-narrow" onClick={page.openSidebar}>
                  <MenuIcon size={18} />
                </IconButton>
                <h1>{empty ? '' : title}</h1>
                <JobsChip jobs={jobs.list} />
                <ChangesChip files={changes.list?.files} />
                <IconButton label={panel ? t.hidePanel : t.showPanel} shortcut={page.modifier + ' .'} aria-pressed={panel} onClick={() => setPreferences({ panel: !panel })}>
                  <PanelRight size={18} />
                </IconButton>
              </header>
            )}
            <ConnectionNotice connection={chat.connection} />
            {empty && !busy && readOnly ? (
              <div className="centre quiet">{t.loading}</div>
            ) : empty && !busy ? (
              <StartScreen composer={composerBox} onExample={(text) => send(text, [])} notices={notices} />
            ) : (
              <>
                <MessageList
                  messages={messages}
                  busy={busy}
                  waiting={chat.waiting}
                  readOnly={readOnly}
                  branches={chat.branches}
                  actions={actions}
                  hasEarlier={chat.hasEarlier}
                  loadEarlier={chat.loadEarlier}
                  footer={notices}
                />
                {readOnly && busy && <SteerBox id={id} onStop={stop} />}
                {composerBox && (
                  <div className="composer-frame">
                    <DemoBanner compact />
                    {composerBox}
                  </div>
                )}
              </>
            )}
          </section>
          {panel && !readOnly && (
            <Panel
              chatId={id}
              messages={messages}
              lanes={chat.lanes}
              busy={busy}
              changes={changes}
              jobs={jobs}
              signal={signal}
              onOpenAgent={openAgent}
              onAttach={(files) => composer.current?.attach(files)}
            />
          )}
        </div>
      </JobsContext>
      {!readOnly && (
        <Dialog kind="sheet" title={drill ? t.agentConversation(names.current.get(drill) ?? t.subAgent) : ''} open={drill !== undefined} onClose={() => go({ page: 'chat', id })}>
          {drill && <ChatPage key={drill} id={drill} fresh={false} readOnly />}
        </Dialog>
      )}
    </ChatContext>
  )
}
