// A stretch of the answer.

import { Markdown } from '../../markdown/markdown'

export function TextPart({ text, streaming }: { text: string; streaming: boolean }) {
  if (text === '') return null
  return <Markdown text={text} streaming={streaming} />
}
