// The head of a page that is no chat.

import { Menu as MenuIcon } from 'lucide-react'
import { usePage } from '../app/page-context'
import { useTexts } from '../i18n'
import { IconButton } from './button'

export function PageHead({ title }: { title: string }) {
  const t = useTexts()
  const page = usePage()
  return (
    <header className="page-head">
      <IconButton label={t.showSidebar} className="only-narrow" onClick={page.openSidebar}>
        <MenuIcon size={18} />
      </IconButton>
      <h1>{title}</h1>
    </header>
  )
}
