/**
 * The guard: a small process that outlives the one that started it, just long enough to end what that one left behind.
 * Each line of its standard input is the whole list of it. The end of the input means that the owner is gone, by
 * whatever cause, SIGKILL included.
 */
import { createInterface } from "node:readline";
import { endAll } from "./data-folder.mjs";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

/** @type {import("./guarded.mjs").Guarded[]} */
let guarded = [];
for await (const line of createInterface({ input: process.stdin })) guarded = JSON.parse(line);
await endAll(guarded);
