// Every key that works on the page.

import { usePage } from '../app/page-context'
import { useTexts } from '../i18n'

export function ShortcutList() {
  const t = useTexts()
  const { modifier } = usePage()
  const rows: [string[], string][] = [
    [[modifier, 'J'], t.shortcutNew],
    [[modifier, 'K'], t.shortcutSearch],
    [[modifier, 'I'], t.shortcutFocus],
    [[modifier, 'B'], t.shortcutSidebar],
    [[modifier, '.'], t.shortcutPanel],
    [[modifier, 'Y'], t.shortcutInbox],
    [['Esc'], t.shortcutStop],
    [['A'], t.shortcutApprove],
    [['S'], t.shortcutAlways],
    [['W'], t.shortcutWorkspace],
    [['E'], t.shortcutEdit],
    [['D'], t.shortcutDeny],
    [[modifier, '/'], t.shortcutHelp],
  ]
  return (
    <dl className="shortcuts">
      {rows.map(([keys, text]) => (
        <div key={text}>
          <dt>{text}</dt>
          <dd>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  )
}
