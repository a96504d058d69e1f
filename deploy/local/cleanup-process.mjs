/**
 * The guard: a small process that outlives the one that started it, just long enough to end what that one left behind.
 * Each line of its standard input is the whole list of it. The end of the input means that the owner is gone, by
 * whatever cause, SIGKILL included.
 */
import { createInterface } from "node:readline";
import { cleanUpResources } from "./data-folder.mjs";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

/** @type {import("./process-cleanup.mjs").CleanupResource[]} */
let resources = [];
for await (const line of createInterface({ input: process.stdin })) resources = JSON.parse(line);
await cleanUpResources(resources);
