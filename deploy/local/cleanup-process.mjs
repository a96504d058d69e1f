/**
 * The cleanup process: after its owner has ended, cleans up the resources that still exist, and exits. Each line of
 * standard input replaces the list of resources. The input ends when the owner ends for any reason, including SIGKILL.
 */
import { createInterface } from "node:readline";
import { cleanUpProcessesContainersAndFolders } from "./data-folder.mjs";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

/** @type {import("./process-cleanup.mjs").CleanupResource[]} */
let resources = [];
for await (const line of createInterface({ input: process.stdin })) resources = JSON.parse(line);
await cleanUpProcessesContainersAndFolders(resources);
