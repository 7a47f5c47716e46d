// A command as it is run, with characters that nobody could see written out.

import { useTexts } from '../i18n'

/** Control, direction, zero-width and filler characters and odd blanks; not the line feed, the tab and the plain blank. */
const HIDDEN = /((?![\n\t ])[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/u

export function CommandText({ text }: { text: string }) {
  const t = useTexts()
  if (!HIDDEN.test(text)) return text
  return text.split(HIDDEN).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      <mark key={at} className="hidden-letter" title={t.commandHidden(codeOf(part))}>
        {codeOf(part)}
      </mark>
    ),
  )
}

const codeOf = (letter: string): string => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
