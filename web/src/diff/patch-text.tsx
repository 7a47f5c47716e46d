// A patch as it was written, line by line: for patches in any form, before anybody has read them.

const MOST_LINES = 400

export const looksLikeDiff = (text: string): boolean => /^(?:diff --git |--- [^\n]+\n\+\+\+ |@@ -\d|\*\*\* (?:Begin Patch|Update File))/m.test(text)

export function PatchText({ text }: { text: string }) {
  const lines = text.split('\n')
  return (
    <pre className="patch" tabIndex={0}>
      {lines.slice(0, MOST_LINES).map((line, at) => (
        <span key={at} className={kindOf(line)}>
          {line}
          {'\n'}
        </span>
      ))}
      {lines.length > MOST_LINES && <span className="patch-meta">… {lines.length - MOST_LINES}</span>}
    </pre>
  )
}

function kindOf(line: string): string {
  if (/^(?:\+\+\+|---|@@|diff |index |\*\*\*)/.test(line)) return 'patch-meta'
  if (line.startsWith('+')) return 'patch-add'
  if (line.startsWith('-')) return 'patch-remove'
  return ''
}
