// Beside the chat: its details, the files it changed, the files of the workspace, and the commands that it ran.

import { Tabs } from 'radix-ui'
import { setPreferences, usePreferences, type PanelTab } from '../app/preferences'
import { ChangesPanel } from '../changes/changes-panel'
import type { Changes } from '../changes/use-changes'
import { FilesPane } from '../files/files-pane'
import { useTexts } from '../i18n'
import { JobsPanel } from '../jobs/jobs-panel'
import type { Jobs } from '../jobs/use-jobs'
import type { ChatMessage } from './message-types'
import { SidePanel } from './side-panel'
import type { SubAgentLanes } from './sub-agent-lane'

interface PanelProps {
  chatId: string
  messages: ChatMessage[]
  lanes: SubAgentLanes
  busy: boolean
  changes: Changes
  jobs: Jobs
  /** Differs when files were changed. */
  signal: string
  onOpenAgent: (chatId: string, name: string) => void
  onAttach: (files: File[]) => void
}

export function Panel({ chatId, messages, lanes, busy, changes, jobs, signal, onOpenAgent, onAttach }: PanelProps) {
  const t = useTexts()
  const { panelTab } = usePreferences()
  const counts: Partial<Record<PanelTab, number>> = { changes: changes.list?.files.length ?? 0, commands: jobs.list?.filter((job) => job.state === 'running').length ?? 0 }
  const tabs: [PanelTab, string][] = [['details', t.details], ['changes', t.changes], ['files', t.files], ['commands', t.commands]]
  return (
    <Tabs.Root className={panelTab === 'details' ? 'panel' : 'panel panel-broad'} value={panelTab} onValueChange={(value) => setPreferences({ panelTab: value as PanelTab })} asChild>
      <aside aria-label={t.details}>
        <Tabs.List className="tabs" aria-label={t.details}>
          {tabs.map(([key, text]) => (
            <Tabs.Trigger key={key} className="tab" value={key}>
              {text}
              {counts[key] ? <span className="tab-count">{counts[key]}</span> : null}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="details" className="tab-content">
          <SidePanel chatId={chatId} messages={messages} lanes={lanes} busy={busy} onOpenAgent={onOpenAgent} />
        </Tabs.Content>
        <Tabs.Content value="changes" className="tab-content">
          <ChangesPanel chatId={chatId} changes={changes} messages={messages} busy={busy} />
        </Tabs.Content>
        <Tabs.Content value="files" className="tab-content">
          <FilesPane key={chatId} chatId={chatId} signal={signal} onAttach={onAttach} />
        </Tabs.Content>
        <Tabs.Content value="commands" className="tab-content">
          <JobsPanel jobs={jobs} />
        </Tabs.Content>
      </aside>
    </Tabs.Root>
  )
}
