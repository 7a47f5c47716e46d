// Resumes recorded streams with the published `ai` packages and compares every final message with the stored one.
//
// Input: one JSON object per line on stdin, written by crates/server/tests/resume_everywhere.rs:
//   { name, profile, posts: [bytes, bytes], post, prefix, whole, resumed, inContinuation, history, approval, expected }
// `posts` are the whole streams of the two requests of one run: up to its question, and after the answer. A client had
// read `prefix` of stream `post` when the connection broke, and came back: `resumed` is what it got then (null: 204).
// Everything goes through the package's own `AbstractChat` + `DefaultChatTransport`, over SSE bytes, with a fake fetch:
//   same page    the stream breaks with a network error, then `resumeStream()`; a replay by the stock transport, the rest
//                after a number by one that sends `Last-Event-ID` (`resumeStreamIsReplay: false`)
//   reloaded     a new chat with the history of that moment, then `resumeStream()`
// Then the question is answered, if it still waits, and the final message is compared.
//
// Known differences, made equal here and nowhere else:
//   1. fields that are `undefined` in memory do not exist in JSON;
//   2. the common profile cannot say who answered a question, the history can.
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import * as v7 from 'ai';
import * as v6 from 'ai-v6';

const clients = { v7, v6 };
const readBy = { v7: ['v7'], common: ['v7', 'v6'] };
const shownDifferences = 5;
const turnsBeforeCut = 3;
const headers = { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' };

function canonical(message, profile) {
  const plain = JSON.parse(JSON.stringify(message));
  if (profile === 'common') {
    for (const part of plain.parts) {
      if (part.state === 'output-available' && part.approval) delete part.approval.approved;
    }
  }
  return plain;
}

const whole = bytes => new Response(bytes, { status: 200, headers });

// The bytes, and when they have been taken in, the error with which a browser reports a lost connection.
function broken(bytes) {
  const pieces = [new TextEncoder().encode(bytes)];
  const body = new ReadableStream({
    async pull(controller) {
      const piece = pieces.shift();
      if (piece) return controller.enqueue(piece);
      for (let turn = 0; turn < turnsBeforeCut; turn += 1) await new Promise(done => setImmediate(done));
      controller.error(new TypeError('network error'));
    },
  });
  return new Response(body, { status: 200, headers });
}

function newChat(version, messages, responses, isReplay) {
  const ai = clients[version];
  const state = {
    status: 'ready',
    error: undefined,
    messages,
    pushMessage(message) { this.messages = [...this.messages, message]; },
    popMessage() { this.messages = this.messages.slice(0, -1); },
    replaceMessage(place, message) { this.messages = this.messages.with(place, structuredClone(message)); },
    snapshot: structuredClone,
  };
  class Chat extends ai.AbstractChat {
    constructor(options) { super({ ...options, state }); }
  }
  const errors = [];
  const fetch = async (url, { method }) => {
    const next = responses.shift();
    if (!next) throw new Error(`a request too many: ${method} ${url}`);
    if (next.method !== method) throw new Error(`${method} ${url} instead of ${next.method}`);
    return next.response;
  };
  const transport = new ai.DefaultChatTransport({
    api: 'http://client.test/api/chat',
    fetch,
    ...(isReplay ? {} : { resumeStreamIsReplay: false }),
  });
  const chat = new Chat({ id: 'chat', transport, onError: error => errors.push(error), generateId: () => 'made-here' });
  return { chat, errors };
}

const post = response => ({ method: 'POST', response });
const get = bytes => ({ method: 'GET', response: bytes === null ? new Response(null, { status: 204 }) : whole(bytes) });

async function answer(chat, approval) {
  await chat.addToolApprovalResponse({ id: approval, approved: true });
  await chat.sendMessage();
}

function finalMessage({ chat, errors }, responses, profile, breaks) {
  const unexpected = errors.filter(error => !(error instanceof TypeError && error.message === 'network error'));
  if (unexpected.length > 0) throw unexpected[0];
  if (errors.length !== breaks) throw new Error(`${errors.length} errors instead of ${breaks}`);
  if (responses.length > 0) throw new Error(`${responses.length} responses were never asked for`);
  const answers = chat.messages.filter(message => message.role === 'assistant');
  if (answers.length !== 1) throw new Error(`${answers.length} assistant messages instead of one`);
  return canonical(answers[0], profile);
}

// The page stays open, the connection breaks.
async function samePage(version, test) {
  const responses = [];
  if (test.post === 1) responses.push(post(whole(test.posts[0])));
  responses.push(post(broken(test.prefix)), get(test.resumed));
  if (!test.inContinuation) responses.push(post(whole(test.posts[1])));
  const client = newChat(version, [], responses, test.whole);
  const { chat } = client;
  await chat.sendMessage({ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] });
  if (test.post === 1) await answer(chat, test.approval);
  await chat.resumeStream();
  if (!test.inContinuation) await answer(chat, test.approval);
  return finalMessage(client, responses, test.profile, 1);
}

// The page is loaded anew: what the server keeps, then what is on.
async function reloaded(version, test) {
  const responses = [get(test.resumed)];
  if (!test.inContinuation) responses.push(post(whole(test.posts[1])));
  const client = newChat(version, structuredClone(test.history), responses, true);
  await client.chat.resumeStream();
  if (!test.inContinuation) await answer(client.chat, test.approval);
  return finalMessage(client, responses, test.profile, 0);
}

// Where two values part, and what stands there.
function firstDifference(path, seen, expected) {
  const isTree = value => value !== null && typeof value === 'object';
  if (isTree(seen) && isTree(expected) && Array.isArray(seen) === Array.isArray(expected)) {
    for (const key of new Set([...Object.keys(seen), ...Object.keys(expected)])) {
      if (!isDeepStrictEqual(seen[key], expected[key])) {
        return firstDifference(`${path}[${JSON.stringify(key)}]`, seen[key], expected[key]);
      }
    }
  }
  return `${path}\n  the client has ${JSON.stringify(seen)}\n  the server has ${JSON.stringify(expected)}`;
}

const counts = { resumes: 0, differences: 0 };
const ways = new Map();

async function compare(test, version, way, make) {
  counts.resumes += 1;
  const key = `${version} client, ${test.profile} profile, ${way}`;
  ways.set(key, (ways.get(key) ?? 0) + 1);
  let problem;
  try {
    const seen = await make(version, test);
    const expected = canonical(test.expected, test.profile);
    if (isDeepStrictEqual(seen, expected)) return;
    problem = firstDifference('message', seen, expected);
  } catch (error) {
    problem = String(error.stack ?? error);
  }
  counts.differences += 1;
  if (counts.differences <= shownDifferences) console.log(`DIFFERENCE ${test.name}, ${key}\n${problem}\n`);
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const test = JSON.parse(line);
  for (const version of readBy[test.profile]) {
    const way = test.whole ? 'same page, whole replay' : 'same page, after Last-Event-ID';
    await compare(test, version, way, samePage);
    if (test.whole) await compare(test, version, 'page reloaded', reloaded);
  }
}

for (const [way, count] of [...ways].sort()) console.log(`  ${way.padEnd(60)}${String(count).padStart(6)}`);
console.log(`${counts.resumes} resumes, ${counts.differences} differences`);
process.exit(counts.differences === 0 && counts.resumes > 0 ? 0 : 1);
