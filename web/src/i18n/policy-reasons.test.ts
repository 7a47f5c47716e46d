import { describe, expect, it } from 'vitest'
import fixture from './policy-reasons.fixture.json'
import { reasonIn } from './policy-reasons'

describe('the reasons of the policy', () => {
  it('are all translated', () => {
    const left = fixture.filter((sentence) => !/[\u4e00-\u9fff]/.test(reasonIn('zh', sentence)))
    expect(left).toEqual([])
  })

  it('keep names as they are', () => {
    expect(reasonIn('zh', 'It changes .github/workflows/ci.yml, which a build server executes.')).toBe('它会更改 .github/workflows/ci.yml，构建服务器会执行它。')
    expect(reasonIn('zh', 'With the option --upload-pack it starts another program.')).toBe('带选项 --upload-pack 时，它会启动另一个程序。')
    expect(reasonIn('zh', '`$1` is not in the command table, so it is not known what it does.')).toBe('`$1` 不在命令表中，因此不知道它的作用。')
  })

  it('of several sentences are translated one by one', () => {
    expect(reasonIn('zh', 'It reads the history of the repository. It reads its input.')).toBe('它会读取仓库的历史。它会读取其输入。')
    expect(reasonIn('zh', 'It talks to another machine. It asks for the network.')).toBe('它会与另一台机器通信。它要求使用网络。')
  })

  it('of rules name the calls', () => {
    expect(reasonIn('zh', 'A rule of this workspace asks about every change below migrations/. Its note: Careful.')).toBe('此工作区的一条规则要求先询问：所有更改（migrations/ 之下）。备注：Careful.')
    expect(reasonIn('zh', 'A rule of this server refuses calls of shell for commands that begin with `git push`.')).toBe('此服务器的一条规则拒绝：对 shell 的调用（以 `git push` 开头的命令）。')
    expect(reasonIn('zh', 'A rule of this chat asks about reading of .env.')).toBe('此对话的一条规则要求先询问：读取（.env）。')
  })

  it('stay as they came when they are not known, and in English', () => {
    const own = 'My tool does something new. It reads files'
    expect(reasonIn('zh', own)).toBe(own)
    expect(reasonIn('en', 'It reads files.')).toBe('It reads files.')
  })
})
