// mcp.js - an MCP server on stdio with one tool, `echo`, that writes the line of the call as
// it came, byte for byte, to the file it is given. Node's standard library only.
//
//	node mcp.js FILE
'use strict';
const fs = require('node:fs');
const readline = require('node:readline');

const file = process.argv[2];
const tool = { name: 'echo', description: 'writes its arguments down',
	inputSchema: { type: 'object', properties: { n: {} }, additionalProperties: true } };

function result(message, line) {
	switch (message.method) {
	case 'initialize':
		return { protocolVersion: message.params.protocolVersion,
			capabilities: { tools: {} }, serverInfo: { name: 'cap', version: '1' } };
	case 'tools/list':
		return { tools: [tool] };
	case 'tools/call':
		fs.appendFileSync(file, `${line}\n`);
		return { content: [{ type: 'text', text: 'written down' }], isError: false };
	case 'ping':
		return {};
	default:
		return undefined;
	}
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
	const message = JSON.parse(line);
	if (message.id === undefined)
		return;
	const answer = { jsonrpc: '2.0', id: message.id };
	answer.result = result(message, line);
	if (answer.result === undefined)
		answer.error = { code: -32601, message: 'not here' };
	process.stdout.write(`${JSON.stringify(answer)}\n`);
});
