/**
 * The cleanup process: when its standard input ends, cleans up the resources that still exist, and exits. Each line of
 * the input replaces the list of resources. The owner, which is the process that started this one, ends the input
 * to start the cleanup. The input also ends when the owner ends for any reason, including SIGKILL.
 */
import { createInterface } from "node:readline";
import { cleanUpAll } from "./data-folder.mjs";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

/** @type {import("./process-cleanup.mjs").CleanupResource[]} */
let resources = [];
for await (const line of createInterface({ input: process.stdin })) resources = JSON.parse(line);
await cleanUpAll(resources);
