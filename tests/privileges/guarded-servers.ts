import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { packageFolder } from "@pragma/runtime/package-folder";
import { createTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { natsUsersConfig } from "@pragma/services/nats-users";
import { redisUsersFile } from "@pragma/services/redis-users";
import {
  type ReachableServer,
  removeDataFolder,
  startNats,
  startPostgres,
  startRedis,
  temporaryDataFolder,
} from "../../deploy/local/servers.js";

/** Servers on which each part of the product is somebody else, and may do what that part needs. */
export interface GuardedServers {
  /** The owner of the database, who may everything. */
  ownerUrl: string;
  /** What every part is told. */
  variables: Record<string, string>;
  /** What a part is told of its own: how it logs in. */
  variablesOf(part: Part): Record<string, string>;
  /** Runs the `migrate` command; rejects with what it says when it fails. */
  migrate(changes?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

export type Part = ServiceName | "gateway";

const withRedis: Part[] = ["gateway", "jobs"];
const variableOf = (part: string) => part.toUpperCase().replaceAll("-", "_");

export async function startGuardedServers(): Promise<GuardedServers> {
  const { variables: usual } = await createTestEnvironment();
  const namespace = usual.NAMESPACE ?? "";
  const folder = temporaryDataFolder("privileges");
  const password = `p${randomUUID().replaceAll("-", "")}`;
  const passwordsIn = (text: string) => text.replace(/\$(?:NATS|REDIS)_PASSWORD_[A-Z_]+/g, password);
  const [postgres, nats, redis] = await Promise.all([
    startPostgres({ dataFolder: join(folder, "postgres"), durable: false }),
    startNats({ dataFolder: join(folder, "nats"), config: passwordsIn(await natsUsersConfig(namespace)) }),
    startRedis({ dataFolder: join(folder, "redis"), config: passwordsIn(redisUsersFile(namespace)) }),
  ]);
  const as = ({ url }: ReachableServer, user: string, secret = password) => {
    const login = new URL(url);
    login.username = user;
    login.password = secret;
    return login.href;
  };
  const roleUrl = (service: ServiceName) => as(postgres, `${namespace}_${service.replaceAll("-", "_")}`);
  const { DATABASE_URL, NATS_URL, REDIS_URL, ...shared } = usual;
  const variables = { ...shared, MIGRATE: "off" };
  return {
    ownerUrl: postgres.url,
    variables,
    variablesOf: (part) => ({
      ...(part !== "gateway" && { DATABASE_URL: roleUrl(part) }),
      NATS_URL: as(nats, part),
      ...(withRedis.includes(part) && { REDIS_URL: as(redis, part) }),
    }),
    migrate: (changes = {}) =>
      runMigrate({
        ...variables,
        DATABASE_URL: postgres.url,
        NATS_URL: as(nats, "migrate"),
        ...Object.fromEntries(serviceNames.map((name) => [`${variableOf(name)}_DATABASE_URL`, roleUrl(name)])),
        ...changes,
      }),
    async stop() {
      await Promise.all([postgres.stop(), nats.stop(), redis.stop()]);
      await removeDataFolder(folder);
    },
  };
}

const program = join(packageFolder(import.meta.resolve("@pragma/services/definitions")), "dist", "migrate.js");

async function runMigrate(env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [program], { env: { PATH: process.env.PATH, ...env } });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(String(chunk)));
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(output.join(""));
}
