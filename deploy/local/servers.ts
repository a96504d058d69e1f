import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDataFolder } from "./data-folder.mjs";
import { Failure } from "./failure.mjs";
import { findServers, type ServerKind, software } from "./find-servers.ts";
import { startNats, startRedis } from "./nats-and-redis.ts";
import { startPostgres } from "./postgres.ts";
import { withProgress } from "./progress.mjs";
import { isAnswering } from "./server-clients.ts";
import { stateFolder } from "./state-folder.ts";

const kinds = ["postgres", "nats", "redis"] as const;
const starters = { postgres: startPostgres, nats: startNats, redis: startRedis };

/**
 * The URLs of the three servers, by their variables: those that the environment names, else private ones, started side
 * by side, which end with this process. "start" keeps their data in `.pragma/`, "test" in a temporary folder.
 */
export async function ensureServers({
  profile,
  log,
}: {
  profile: "start" | "test";
  log: (line: string) => void;
}): Promise<Record<string, string>> {
  const given = await Promise.all(kinds.map(givenServer));
  const own = kinds.filter((_, index) => given[index] === undefined);
  await findServers(own);
  const home = profile === "start" || own.length === 0 ? stateFolder : temporaryDataFolder("test");
  mkdirSync(home, { recursive: true });
  const urls = await Promise.all(
    kinds.map(async (kind, index) => {
      const url =
        given[index] ?? (await start(kind, { dataFolder: join(home, kind), log, durable: profile === "start" }));
      return [software[kind].variable, url];
    }),
  );
  return Object.fromEntries(urls);
}

async function start(kind: ServerKind, options: { dataFolder: string; log: (line: string) => void; durable: boolean }) {
  return (await withProgress(`Starting ${software[kind].name}`, () => starters[kind](options))).url;
}

/**
 * The URL of the server of this kind that the environment names, run by somebody else: it is neither started nor stopped
 * here. Undefined when the environment names none.
 *
 * @throws Failure when it does not answer.
 */
export async function givenServer(kind: ServerKind): Promise<string | undefined> {
  const { name, variable } = software[kind];
  const given = process.env[variable];
  if (given === undefined || given === "") return undefined;
  const answers = given.split(",").map((part) => {
    const url = part.includes("://") ? part.trim() : `${kind}://${part.trim()}`;
    if (!URL.canParse(url) || new URL(url).hostname === "") throw new Failure(`${variable} is not a URL with a host.`);
    return isAnswering[kind](url);
  });
  if ((await Promise.all(answers)).includes(true)) return given;
  const needs = kind === "nats" ? " (with JetStream)" : "";
  throw new Failure(`${name}${needs} does not answer at the address in ${variable}. Start it, or unset ${variable}.`);
}
