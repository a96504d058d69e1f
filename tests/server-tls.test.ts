import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createDatabasePool } from "@pragma/runtime/database/postgres";
import { createRedisClient, redisConfigSchema } from "@pragma/runtime/database/redis";
import { createEventBus } from "@pragma/runtime/messaging/event-bus";
import { createLogger } from "@pragma/runtime/observability/logger";
import {
  createTestCertificateAuthority,
  type TestCertificateAuthority,
} from "@pragma/runtime/testing/test-certificate-authority";
import { createIsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFreePort } from "../deploy/local/free-port.js";
import {
  createTemporaryDataFolder,
  removeServerDataFolder,
  type StartedLocalServer,
  startNatsServer,
  startPostgresServer,
  startRedisServer,
} from "../deploy/local/servers.js";
import { createTlsAdjuster, writeNatsCertificate, writeRedisCertificate } from "../deploy/local/testing/server-tls.js";
import { startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";

const folder = createTemporaryDataFolder("tls");
let certificateAuthority: TestCertificateAuthority;
let servers: { postgres: StartedLocalServer; nats: StartedLocalServer; redis: StartedLocalServer };
let variables: Record<string, string>;

beforeAll(async () => {
  certificateAuthority = await createTestCertificateAuthority();
  const tls = await certificateAuthority.issue("servers");
  const folderOf = async (name: string) => {
    await mkdir(join(folder, name));
    return join(folder, name);
  };
  const dataFolders = {
    postgres: await folderOf("postgres"),
    nats: await folderOf("nats"),
    redis: await folderOf("redis"),
  };
  const port = await findFreePort();
  const [postgres, nats, redis] = await Promise.all([
    startPostgresServer({
      dataFolder: dataFolders.postgres,
      durable: false,
      adjustLaunch: createTlsAdjuster(dataFolders.postgres, tls),
    }),
    startNatsServer({
      dataFolder: dataFolders.nats,
      config: writeNatsCertificate(dataFolders.nats, tls),
    }),
    startRedisServer({
      dataFolder: dataFolders.redis,
      port,
      config: writeRedisCertificate(dataFolders.redis, tls, port),
    }),
  ]);
  servers = { postgres, nats, redis };
  const { ca, cert, key } = await certificateAuthority.issue("product");
  const write = async (name: string, pem: string) => {
    const path = join(folder, name);
    await writeFile(path, pem);
    return path;
  };
  const environment = await createIsolatedTestEnvironment();
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
  await removeServerDataFolder(folder);
});

it("processes a till with TLS to PostgreSQL, NATS and Redis", { timeout: 120_000 }, async () => {
  const product = await startPragmaUnderTest(variables);
  try {
    const ready = await (await fetch(`${product.process("all").opsUrl}/ready`)).text();
    expect(ready).not.toMatch(/not connected|error/i);
    const testLocation = await createTestLocation(product);
    await testLocation.pushTillWithRetries(
      generateTill({ seed: 4, tillId: randomUUID(), orders: 3, day: "2026-04-01" }),
    );
    expect(await testLocation.waitForReports(1)).toHaveLength(1);
  } finally {
    await product.stop();
  }
});

it("rejects servers with an untrusted certificate", async () => {
  const other = join(folder, "other.crt");
  await writeFile(other, (await createTestCertificateAuthority()).ca);
  const config = readConfigFromEnvironment(commonServiceConfigSchema.extend(redisConfigSchema.shape), {
    ...variables,
    TLS_CA_FILE: other,
  });
  const log = createLogger({ name: "test", level: "silent" });

  const database = createDatabasePool(config, { schema: "any", log });
  await expect(database.sql`select 1`).rejects.toThrow(/certificate/);

  const redis = createRedisClient(config, { lazyConnect: true, retryStrategy: () => null });
  const [, error] = await Promise.all([expect(redis.connect()).rejects.toThrow(), once(redis, "error")]);
  expect(String(error)).toMatch(/certificate/);

  const bus = createEventBus(config, { name: "test", log });
  await expect(bus.connected).rejects.toThrow(/certificate/);
  await Promise.all([bus.close(), database.close()]);
});

it("reports the name of a certificate file that the process cannot read", () => {
  const invalidVariables = {
    ...variables,
    TLS_CA_FILE: join(folder, "absent.crt"),
    TLS_KEY_FILE: fileURLToPath(import.meta.url),
  };
  expect(() => readConfigFromEnvironment(commonServiceConfigSchema, invalidVariables)).toThrow(
    /TLS_CA_FILE: must be a readable file[\s\S]*TLS_KEY_FILE: must be a PEM file/,
  );
});
