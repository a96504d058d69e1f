/**
 * `npm run bench`: what the product costs, each figure as a ratio to what is possible on the same machine in the same
 * minutes. `-- --only a,c` measures some rows, `--quick` shortly, `--profile` writes CPU profiles too.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endGuarded } from "../deploy/local/guarded.mjs";
import { explain, say, withProgress } from "../deploy/local/terminal.mjs";
import { fallSilent } from "./complain.ts";
import { type Lab, openLab } from "./lab.ts";
import { describeMachine } from "./machine.ts";
import { readOptions } from "./options.ts";
import { hottest } from "./profile.ts";
import { type Result, type Row, Skip } from "./row.ts";
import { rows } from "./rows.ts";
import { tableOf } from "./table.ts";

const results = join(import.meta.dirname, "results");

let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, async () => {
    isInterrupted = true;
    fallSilent();
    await endGuarded();
    process.exit(130);
  });

try {
  await main();
} catch (error) {
  if (isInterrupted) await new Promise(() => {});
  say(explain(error));
  process.exitCode = 1;
}
await endGuarded();

async function main(): Promise<void> {
  const { only, quick, profile } = readOptions(
    process.argv.slice(2),
    rows.map(({ id }) => id),
  );
  const profiles = profile ? join(results, "profiles") : undefined;
  mkdirSync(results, { recursive: true });
  const machine = [...describeMachine(), quick ? "quick: too short to judge by" : "full"];
  for (const line of machine) say(line);

  const lab = await withProgress("Starting servers", () => openLab({ isQuick: quick, profiles }));
  const outcomes: Result[] = [];
  try {
    for (const row of rows) {
      if (only !== undefined && !only.includes(row.id)) continue;
      outcomes.push(await measure(row, lab));
      keep(machine, outcomes);
    }
  } finally {
    await withProgress("Stopping", () => lab.close());
  }

  say(`\n${keep(machine, outcomes)}`);
  if (profiles) say(hottest(profiles));
}

/** Writes what has been measured so far: a run that is cut short has not been for nothing. @returns the table. */
function keep(machine: string[], outcomes: Result[]): string {
  const table = tableOf(outcomes.toSorted((a, b) => a.id.localeCompare(b.id)));
  writeFileSync(join(results, "latest.md"), `${machine.join("  \n")}\n\n${table}\n`);
  writeFileSync(join(results, "latest.json"), `${JSON.stringify({ machine, results: outcomes }, undefined, 2)}\n`);
  return table;
}

async function measure(row: Row, lab: Lab): Promise<Result> {
  const { id, title, limit } = row;
  try {
    const outcome = await withProgress(`Row ${id}`, (tell) => row.run(lab, tell));
    return { id, title, limit, ...outcome };
  } catch (error) {
    // What is measured now fails because its servers end; nothing may be started any more.
    if (isInterrupted) await new Promise(() => {});
    if (error instanceof Skip) return { id, title, limit, skipped: error.message };
    process.exitCode = 1;
    return { id, title, limit, failed: explain(error) };
  }
}
