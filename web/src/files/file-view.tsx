// One file of the workspace: its text with line numbers, its picture, or that it cannot be shown; and what can be done
// with it.

import { ArrowLeft, Download, Paperclip } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { FolderEntry } from '../api/workspace-types'
import { FilePath } from '../diff/change-mark'
import { CodeLines } from '../diff/code-lines'
import { languageOf } from '../diff/paint'
import { formatSize, formatTime, useLanguage, useTexts } from '../i18n'
import { Markdown } from '../markdown/markdown'
import { Button, IconButton } from '../ui/button'
import { CopyButton } from '../ui/copy-button'
import { PreviewFrame, previewKind } from '../ui/preview-frame'
import { Segments } from '../ui/segments'
import { Spinner } from '../ui/spinner'
import { contentUrl, fetchContent, LARGEST_TEXT, nameOf, type Content } from './routes'

interface FileViewProps {
  path: string
  entry: FolderEntry
  /** The file is fetched again when it differs. */
  signal: string
  attaching: boolean
  onBack: () => void
  onAttach?: (() => void) | undefined
}

const PICTURES = new Set(['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'ico', 'svg'])

export function FileView({ path, entry, signal, attaching, onBack, onAttach }: FileViewProps) {
  const t = useTexts()
  const language = useLanguage()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [path])
  return (
    <section className="file-view" aria-label={path}>
      <header>
        <IconButton label={t.backToFiles} size="small" onClick={onBack}>
          <ArrowLeft size={15} />
        </IconButton>
        <h2 ref={heading} tabIndex={-1}>
          <FilePath path={path} />
        </h2>
        <span className="file-view-actions">
          {onAttach && (
            <IconButton label={t.attachFile(nameOf(path))} size="small" disabled={attaching} onClick={onAttach}>
              <Paperclip size={14} />
            </IconButton>
          )}
          <CopyButton text={path} label={t.copyPath} />
          <a className="icon-button icon-button-small" href={contentUrl(path, true)} download={nameOf(path)} aria-label={t.downloadFile(nameOf(path))} title={t.download}>
            <Download size={14} />
          </a>
        </span>
      </header>
      <p className="quiet">{[formatSize(entry.bytes), formatTime(entry.modifiedAt, language), entry.ignored && t.ignored].filter(Boolean).join(' · ')}</p>
      <Body key={path} path={path} signal={`${signal} ${entry.modifiedAt}`} />
    </section>
  )
}

function Body({ path, signal }: { path: string; signal: string }) {
  const kind = languageOf(path)
  const [noPicture, setNoPicture] = useState(false)
  if (PICTURES.has(kind) && !noPicture) {
    return <img key={signal} className="file-picture" src={contentUrl(path)} alt={nameOf(path)} onError={() => setNoPicture(true)} />
  }
  return noPicture && kind !== 'svg' ? <NotShown path={path} /> : <TextBody path={path} signal={signal} />
}

type Loaded = { state: 'loading' } | { state: 'failed'; text: string } | { state: 'ready'; content: Content }
type Look = 'source' | 'rendered'

function TextBody({ path, signal }: { path: string; signal: string }) {
  const t = useTexts()
  const [loaded, setLoaded] = useState<Loaded>({ state: 'loading' })
  const [tries, setTries] = useState(0)
  const [look, setLook] = useState<Look>('source')
  useEffect(() => {
    const gone = new AbortController()
    fetchContent(path, gone.signal).then(
      (content) => setLoaded({ state: 'ready', content }),
      (error: unknown) => !gone.signal.aborted && setLoaded({ state: 'failed', text: error instanceof Error ? error.message : String(error) }),
    )
    return () => gone.abort()
  }, [path, signal, tries])
  const text = loaded.state === 'ready' && loaded.content.kind === 'text' ? loaded.content.text : undefined
  const lines = useMemo(() => (text === undefined ? [] : text.replace(/\n$/, '').split('\n').map((line, at) => ({ number: at + 1, text: line }))), [text])
  if (loaded.state === 'loading') return <Spinner label={t.loading} />
  if (loaded.state === 'failed') {
    return (
      <div className="notice notice-danger" role="alert">
        <p>{loaded.text}</p>
        <Button onClick={() => setTries(tries + 1)}>{t.retry}</Button>
      </div>
    )
  }
  if (text === undefined || loaded.content.kind === 'binary') return <NotShown path={path} />
  if (text === '') return <p className="quiet">{t.fileEmpty}</p>
  const frame = previewKind(languageOf(path))
  const isMarkdown = /^(?:md|markdown)$/.test(languageOf(path))
  const rendered = look === 'rendered' && (frame || isMarkdown)
  return (
    <>
      {(frame || isMarkdown) && <Segments<Look> label={t.preview} value={look} onChange={setLook} choices={[['source', t.showSource], ['rendered', t.preview]]} />}
      {rendered && frame && <PreviewFrame kind={frame} text={text} name={nameOf(path)} />}
      {rendered && isMarkdown && <Markdown text={text} />}
      {!rendered && <CodeLines path={path} label={path} lines={lines} first={1000} />}
      {loaded.content.cut && <p className="quiet">{t.fileCut(formatSize(LARGEST_TEXT))}</p>}
    </>
  )
}

function NotShown({ path }: { path: string }) {
  const t = useTexts()
  return (
    <div className="panel-nothing">
      <p>{t.fileNotShown}</p>
      <a className="button button-plain" href={contentUrl(path, true)} download={nameOf(path)}>
        <Download size={14} aria-hidden /> {t.download}
      </a>
    </div>
  )
}
