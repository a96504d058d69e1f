/**
 * The cleanup process: outlives its owner just long enough to clean up the resources that the owner leaves behind. Each
 * line of standard input replaces the list of resources. The end of the input means that the owner has ended, for any
 * reason, SIGKILL included.
 */
import { createInterface } from "node:readline";
import { cleanUpResources } from "./data-folder.mjs";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

/** @type {import("./process-cleanup.mjs").CleanupResource[]} */
let resources = [];
for await (const line of createInterface({ input: process.stdin })) resources = JSON.parse(line);
await cleanUpResources(resources);
