// codex-trust.js - says yes to every hook that Codex has not been told to trust yet, as its
// /hooks screen does: asks `codex app-server` what hooks there are, and has it write to
// config.toml that they were reviewed. Node's standard library only.
//
//	node codex-trust.js FOLDER COMMAND [ARG...]
'use strict';
const { spawn } = require('node:child_process');
const readline = require('node:readline');

const [folder, command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
let last = 0;

function ask(method, params) {
	const id = ++last;
	server.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
	return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

readline.createInterface({ input: server.stdout }).on('line', (line) => {
	const { id, result, error } = JSON.parse(line);
	const asked = waiting.get(id);
	waiting.delete(id);
	if (asked && error)
		asked.reject(new Error(error.message));
	else if (asked)
		asked.resolve(result);
});

async function hooks() {
	const { data } = await ask('hooks/list', { cwds: [folder] });
	return data.flatMap((entry) => entry.hooks);
}

async function trust() {
	await ask('initialize', { clientInfo: { name: 'e2e', version: '1' } });
	server.stdin.write('{"method":"initialized"}\n');
	const state = {};
	for (const hook of await hooks()) {
		console.log(`${hook.trustStatus}: ${hook.key}`);
		state[hook.key] = { trusted_hash: hook.currentHash };
	}
	await ask('config/batchWrite',
		{ edits: [{ keyPath: 'hooks.state', value: state, mergeStrategy: 'upsert' }] });
	const left = (await hooks()).filter((hook) => hook.trustStatus !== 'trusted');
	return left.length ? 1 : 0;
}

server.on('exit', (code) => process.exit(code || 1));
trust().then(process.exit, (error) => {
	console.error(error.message);
	process.exit(1);
});
