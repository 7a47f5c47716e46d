// A file in a dialog, in the frame for generated content. It is fetched when somebody wants to see it.

import { useEffect, useState } from 'react'
import { send } from '../../api/client'
import { formatSize, useTexts } from '../../i18n'
import { Dialog } from '../../ui/dialog'
import { LARGEST_PREVIEW, PreviewFrame, type PreviewKind } from '../../ui/preview-frame'
import { Spinner } from '../../ui/spinner'

interface FilePreviewProps {
  kind: PreviewKind
  url: string
  name: string
  open: boolean
  onClose: () => void
}

export function FilePreview({ kind, url, name, open, onClose }: FilePreviewProps) {
  return (
    <Dialog title={name} open={open} onClose={onClose} kind="sheet">
      <div className="file-preview">{open && <Content kind={kind} url={url} name={name} />}</div>
    </Dialog>
  )
}

function Content({ kind, url, name }: Omit<FilePreviewProps, 'open' | 'onClose'>) {
  const t = useTexts()
  const [loaded, setLoaded] = useState<{ text?: string; failed?: string }>({})
  useEffect(() => {
    const gone = new AbortController()
    textAt(url, gone.signal).then(
      (text) => setLoaded(text === undefined ? { failed: t.previewTooLarge(formatSize(LARGEST_PREVIEW)) } : { text }),
      (error: unknown) => !gone.signal.aborted && setLoaded({ failed: error instanceof Error ? error.message : t.errorRequest }),
    )
    return () => gone.abort()
  }, [url, t])
  if (loaded.failed !== undefined) return <p className="quiet">{loaded.failed}</p>
  if (loaded.text === undefined) return <Spinner label={t.loading} />
  return <PreviewFrame kind={kind} text={loaded.text} name={name} />
}

/** The text of a file; nothing when there is too much of it. */
async function textAt(url: string, signal: AbortSignal): Promise<string | undefined> {
  if (url.startsWith('data:')) return url.length > 2 * LARGEST_PREVIEW ? undefined : dataText(url)
  const response = await send(url, { signal, credentials: 'same-origin' })
  if (!response.ok) throw new Error(response.statusText || String(response.status))
  if (Number(response.headers.get('content-length') ?? 0) > LARGEST_PREVIEW) {
    await response.body?.cancel()
    return undefined
  }
  return response.text()
}

/** Read here: the policy of the page lets nothing fetch a `data:` address. */
export function dataText(url: string): string {
  const comma = url.indexOf(',')
  const body = url.slice(comma + 1)
  if (!/;base64$/i.test(url.slice(0, comma))) return decodeURIComponent(body)
  return new TextDecoder().decode(Uint8Array.from(atob(body), (sign) => sign.charCodeAt(0)))
}
