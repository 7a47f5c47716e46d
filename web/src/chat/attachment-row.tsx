// Files that will go with the message, with a way to leave each out.

import { File as FileIcon, X } from 'lucide-react'
import type { FileUIPart } from 'ai'
import { useTexts } from '../i18n'
import { inlineImage } from '../markdown/links'
import { IconButton } from '../ui/button'

export function AttachmentRow({ files, onRemove }: { files: readonly FileUIPart[]; onRemove: (at: number) => void }) {
  const t = useTexts()
  if (files.length === 0) return null
  return (
    <ul className="attachments">
      {files.map((file, at) => {
        const name = file.filename ?? file.mediaType
        const picture = inlineImage(file.url)
        return (
          <li key={at}>
            {picture ? <img src={picture} alt="" /> : <FileIcon size={16} aria-hidden />}
            <span className="file-name">{name}</span>
            <IconButton label={t.removeFile(name)} size="small" onClick={() => onRemove(at)}>
              <X size={13} />
            </IconButton>
          </li>
        )
      })}
    </ul>
  )
}
