import { join } from "node:path";
import { temporaryDataFolder } from "./data-folder.mjs";
import { Failure } from "./failure.mjs";
import { findServers, type ServerKind, software } from "./find-servers.ts";
import { type ReachableServer, startNats, startRedis } from "./nats-and-redis.ts";
import { startPostgres } from "./postgres.ts";
import { say, withProgress } from "./progress.mjs";
import { isAnswering } from "./server-clients.ts";
import { stateFolder } from "./state-folder.ts";

export { removeDataFolder, temporaryDataFolder } from "./data-folder.mjs";
export { type ReachableServer, startNats, startPostgres, startRedis };

export type ServerUrls = Record<"DATABASE_URL" | "NATS_URL" | "REDIS_URL", string>;

const kinds = ["postgres", "nats", "redis"] as const;
const starters = { postgres: startPostgres, nats: startNats, redis: startRedis };

/**
 * The URLs of the three servers, by their variables: those that the environment names, else private ones, started side
 * by side, which end with this process. "start" keeps their data in `.pragma/`, "test" in a temporary folder.
 */
export async function ensureServers(profile: "start" | "test"): Promise<ServerUrls> {
  const given = await Promise.all(kinds.map(givenServer));
  const own = kinds.filter((_, index) => given[index] === undefined);
  await findServers(own);
  const home = profile === "start" || own.length === 0 ? stateFolder : temporaryDataFolder("test");
  const start = async (kind: ServerKind) => {
    const options = { dataFolder: join(home, kind), log: say, durable: profile === "start" };
    return (await withProgress(`Starting ${software[kind].name}`, () => starters[kind](options))).url;
  };
  const urls = kinds.map(async (kind, index) => [software[kind].variable, given[index] ?? (await start(kind))]);
  return Object.fromEntries(await Promise.all(urls));
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
