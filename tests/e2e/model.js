// model.js - a language model that says what a file tells it to, on loopback, for as long as
// one command runs. It speaks what the agent clients speak to theirs: the Responses API,
// Gemini's streamGenerateContent, Chat Completions, Anthropic's Messages. Node's standard
// library only.
//
//	node model.js PORT TURNS TOLD COMMAND [ARG...]
//
// Each line of TURNS is a tool call, "NAME ARGUMENTS" with the arguments as JSON text that
// is sent as it stands; "SPACE/NAME" is a tool in a namespace. The turn that a request gets
// is the number of results in it, so that a retry gets the same; after the last one the
// model is done. TOLD gets the results that the last request told it, a line each; each
// request is a line on stdout.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const { spawn } = require('node:child_process');

const [port, turnsFile, toldFile, command, ...args] = process.argv.slice(2);
const turns = fs.readFileSync(turnsFile, 'utf8').split('\n').filter((line) => line !== '');

// The next turn after these results; null when the model is done.
function turnAfter(results) {
	const n = results.length;
	fs.writeFileSync(toldFile, results.map((result) => `${JSON.stringify(result)}\n`).join(''));
	if (n >= turns.length)
		return null;
	const [, space, name, text] = /^(?:(\S+)\/)?(\S+) (.*)$/.exec(turns[n]);
	return { id: `call_${n}`, space, name, text };
}

const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1,
	output_tokens_details: null, total_tokens: 2 };

function responses(body) {
	const turn = turnAfter(body.input.filter((item) => /_output$/.test(item.type)));
	const item = turn ?
		{ type: 'function_call', id: `fc_${turn.id}`, call_id: turn.id, name: turn.name,
			namespace: turn.space, arguments: turn.text } :
		{ type: 'message', id: 'm', role: 'assistant',
			content: [{ type: 'output_text', text: 'done', annotations: [] }] };
	const events = [
		{ type: 'response.created', response: { id: 'r' } },
		{ type: 'response.output_item.done', output_index: 0, item },
		{ type: 'response.completed', response: { id: 'r', usage } },
	];
	return events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join('');
}

// The answer as text, for the arguments to keep their bytes.
function gemini(body) {
	const parts = body.contents.flatMap((content) => content.parts || []);
	const turn = body.tools && turnAfter(parts.filter((part) => part.functionResponse));
	const part = turn ?
		`{"functionCall":{"name":${JSON.stringify(turn.name)},"args":${turn.text}}}` :
		'{"text":"done"}';
	return `{"candidates":[{"content":{"role":"model","parts":[${part}]},` +
		'"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,' +
		'"candidatesTokenCount":1,"totalTokenCount":2}}';
}

function chat(body) {
	const turn = body.tools &&
		turnAfter(body.messages.filter((message) => message.role === 'tool'));
	const delta = { role: 'assistant', content: turn ? null : 'done' };
	if (turn)
		delta.tool_calls = [{ index: 0, id: turn.id, type: 'function',
			function: { name: turn.name, arguments: turn.text } }];
	const chunk = (choice) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk',
		created: 1, model: body.model, choices: [{ index: 0, ...choice }] })}\n\n`;
	return chunk({ delta, finish_reason: null }) +
		chunk({ delta: {}, finish_reason: turn ? 'tool_calls' : 'stop' }) + 'data: [DONE]\n\n';
}

function messages(body) {
	const blocks = body.messages.flatMap((message) =>
		Array.isArray(message.content) ? message.content : []);
	const turn = body.tools && body.tools.length > 0 &&
		turnAfter(blocks.filter((block) => block.type === 'tool_result'));
	const block = turn ? { type: 'tool_use', id: `toolu_${turn.id}`, name: turn.name, input: {} } :
		{ type: 'text', text: '' };
	const delta = turn ? { type: 'input_json_delta', partial_json: turn.text } :
		{ type: 'text_delta', text: 'done' };
	const tokens = { input_tokens: 1, output_tokens: 1 };
	const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body.model,
		content: [], stop_reason: null, stop_sequence: null, usage: tokens };
	const stop = { stop_reason: turn ? 'tool_use' : 'end_turn', stop_sequence: null };
	if (!body.stream)
		return JSON.stringify({ ...message, ...stop, content: [{ type: 'text', text: 'done' }] });
	const events = [
		{ type: 'message_start', message },
		{ type: 'content_block_start', index: 0, content_block: block },
		{ type: 'content_block_delta', index: 0, delta },
		{ type: 'content_block_stop', index: 0 },
		{ type: 'message_delta', delta: stop, usage: tokens },
		{ type: 'message_stop' },
	];
	return events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join('');
}

function answer(url, body) {
	if (/\/responses$/.test(url))
		return ['text/event-stream', responses(body)];
	if (/:streamGenerateContent/.test(url))
		return ['text/event-stream', `data: ${gemini(body)}\n\n`];
	if (/:generateContent/.test(url))
		return ['application/json', gemini(body)];
	if (/\/chat\/completions$/.test(url))
		return ['text/event-stream', chat(body)];
	if (/\/messages$/.test(url))
		return [body.stream ? 'text/event-stream' : 'application/json', messages(body)];
	return null;
}

function serve(request, response) {
	const chunks = [];
	request.on('data', (chunk) => chunks.push(chunk));
	request.on('end', () => {
		console.log(`model: ${request.method} ${request.url}`);
		const found = request.method === 'POST' &&
			answer(request.url.split('?')[0], JSON.parse(Buffer.concat(chunks)));
		response.writeHead(found ? 200 : 404, { 'content-type': found ? found[0] : 'text/plain' });
		response.end(found ? found[1] : 'not here');
	});
}

http.createServer(serve).listen(Number(port), '127.0.0.1', () => {
	const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
	child.on('error', (error) => {
		console.error(error.message);
		process.exit(127);
	});
	child.on('exit', (code) => process.exit(code === null ? 128 : code));
});
