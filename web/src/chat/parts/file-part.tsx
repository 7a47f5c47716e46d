// A file of a message: pictures are shown, everything else is a name to open or save.

import { File as FileIcon } from 'lucide-react'
import { formatSize, useTexts } from '../../i18n'
import { inlineImage, safeLink } from '../../markdown/links'

interface FileShape {
  url: string
  mediaType: string
  filename?: string | undefined
}

export function FilePart({ file, size: bytes }: { file: FileShape; size?: number }) {
  const t = useTexts()
  const name = file.filename ?? file.mediaType
  const picture = inlineImage(file.url) ?? (isOwn(file.url) && file.mediaType.startsWith('image/') ? file.url : undefined)
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
  return (
    <a className="file" href={href} download={file.filename ?? 'file'} title={t.download}>
      {inside}
    </a>
  )
}

/** On this server: an address without a host. */
const isOwn = (url: string): boolean => /^\/(?!\/)/.test(url)
