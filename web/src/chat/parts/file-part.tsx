// A file of a message: pictures are shown, HTML and SVG can be looked at, everything else is a name to save.

import { Eye, File as FileIcon } from 'lucide-react'
import { useState } from 'react'
import { formatSize, useTexts } from '../../i18n'
import { inlineImage, safeLink } from '../../markdown/links'
import { IconButton } from '../../ui/button'
import { previewKind } from '../../ui/preview-frame'
import { FilePreview } from './file-preview'

interface FileShape {
  url: string
  mediaType: string
  filename?: string | undefined
}

export function FilePart({ file, size: bytes }: { file: FileShape; size?: number }) {
  const t = useTexts()
  const [looking, setLooking] = useState(false)
  const name = file.filename ?? file.mediaType
  const picture = inlineImage(file.url) ?? (isOwn(file.url) && file.mediaType.startsWith('image/') && !file.mediaType.startsWith('image/svg') ? file.url : undefined)
  if (picture) return <img className="file-image" src={picture} alt={name} loading="lazy" />
  const href = isOwn(file.url) || file.url.startsWith('data:') ? file.url : safeLink(file.url)
  const size = bytes !== undefined ? formatSize(bytes) : file.url.startsWith('data:') ? formatSize(Math.round((file.url.length - file.url.indexOf(',')) * 0.75)) : undefined
  const inside = (
    <>
      <FileIcon size={16} aria-hidden />
      <span className="file-name">{name}</span>
      {size && <span className="file-size">{size}</span>}
    </>
  )
  if (!href) return <span className="file">{inside}</span>
  const kind = previewKind(file.mediaType)
  const link = (
    <a className="file" href={href} download={file.filename ?? 'file'} title={t.download}>
      {inside}
    </a>
  )
  if (!kind || (!isOwn(file.url) && !file.url.startsWith('data:'))) return link
  return (
    <span className="file-row">
      {link}
      <IconButton label={t.previewOf(name)} size="small" onClick={() => setLooking(true)}>
        <Eye size={14} />
      </IconButton>
      <FilePreview kind={kind} url={file.url} name={name} open={looking} onClose={() => setLooking(false)} />
    </span>
  )
}

/** On this server: an address without a host. */
const isOwn = (url: string): boolean => /^\/(?!\/)/.test(url)
