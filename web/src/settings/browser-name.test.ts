import { expect, test } from 'vitest'
import { browserName } from './browser-name'

test('browsers are called by their names', () => {
  const chrome = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36'
  expect(browserName(chrome)).toBe('Chrome, Windows')
  expect(browserName(`${chrome} Edg/140.0`)).toBe('Edge, Windows')
  expect(browserName('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0')).toBe('Firefox, Linux')
  expect(browserName('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile/15E148 Safari/604.1')).toBe('Safari, iOS')
  expect(browserName('curl/8.9')).toBe('curl/8.9')
  expect(browserName('')).toBe('')
})
