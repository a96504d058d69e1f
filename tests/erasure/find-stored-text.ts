import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { decompressDayText } from "@pragma/reporting/days/day-texts";
import { decompressV2OrderSync } from "@pragma/reporting/documents/v2-order-compression";
import { commonServiceConfigSchema } from "@pragma/runtime/config/runtime-config";
import { buildEventStreamNames } from "@pragma/runtime/messaging/event-streams";
import { createEncryption } from "@pragma/runtime/security/encryption";
import type { IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { Redis } from "ioredis";
import postgres from "postgres";

interface SearchedInstallation extends Pick<IsolatedTestEnvironment, "namespace" | "variables"> {
  logFolder: string;
}

/** Where a text was found. */
export interface TextLocation {
  server: "PostgreSQL" | "object store" | "NATS" | "Redis" | "log";
  /** The column (`reporting.orders.v1`), or the name of the object, stream, key or file. */
  name: string;
}

/**
 * Returns all places of an installation that contain one of these texts, each once: columns of all tables, stored
 * objects, messages of the event streams, Redis and log files. Decompresses and decrypts what it reads. Adds the texts
 * that it finds to `foundTexts`.
 */
export async function findStoredTexts(
  installation: SearchedInstallation,
  texts: readonly string[],
  foundTexts = new Set<string>(),
): Promise<TextLocation[]> {
  const { variables, namespace, logFolder } = installation;
  const contains = createTextSearch(variables, (bytes) => {
    const found = texts.filter((text) => bytes.includes(text));
    for (const text of found) foundTexts.add(text);
    return found.length > 0;
  });
  const groups = await Promise.all([
    searchDatabase(installation, contains),
    searchFolder(fileURLToPath(variables.OBJECT_STORE ?? ""), "object store", contains),
    searchStreams(variables.NATS_URL ?? "", namespace, contains),
    searchRedis(variables.REDIS_URL ?? "", namespace, contains),
    searchFolder(logFolder, "log", contains),
  ]);
  return [...new Map(groups.flat().map((found) => [`${found.server} ${found.name}`, found])).values()];
}

type TextSearch = (value: unknown, row?: Record<string, unknown>) => boolean;

/** Returns a function that searches a value of any type, as it is and after each decoding that the product uses. */
function createTextSearch(
  { DATA_KEYS }: Record<string, string>,
  isFound: (text: string | Buffer) => boolean,
): TextSearch {
  const encryption = createEncryption(commonServiceConfigSchema.shape.DATA_KEYS.parse(DATA_KEYS));
  const searchText = (value: string): boolean => {
    if (isFound(value)) return true;
    if (/^\w+\.[\w-]+\.[\w-]+\.[\w-]*$/.test(value)) return attempts(() => encryption.decrypt(value)).some(isFound);
    const encoding = /^(?:[0-9a-f]{2}){12,}$/i.test(value) ? "hex" : /^[\w+/-]{24,}=*$/.test(value) ? "base64" : null;
    return encoding !== null && searchBytes(Buffer.from(value, encoding));
  };
  const searchBytes = (bytes: Buffer, v1?: unknown): boolean =>
    isFound(bytes) ||
    attempts(
      () => gunzipSync(bytes),
      () => inflateSync(bytes),
      () => inflateRawSync(bytes),
      () => brotliDecompressSync(bytes),
      () => Buffer.from(decompressDayText(bytes)),
      () => Buffer.from(decompressDayText(bytes.subarray(16))),
      () => Buffer.from(decompressV2OrderSync(bytes, { v1: Buffer.from(String(v1)) })),
    ).some(isFound);
  return (value, row) => {
    if (typeof value === "string") return searchText(value);
    if (value instanceof Uint8Array) return searchBytes(Buffer.from(value), row?.v1);
    return typeof value === "object" && value !== null && isFound(JSON.stringify(value));
  };
}

/** Returns the results of the functions that do not throw. */
function attempts<T>(...functions: (() => T)[]): T[] {
  return functions.flatMap((decode) => {
    try {
      return [decode()];
    } catch {
      return [];
    }
  });
}

async function searchDatabase(
  { variables, namespace }: SearchedInstallation,
  contains: TextSearch,
): Promise<TextLocation[]> {
  const sql = postgres(variables.DATABASE_URL ?? "", { max: 1 });
  const tables = await sql<{ schema: string; name: string }[]>`
    select nspname as schema, relname as name from pg_class join pg_namespace n on n.oid = relnamespace
    where starts_with(nspname, ${`${namespace}_`}) and relkind in ('r', 'p') and not relispartition`;
  const found: TextLocation[] = [];
  for (const { schema, name } of tables) {
    const rows = await sql<Record<string, unknown>[]>`select * from ${sql(schema)}.${sql(name)}`;
    for (const row of rows)
      for (const [column, value] of Object.entries(row)) {
        const service = schema.slice(namespace.length + 1).replaceAll("_", "-");
        if (contains(value, row)) found.push({ server: "PostgreSQL", name: `${service}.${name}.${column}` });
      }
  }
  await sql.end();
  return found;
}

async function searchFolder(
  folder: string,
  server: "object store" | "log",
  contains: TextSearch,
): Promise<TextLocation[]> {
  const found: TextLocation[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && contains(await readFile(path))) found.push({ server, name: path.slice(folder.length + 1) });
  }
  return found;
}

async function searchStreams(url: string, namespace: string, contains: TextSearch): Promise<TextLocation[]> {
  const connection = await connect({ servers: url });
  const { streams } = await jetstreamManager(connection);
  const found: TextLocation[] = [];
  for (const [kind, stream] of Object.entries(buildEventStreamNames(namespace))) {
    const { state } = await streams.info(stream);
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await streams.getMessage(stream, { seq });
      if (message && contains(Buffer.from(message.data))) found.push({ server: "NATS", name: kind });
    }
  }
  await connection.close();
  return found;
}

async function searchRedis(url: string, namespace: string, contains: TextSearch): Promise<TextLocation[]> {
  const redis = new Redis(url);
  const found: TextLocation[] = [];
  for await (const keys of redis.scanStream({ match: `*${namespace}*`, count: 1_000 }))
    for (const key of keys as string[])
      if (contains(key) || contains(await readRedisValue(redis, key))) found.push({ server: "Redis", name: key });
  await redis.quit();
  return found;
}

async function readRedisValue(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case "string":
      return redis.getBuffer(key);
    case "hash":
      return redis.hgetall(key);
    case "list":
      return redis.lrange(key, 0, -1);
    case "set":
      return redis.smembers(key);
    case "zset":
      return redis.zrange(key, "-inf", "+inf", "BYSCORE");
    case "stream":
      return redis.xrange(key, "-", "+");
    default:
      return undefined;
  }
}
