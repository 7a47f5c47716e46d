// Words of a command as a line for a shell, keys as people name them, and a line that is short enough for a title.

const SAFE = /^[\w@%+=:,./-]+$/

/** `["git", "commit", "-m", "it's done"]` as `git commit -m 'it'\''s done'`. */
export const quoteWords = (words: readonly string[]): string => words.map(quoteWord).join(' ')

function quoteWord(word: string): string {
  // At the beginning `=` and `~` could mean something else to a shell.
  if (SAFE.test(word) && !word.startsWith('=')) return word
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** `\u0003` as `^C`, a line feed or a return as `⏎`. */
export function keyNames(chars: string): string {
  return chars.replace(/\r\n|[\u0000-\u001f\u007f]/g, (key) => (key === '\n' || key === '\r' || key === '\r\n' ? '⏎' : key === '\t' ? '⇥' : key === '\u007f' ? '⌫' : `^${String.fromCharCode((key.codePointAt(0) ?? 0) + 64)}`))
}

const SHORT = 60

export function shortLine(command: string): string {
  const line = command.trim().replace(/\s+/g, ' ')
  return line.length > SHORT ? `${line.slice(0, SHORT - 1)}…` : line
}
