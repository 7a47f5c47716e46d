// Runs before every test file: React must know that it is being tested.

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })
