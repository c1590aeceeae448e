#!/usr/bin/env node
// Runs the program out of the package for this system. Hooks and services, as `graphiti setup` and
// `graphiti service install` write them, run it without this file.
"use strict";

const { spawn } = require("node:child_process");

const suffix = process.platform === "win32" ? ".exe" : "";
const file = `@graphitid/${process.platform}-${process.arch}/bin/@PROGRAM@${suffix}`;
let program;
try {
    program = require.resolve(file);
} catch {
    console.error(`@PROGRAM@: ${file} is not installed: this system is not supported, or npm was told to omit optional dependencies`);
    process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
    console.error(`@PROGRAM@: cannot run ${program}: ${error.message}`);
    process.exit(1);
});
// Ctrl-C reaches the program by itself; what is sent to this process alone is passed on.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
    if (signal) {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
    } else {
        process.exit(code);
    }
});
