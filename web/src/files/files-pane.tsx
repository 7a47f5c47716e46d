// The files of the workspace beside the chat: the tree, and the file that was chosen in it.

import { RefreshCw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { FolderEntry } from '../api/workspace-types'
import { LARGEST_FILE } from '../chat/attachments'
import { formatSize, useTexts } from '../i18n'
import { IconButton } from '../ui/button'
import { showToast } from '../ui/toasts'
import { FileTree } from './file-tree'
import { FileView } from './file-view'
import { fetchFile, nameOf } from './routes'
import { useFolders } from './use-folders'

interface FilesPaneProps {
  chatId: string
  /** Files are fetched again when it differs. */
  signal: string
  /** Puts a file into the next message. */
  onAttach: (files: File[]) => void
}

export function FilesPane({ chatId, signal, onAttach }: FilesPaneProps) {
  const t = useTexts()
  const folders = useFolders(chatId, signal)
  const [shown, setShown] = useState<{ path: string; entry: FolderEntry }>()
  const [last, setLast] = useState<string>()
  const [attaching, setAttaching] = useState(false)
  const pane = useRef<HTMLDivElement>(null)
  const returned = useRef(false)
  const attach = async (path: string, entry: FolderEntry) => {
    if (entry.bytes > LARGEST_FILE) {
      showToast({ kind: 'error', text: t.fileTooLarge(nameOf(path), formatSize(LARGEST_FILE)) })
      return
    }
    setAttaching(true)
    try {
      onAttach([await fetchFile(path)])
      showToast({ text: t.fileAttached(nameOf(path)) })
    } catch (error) {
      showToast({ kind: 'error', text: `${t.fileNotAttached(nameOf(path))} ${error instanceof Error ? error.message : ''}` })
    } finally {
      setAttaching(false)
    }
  }
  // Back in the tree, the focus is where it was.
  useEffect(() => {
    if (shown || !returned.current) return
    returned.current = false
    pane.current?.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]')?.focus()
  }, [shown])
  if (shown) {
    // The listing may know a newer size than the one it was opened with.
    const row = folders.rows.find((one) => one.kind === 'entry' && one.path === shown.path)
    const entry = row?.kind === 'entry' ? row.entry : shown.entry
    return (
      <div className="panel-content">
        <FileView
          path={shown.path}
          entry={entry}
          signal={signal}
          attaching={attaching}
          onBack={() => {
            returned.current = true
            setShown(undefined)
          }}
          onAttach={() => void attach(shown.path, entry)}
        />
      </div>
    )
  }
  return (
    <div className="panel-content files-pane" ref={pane}>
      <div className="files-head">
        <h2>{t.workspaceFiles}</h2>
        <IconButton label={t.refresh} size="small" onClick={folders.refresh}>
          <RefreshCw size={13} />
        </IconButton>
      </div>
      <FileTree
        folders={folders}
        chosen={last}
        onOpen={(path, entry) => {
          setLast(path)
          setShown({ path, entry })
        }}
        onAttach={(path, entry) => void attach(path, entry)}
      />
    </div>
  )
}
