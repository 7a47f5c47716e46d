// The highlighter, loaded with the first block of code that has a language.

import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import latex from 'highlight.js/lib/languages/latex'
import lua from 'highlight.js/lib/languages/lua'
import makefile from 'highlight.js/lib/languages/makefile'
import markdown from 'highlight.js/lib/languages/markdown'
import nginx from 'highlight.js/lib/languages/nginx'
import php from 'highlight.js/lib/languages/php'
import powershell from 'highlight.js/lib/languages/powershell'
import python from 'highlight.js/lib/languages/python'
import r from 'highlight.js/lib/languages/r'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import scala from 'highlight.js/lib/languages/scala'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'

export type CodeNode = string | { name: string; children: CodeNode[] }

const lowlight = createLowlight({
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, latex, lua, makefile, markdown, nginx,
  php, powershell, python, r, ruby, rust, scala, sql, swift, typescript, xml, yaml,
})

interface Tree {
  type: string
  value?: string
  properties?: { className?: unknown }
  children?: Tree[]
}

export function highlight(code: string, language: string): CodeNode[] | undefined {
  const name = language.toLowerCase()
  if (!lowlight.registered(name)) return undefined
  return (lowlight.highlight(name, code) as Tree).children?.map(simplify)
}

function simplify(node: Tree): CodeNode {
  if (node.type === 'text') return node.value ?? ''
  const names = node.properties?.className
  return { name: Array.isArray(names) ? names.join(' ') : '', children: (node.children ?? []).map(simplify) }
}
