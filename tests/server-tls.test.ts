import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestAuthority, type TestAuthority } from "@pragma/runtime/testing/test-authority";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type RunningServer,
  removeDataFolder,
  startNats,
  startPostgres,
  startRedis,
  temporaryDataFolder,
} from "../deploy/local/servers.mjs";
import { startProduct } from "./harness/product.ts";
import { openShop } from "./harness/shop.ts";

const folder = temporaryDataFolder("tls");
let authority: TestAuthority;
let servers: { postgres: RunningServer; nats: RunningServer; redis: RunningServer };
let variables: Record<string, string>;

beforeAll(async () => {
  authority = await createTestAuthority();
  const tls = await authority.issue("servers");
  const [postgres, nats, redis] = await Promise.all([
    startPostgres({ dataFolder: join(folder, "postgres"), durable: false, tls }),
    startNats({ dataFolder: join(folder, "nats"), tls }),
    startRedis({ dataFolder: join(folder, "redis"), tls }),
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
    REDIS_URL: redis.url.replace("redis:", "rediss:"),
    TLS_CA_FILE: await write("ca.crt", ca),
    TLS_CERT_FILE: await write("tls.crt", cert),
    TLS_KEY_FILE: await write("tls.key", key),
  };
});

afterAll(async () => {
  await Promise.all([servers.postgres.stop(), servers.nats.stop(), servers.redis.stop()]);
  removeDataFolder(folder);
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

it("does not talk to servers whose certificate nobody vouches for", { timeout: 60_000 }, async () => {
  const other = join(folder, "other.crt");
  await writeFile(other, (await createTestAuthority()).ca);
  await expect(startProduct({ ...variables, TLS_CA_FILE: other })).rejects.toThrow(/certificate/i);
});
