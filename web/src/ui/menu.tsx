// A drop-down menu. Not modal: the page behind keeps its scroll bar and no style is injected.

import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'

export interface MenuItem {
  label: string
  icon?: ReactNode
  danger?: boolean
  checked?: boolean
  hint?: string
  onSelect: () => void
}

interface MenuProps {
  trigger: ReactNode
  items: (MenuItem | 'line')[]
  align?: 'start' | 'end'
  side?: 'top' | 'bottom'
}

export function Menu({ trigger, items, align = 'end', side = 'bottom' }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align={align} side={side} sideOffset={6} collisionPadding={8}>
          {items.map((item, at) =>
            item === 'line' ? (
              <DropdownMenu.Separator key={at} className="menu-line" />
            ) : (
              <DropdownMenu.Item key={at} className={item.danger ? 'menu-item menu-danger' : 'menu-item'} onSelect={item.onSelect}>
                {item.icon}
                <span className="menu-label">{item.label}</span>
                {item.hint && <span className="menu-hint">{item.hint}</span>}
                {item.checked && <span className="menu-check" aria-hidden>✓</span>}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
