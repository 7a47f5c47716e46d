// Buttons: with a text, or with an icon and a name that screen readers and tooltips show.

import { Tooltip } from 'radix-ui'
import type { ComponentProps, ReactNode } from 'react'

type Kind = 'plain' | 'primary' | 'quiet' | 'danger'

export function Button({ kind = 'plain', className = '', ...rest }: ComponentProps<'button'> & { kind?: Kind }) {
  return <button type="button" className={`button button-${kind} ${className}`} {...rest} />
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'aria-label'> {
  label: string
  size?: 'small' | 'normal'
  shortcut?: string
  children: ReactNode
}

export function IconButton({ label, size = 'normal', shortcut, className = '', children, ...rest }: IconButtonProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>
        <button type="button" aria-label={label} className={`icon-button icon-button-${size} ${className}`} {...rest}>
          {children}
        </button>
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content className="tooltip" sideOffset={6} collisionPadding={8}>
          {label}
          {shortcut && <kbd>{shortcut}</kbd>}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
