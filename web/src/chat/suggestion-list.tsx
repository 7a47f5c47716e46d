// The suggestions above the composer; the text area keeps the focus.

import type { Suggestion } from './suggestions'

interface SuggestionListProps {
  id: string
  suggestions: readonly Suggestion[]
  chosen: number
  onTake: (suggestion: Suggestion) => void
}

export function SuggestionList({ id, suggestions, chosen, onTake }: SuggestionListProps) {
  return (
    <ul className="suggestions" id={id} role="listbox">
      {suggestions.map((suggestion, at) => (
        // The text area keeps the focus; the keyboard chooses through it.
        <li
          key={suggestion.key}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === chosen}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(suggestion)}
        >
          <code>{suggestion.label}</code>
          <span>{suggestion.about}</span>
        </li>
      ))}
    </ul>
  )
}
