// A small git repository with a real bug and a real test that needs nothing installed.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Without an order of its own, `sort` compares numbers as text: 10 comes before 9. */
export const BUG = '  const sorted = [...values].sort()'
export const FIX = '  const sorted = [...values].sort((a, b) => a - b)'

export const MEDIAN = `/** The value in the middle. */
export function median(values) {
${BUG}
  const middle = sorted.length >> 1
  if (sorted.length % 2) return sorted[middle]
  return (sorted[middle - 1] + sorted[middle]) / 2
}
`

const TEST = `import { median } from './src/median.js'

const cases = [
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[9, 10, 2], 9],
  [[120, 80, 100, 90], 95],
]
let failed = 0
for (const [values, expected] of cases) {
  const got = median(values)
  const ok = got === expected
  if (!ok) failed++
  const mark = ok ? '\\x1b[32mpass\\x1b[0m' : '\\x1b[31mFAIL\\x1b[0m'
  console.log(\`\${mark} median of \${values.join(', ')} is \${expected}\${ok ? '' : \`\\x1b[31m, but it says \${got}\\x1b[0m\`}\`)
}
console.log(failed ? \`\\x1b[1;31m\${failed} of \${cases.length} failed\\x1b[0m\` : \`\\x1b[1;32mall \${cases.length} passed\\x1b[0m\`)
process.exitCode = failed ? 1 : 0
`

/** As a model would write it. */
export const PATCH = `*** Begin Patch
*** Update File: src/median.js
@@
 export function median(values) {
-${BUG}
+${FIX}
   const middle = sorted.length >> 1
*** End Patch`

export async function makeRepository(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'concertino-e2e-repository-'))
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'package.json'), '{\n  "name": "median",\n  "type": "module",\n  "scripts": { "test": "node test.js" }\n}\n')
  await writeFile(join(folder, 'src/median.js'), MEDIAN)
  await git(folder, 'init', '--quiet', '--initial-branch', 'main')
  await commit(folder, 'Find the value in the middle')
  await writeFile(join(folder, 'test.js'), TEST)
  await commit(folder, 'Test the median with larger numbers')
  return folder
}

/** What git says to these words. */
export async function git(folder: string, ...words: string[]): Promise<string> {
  const { stdout } = await run('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', ...words], { cwd: folder })
  return stdout.trim()
}

async function commit(folder: string, subject: string): Promise<void> {
  await git(folder, 'add', '--all')
  await git(folder, 'commit', '--quiet', '--message', subject)
}
