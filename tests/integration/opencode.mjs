// opencode.mjs - tests of host/clients/opencode/pawl.js; see opencode.sh.
import assert from 'node:assert';
import fs from 'node:fs';

const [work, pawl] = process.argv.slice(2);
const config = `${work}/pawl.json`;
const { Pawl } = await import(`${work}/pawl.mjs`);
let n = 0;

async function test(name, body) {
	n++;
	try {
		await body();
		console.log(`ok ${n} - ${name}`);
	} catch (error) {
		console.log(`not ok ${n} - ${name}`);
		console.log(String(error.stack).replace(/^/gm, '# '));
	}
}

function chain(...entries) {
	fs.rmSync(`${work}/audit_log.jsonl`, { force: true });
	fs.writeFileSync(config, JSON.stringify({ plugin_dir: `${work}/plugins`,
		state_dir: `${work}/state`, chain: entries,
		observe: [{ plugin: 'audit', options: { path: `${work}/audit.db` } }] }));
}

const usual = { command: [pawl, 'hook', 'pawl', '--config', config] };
const load = (options = usual) => Pawl({ directory: '/w' }, options);
const input = (tool = 'bash') => ({ tool, sessionID: 'ses_1', callID: 'call_1' });

// The arguments that the tool would run with.
async function before(hooks, args, tool) {
	const output = { args };
	await hooks['tool.execute.before'](input(tool), output);
	assert.strictEqual(output.args, args, 'the object is the same');
	return args;
}

function fake(name, text) {
	fs.writeFileSync(`${work}/${name}`, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
	return [`${work}/${name}`];
}

const rejects = (hooks, pattern, tool) =>
	assert.rejects(before(hooks, { command: 'ls' }, tool), pattern);

await test('an allowed call keeps its arguments', async () => {
	chain();
	assert.deepStrictEqual(await before(await load(), { command: 'ls' }), { command: 'ls' });
});
await test('a denied call throws the reason', async () => {
	chain({ plugin: 'no' });
	await rejects(await load(), /BLOCKED: no means no/);
});
await test('a call that needs approval throws', async () => {
	chain({ plugin: 'person' });
	await rejects(await load(), /approve.*a person should look/);
});
await test('a substituted call throws the result', async () => {
	chain({ plugin: 'instead' });
	await rejects(await load(), /did not run.*cached/);
});
await test('a rewrite changes the object in place', async () => {
	chain({ plugin: 'rewrite', options: { pointer: '/command', set: 'id' } },
		{ plugin: 'rewrite', name: 'b', options: { pointer: '/description', remove: true } },
		{ plugin: 'rewrite', name: 'c', options: { pointer: '/timeout', set: 7 } });
	assert.deepStrictEqual(await before(await load(), { command: 'ls', description: 'x' }),
		{ command: 'id', timeout: 7 });
});
await test('filePath is file_path for rules, and filePath again', async () => {
	chain({ plugin: 'rewrite', options: { pointer: '/file_path', set: '/b' } });
	assert.deepStrictEqual(await before(await load(), { filePath: '/a', content: 'x' }, 'write'),
		{ filePath: '/b', content: 'x' });
});
await test('a crash and a hang of a policy throw', async () => {
	chain({ plugin: 'sigsegv' });
	await rejects(await load(), /crashed|policy error/);
	chain({ plugin: 'endless-loop', deadline: '300ms' });
	await rejects(await load(), /deadline exceeded/);
});
await test('an MCP tool is one to rules, however its name can be read', async () => {
	chain({ plugin: 'no', match: { tool: 'mcp:my.server/do_it' } });
	const hooks = await load();
	await before(hooks, {}, 'my_server_do_it');
	await hooks.config({ mcp: { 'my.server': {} } });
	await rejects(hooks, /no means no/, 'my_server_do_it');
	await before(hooks, {}, 'bash');
});
await test('a config that is broken throws', async () => {
	fs.writeFileSync(config, '{');
	await rejects(await load(), /configuration/);
});
await test('a program that is not there throws', async () => {
	await rejects(await load({ command: [`${work}/none`] }), /does not answer/);
});
await test('the installed path is used without options', async () => {
	const line = /const installed = (\[.*\])/.exec(fs.readFileSync(`${work}/pawl.mjs`, 'utf8'));
	assert.match(JSON.parse(line[1])[0], /^\/.*\/pawl$/);
});
await test('options that cannot be read throw at each call', async () => {
	await rejects(await load({ command: 'pawl' }), /no list/);
	await rejects(await load({ command: [] }), /no list/);
	await rejects(await load({ ...usual, timeout: 0 }), /milliseconds/);
});
await test('a program that hangs throws', async () => {
	await rejects(await load({ command: fake('hang', 'exec sleep 60'), timeout: 300 }),
		/does not answer/);
});
const allow = '{"tool_use_id":"call_1","decision":"allow","modified":false}';
const wrong = {
	'silence': 'exit 0',
	'silence and 1': 'exit 1',
	'death': 'kill -9 $$',
	'no JSON': 'echo allow',
	'two values': `echo '${allow} ${allow}'`,
	'null': 'echo null',
	'a string': `echo '"allow"'`,
	'no decision': 'echo {}',
	'an unknown decision': `echo '{"tool_use_id":"call_1","decision":"Allow"}'`,
	'allow with 1': `echo '${allow}'; exit 1`,
	'allow with 2': `echo '${allow}'; exit 2`,
	'allow for another call': `echo '${allow.replace('call_1', 'call_2')}'`,
	'a rewrite to an array': `echo '${allow.replace('false', 'true,"tool_input":[]')}'`,
	'a rewrite to nothing': `echo '${allow.replace('false', 'true')}'`,
	'a deny with 0': `echo '${allow.replace('allow', 'deny')}'`,
};
for (const [name, text] of Object.entries(wrong))
	await test(`${name} throws`, async () => {
		await rejects(await load({ command: fake('wrong', `cat >/dev/null; ${text}`) }), Error);
	});
await test('arguments that are no JSON throw', async () => {
	chain();
	const args = { n: 1n };
	await assert.rejects(before(await load(), args));
});
await test('a member called __proto__ is one', async () => {
	const text = '{"tool_use_id":"call_1","decision":"allow","modified":true,' +
		'"tool_input":{"__proto__":{"a":1}}}';
	const hooks = await load({ command: fake('wrong', `cat >/dev/null; echo '${text}'`) });
	const args = await before(hooks, { command: 'ls' });
	assert.deepStrictEqual(Object.keys(args), ['__proto__']);
	assert.strictEqual(Object.getPrototypeOf(args), Object.prototype);
});
await test('a result lands in the audit under the same id', async () => {
	chain();
	const hooks = await load();
	await before(hooks, { command: 'ls' });
	await hooks['tool.execute.after']({ ...input(), args: { command: 'ls' } },
		{ title: 't', output: 'seen', metadata: {} });
	const lines = fs.readFileSync(`${work}/audit_log.jsonl`, 'utf8').split('\n');
	for (const type of ['call.allowed', 'call.completed'])
		assert.ok(lines.some((l) => l.includes(`"${type}"`) && l.includes('"call":"call_1"')), type);
});
await test('a result that cannot be reported throws nothing', async () => {
	const error = console.error;
	console.error = () => {};
	for (const command of [[`${work}/none`], fake('wrong', 'exit 1'), fake('hang', 'exec sleep 60')])
		await (await load({ command, timeout: 300 }))['tool.execute.after'](input(), { output: 'x' });
	await (await load({ command: 1 }))['tool.execute.after'](input(), undefined);
	console.error = error;
});
console.log(`1..${n}`);
