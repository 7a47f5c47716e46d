// A change to a text, line by line.

const MOST_LINES = 400

export const looksLikeDiff = (text: string): boolean => /^(?:diff --git |--- [^\n]+\n\+\+\+ |@@ -\d|\*\*\* (?:Begin Patch|Update File))/m.test(text)

export function DiffView({ text }: { text: string }) {
  const lines = text.split('\n')
  return (
    <pre className="diff" tabIndex={0}>
      {lines.slice(0, MOST_LINES).map((line, at) => (
        <span key={at} className={kindOf(line)}>
          {line}
          {'\n'}
        </span>
      ))}
      {lines.length > MOST_LINES && <span className="diff-meta">… {lines.length - MOST_LINES}</span>}
    </pre>
  )
}

function kindOf(line: string): string {
  if (/^(?:\+\+\+|---|@@|diff |index |\*\*\*)/.test(line)) return 'diff-meta'
  if (line.startsWith('+')) return 'diff-add'
  if (line.startsWith('-')) return 'diff-remove'
  return ''
}
