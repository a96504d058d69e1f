import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readConfig, runtimeConfig } from "@pragma/runtime/config";
import { openEventBus } from "@pragma/runtime/event-bus";
import { createLogger } from "@pragma/runtime/logger";
import { openDatabase } from "@pragma/runtime/postgres";
import { openRedis, redisConfig } from "@pragma/runtime/redis";
import { sleep } from "@pragma/runtime/sleep";
import { createTestAuthority, type TestAuthority } from "@pragma/runtime/testing/test-authority";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../deploy/local/free-port.js";
import {
  type ReachableServer,
  removeDataFolder,
  startNats,
  startPostgres,
  startRedis,
  temporaryDataFolder,
} from "../deploy/local/servers.js";
import { natsTls, postgresTls, redisTls } from "../deploy/local/testing/server-tls.js";
import { startProduct } from "./harness/product.ts";
import { openShop } from "./harness/shop.ts";

const folder = temporaryDataFolder("tls");
let authority: TestAuthority;
let servers: { postgres: ReachableServer; nats: ReachableServer; redis: ReachableServer };
let variables: Record<string, string>;

beforeAll(async () => {
  authority = await createTestAuthority();
  const tls = await authority.issue("servers");
  const folderOf = async (name: string) => {
    await mkdir(join(folder, name));
    return join(folder, name);
  };
  const homes = { postgres: await folderOf("postgres"), nats: await folderOf("nats"), redis: await folderOf("redis") };
  const port = await freePort();
  const [postgres, nats, redis] = await Promise.all([
    startPostgres({ dataFolder: homes.postgres, durable: false, change: postgresTls(homes.postgres, tls) }),
    startNats({ dataFolder: homes.nats, config: natsTls(homes.nats, tls) }),
    startRedis({ dataFolder: homes.redis, port, config: redisTls(homes.redis, tls, port) }),
  ]);
  servers = { postgres, nats, redis };
  const { ca, cert, key } = await authority.issue("product");
  const write = async (name: string, pem: string) => {
    const path = join(folder, name);
    await writeFile(path, pem);
    return path;
  };
  const environment = await createTestEnvironment();
  variables = {
    ...environment.variables,
    DATABASE_URL: `${postgres.url}?sslmode=verify-full`,
    NATS_URL: nats.url.replace("nats:", "tls:"),
    REDIS_URL: redis.url,
    TLS_CA_FILE: await write("ca.crt", ca),
    TLS_CERT_FILE: await write("tls.crt", cert),
    TLS_KEY_FILE: await write("tls.key", key),
  };
});

afterAll(async () => {
  await Promise.all([servers.postgres.stop(), servers.nats.stop(), servers.redis.stop()]);
  await removeDataFolder(folder);
});

it("does all its work over TLS to PostgreSQL, NATS and Redis", { timeout: 120_000 }, async () => {
  const product = await startProduct(variables);
  try {
    const ready = await (await fetch(`${product.process("all").opsUrl}/ready`)).text();
    expect(ready).not.toMatch(/not connected|error/i);
    const shop = await openShop(product);
    await shop.pushUntilAnswered(generateTill({ seed: 4, tillId: randomUUID(), orders: 3, day: "2026-04-01" }));
    expect(await shop.reports(1)).toHaveLength(1);
  } finally {
    await product.stop();
  }
});

it("does not talk to servers whose certificate nobody vouches for", async () => {
  const other = join(folder, "other.crt");
  await writeFile(other, (await createTestAuthority()).ca);
  const config = readConfig(runtimeConfig.extend(redisConfig.shape), { ...variables, TLS_CA_FILE: other });
  const log = createLogger({ name: "test", level: "silent" });

  const database = openDatabase(config, { schema: "any", log });
  await expect(database.sql`select 1`).rejects.toThrow(/certificate/);

  const redis = openRedis(config, { lazyConnect: true, retryStrategy: () => null });
  const [, complaint] = await Promise.all([expect(redis.connect()).rejects.toThrow(), once(redis, "error")]);
  expect(String(complaint)).toMatch(/certificate/);

  const bus = openEventBus(config, { name: "test", log });
  const outcome = await Promise.race([bus.connected.then(() => "connected"), sleep(1_000).then(() => "not connected")]);
  expect(outcome).toBe("not connected");
  await Promise.all([bus.close(), database.close()]);
});

it("says which certificate file it cannot read", () => {
  const faulty = {
    ...variables,
    TLS_CA_FILE: join(folder, "absent.crt"),
    TLS_KEY_FILE: fileURLToPath(import.meta.url),
  };
  expect(() => readConfig(runtimeConfig, faulty)).toThrow(
    /TLS_CA_FILE: is no file that can be read[\s\S]*TLS_KEY_FILE: is no PEM file/,
  );
});
