// A mistake while drawing stays where it happened: the rest of the page lives on.

import { Component, type ReactNode } from 'react'

interface Props {
  /** Drawn instead; `again` tries once more. */
  fallback: (error: Error, again: () => void) => ReactNode
  /** When this changes, what failed is drawn again. */
  watch?: unknown
  children: ReactNode
}

interface State {
  error: Error | null
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null }

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override componentDidUpdate(before: Props) {
    if (this.state.error && before.watch !== this.props.watch) this.setState({ error: null })
  }

  override render() {
    const { error } = this.state
    return error ? this.props.fallback(error, () => this.setState({ error: null })) : this.props.children
  }
}
