// Folds generated chunk streams with the published `ai` package and compares the result with the server's own fold.
//
// Input: one JSON object per line on stdin, written by crates/protocol/tests/fold/differential.rs:
//   { seed, kinds, allKinds, streams: [{ profile, chunks, expected }], chat?: { turns: [{ answers, chunks }], expected } }
//   { refused: chunks }: a stream whose last chunk, and no other, the client must refuse, as we do
// Every stream is folded by the package's `readUIMessageStream`: profile "v7" by ai 7, "common" by ai 7 and ai 6. A case
// with a `chat` also goes through `AbstractChat` + `DefaultChatTransport`, over SSE, with the client's own answers.
//
// Known differences between the releases, made equal here and nowhere else:
//   1. fields that are `undefined` in memory do not exist in JSON;
//   2. ai 6 puts the input of a refused tool call into `rawInput`, ai 7 and we into `input`.
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import * as v7 from 'ai';
import * as v6 from 'ai-v6';

const clients = { v7, v6 };
const foldedBy = { v7: ['v7'], common: ['v7', 'v6'] };
const mustBeCommon = ['approvals', 'errors', 'cancels', 'parallel tools', 'reasoning'];
const leastShare = 10;
const shownDifferences = 5;

const schemas = Object.fromEntries(
  Object.entries(clients).map(([version, ai]) => [version, ai.asSchema(ai.uiMessageChunkSchema)]),
);

function canonical(message, version) {
  const plain = JSON.parse(JSON.stringify(message));
  if (version === 'v6') {
    for (const part of plain.parts) {
      if (part.state === 'output-error' && part.input === undefined && part.rawInput !== undefined) {
        part.input = part.rawInput;
        delete part.rawInput;
      }
    }
  }
  return plain;
}

// The package's own reducer. `start-step` and `error` change the state without showing a new snapshot, hence the
// empty metadata at the end: it changes nothing and makes the client show what it has.
async function fold(version, chunks) {
  for (const chunk of chunks) {
    const checked = await schemas[version].validate(chunk);
    if (!checked.success) throw new Error(`the client's schema refuses ${JSON.stringify(chunk)}`);
  }
  const said = chunks.filter(chunk => chunk.type === 'error').map(chunk => chunk.errorText);
  const heard = [];
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.enqueue({ type: 'message-metadata', messageMetadata: {} });
      controller.close();
    },
  });
  let message;
  for await (const snapshot of clients[version].readUIMessageStream({ stream, onError: error => heard.push(error) })) {
    message = snapshot;
  }
  const unexpected = heard.filter(error => !said.includes(error.message));
  if (unexpected.length > 0) throw unexpected[0];
  return canonical(message, version);
}

function newChat(version, id, responses) {
  const ai = clients[version];
  const state = {
    status: 'ready',
    error: undefined,
    messages: [],
    pushMessage(message) { this.messages = [...this.messages, message]; },
    popMessage() { this.messages = this.messages.slice(0, -1); },
    replaceMessage(place, message) { this.messages = this.messages.with(place, structuredClone(message)); },
    snapshot: structuredClone,
  };
  class Chat extends ai.AbstractChat {
    constructor(options) { super({ ...options, state }); }
  }
  const errors = [];
  const fetch = async () => {
    const events = responses.shift().map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    const headers = { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' };
    return new Response(`: open\n\n${events}data: [DONE]\n\n`, { status: 200, headers });
  };
  const transport = new ai.DefaultChatTransport({ api: 'http://client.test/api/chat', fetch });
  return { chat: new Chat({ id, transport, onError: error => errors.push(error) }), errors };
}

// A whole conversation as a browser has it: send, answer what is asked, send again.
async function converse(version, id, turns) {
  const { chat, errors } = newChat(version, id, turns.map(turn => turn.chunks));
  const said = turns.flatMap(turn => turn.chunks.filter(chunk => chunk.type === 'error').map(chunk => chunk.errorText));
  for (const [place, turn] of turns.entries()) {
    for (const answer of turn.answers) {
      if (answer.kind === 'approval') {
        await chat.addToolApprovalResponse({ id: answer.id, approved: answer.approved, reason: answer.reason ?? undefined });
      } else {
        const { kind, toolCallId, output, errorText } = answer;
        await chat.addToolOutput({ tool: 'any', toolCallId, ...(kind === 'output' ? { output } : { state: kind, errorText }) });
      }
    }
    await (place === 0 ? chat.sendMessage({ text: 'go' }) : chat.sendMessage());
  }
  const unexpected = errors.filter(error => !said.includes(error.message));
  if (unexpected.length > 0) throw unexpected[0];
  const answers = chat.messages.filter(message => message.role === 'assistant');
  if (answers.length !== 1) throw new Error(`${answers.length} assistant messages instead of one`);
  return canonical(answers[0], version);
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
  return `${path}\n  the client has ${JSON.stringify(seen)}\n  we have        ${JSON.stringify(expected)}`;
}

const counts = { cases: 0, folds: 0, chats: 0, refused: 0, differences: 0 };
const mix = new Map();

async function compare(what, expected, make) {
  let problem;
  try {
    const seen = await make();
    if (isDeepStrictEqual(seen, expected)) return;
    problem = firstDifference('message', seen, expected);
  } catch (error) {
    problem = String(error.stack ?? error);
  }
  counts.differences += 1;
  if (counts.differences <= shownDifferences) console.log(`DIFFERENCE ${what}\n${problem}\n`);
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { seed, kinds, allKinds, streams, chat, refused } = JSON.parse(line);
  if (refused) {
    for (const version of Object.keys(clients)) {
      counts.refused += 1;
      const accepts = chunks => fold(version, chunks).then(() => true, () => false);
      const seen = async () => [await accepts(refused.slice(0, -1)), await accepts(refused)];
      await compare(`refused ${JSON.stringify(refused)}, client ${version}`, [true, false], seen);
    }
    continue;
  }
  counts.cases += 1;
  for (const kind of allKinds) mix.set(kind, (mix.get(kind) ?? 0) + (kinds.includes(kind) ? 1 : 0));
  for (const { profile, chunks, expected } of streams) {
    for (const version of foldedBy[profile]) {
      counts.folds += 1;
      await compare(`seed ${seed}, profile ${profile}, client ${version}`, expected, () => fold(version, chunks));
    }
  }
  if (chat) {
    for (const version of Object.keys(clients)) {
      counts.chats += 1;
      await compare(`seed ${seed}, chat, client ${version}`, chat.expected, () => converse(version, `chat-${seed}`, chat.turns));
    }
  }
}

console.log(`${counts.cases} generated streams, of which contain:`);
let tooRare = 0;
for (const [kind, count] of [...mix].sort((a, b) => b[1] - a[1])) {
  const share = (100 * count) / counts.cases;
  const rare = mustBeCommon.includes(kind) && !(share >= leastShare);
  if (rare) tooRare += 1;
  console.log(`  ${kind.padEnd(16)}${String(count).padStart(7)}  ${share.toFixed(1).padStart(5)} %${rare ? `  TOO RARE, wanted ${leastShare} %` : ''}`);
}
console.log(`folds by the package's reducer: ${counts.folds}; conversations through its chat class: ${counts.chats}; broken streams: ${counts.refused}`);
console.log(`${counts.folds + counts.chats + counts.refused} compared, ${counts.differences} differences`);
process.exit(counts.differences === 0 && tooRare === 0 && counts.cases > 0 ? 0 : 1);
