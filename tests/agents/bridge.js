'use strict';
// Streamable HTTP on 127.0.0.1 in front of a server on standard input and output, a process a session:
//   node bridge.js PORT PROGRAM [ARGUMENT...]
// The conformance suite speaks HTTP alone. Nothing is added to a message or taken from one.
const { spawn } = require('child_process');
const { randomUUID } = require('crypto');
const http = require('http');
const readline = require('readline');

const [port, program, ...words] = process.argv.slice(2);
const sessions = new Map();

function start() {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const session = { child, waiting: [] }; // one answer a request, in their order
  readline.createInterface({ input: child.stdout }).on('line', (line) => session.waiting.shift()(line));
  return session;
}

http.createServer((request, response) => {
  const end = (status, text = '', headers = {}) => response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text);
  const host = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
  const origin = request.headers.origin;
  if (!host.test(request.headers.host) || (origin && !host.test(origin.replace(/^https?:\/\//, '')))) return end(403);
  const id = request.headers['mcp-session-id'];
  if (request.method === 'DELETE') {
    if (sessions.has(id)) sessions.get(id).child.stdin.end();
    sessions.delete(id);
    return end(200);
  }
  if (request.method !== 'POST') return end(405);
  let body = '';
  request.on('data', (part) => { body += part; });
  request.on('end', () => {
    const key = id || randomUUID();
    if (!sessions.has(key)) sessions.set(key, start());
    const session = sessions.get(key);
    const message = JSON.parse(body);
    session.child.stdin.write(`${JSON.stringify(message)}\n`);
    if (message.id === undefined || message.method === undefined) return end(202);
    session.waiting.push((line) => end(200, line, { 'Mcp-Session-Id': key }));
  });
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
