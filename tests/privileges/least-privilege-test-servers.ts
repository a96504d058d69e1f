import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { createIsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { renderNatsUsersConfig } from "@pragma/services/commands/nats-users";
import { renderRedisAclFile } from "@pragma/services/commands/redis-users";
import {
  createTestServerDataFolder,
  removeServerDataFolder,
  type StartedLocalServer,
  startNatsServer,
  startPostgresServer,
  startRedisServer,
} from "../../deploy/local/servers.js";
import { getTestCommandProgram } from "../harness/command-program.ts";
import type { ProcessName } from "../harness/pragma-process.ts";

/** Servers on which the gateway and each service have a separate user, which has only the privileges that it needs. */
export interface LeastPrivilegeTestServers {
  /** The URL of the database with the credentials of its owner, who has all privileges. */
  ownerUrl: string;
  /** The environment variables that are the same in every process. */
  variables: Record<string, string>;
  /** Returns the additional environment variables of one process, the server URLs with credentials of the process. */
  variablesOf(part: ProcessName): Record<string, string>;
  /** Runs the `migrate` command. Rejects with the output of the command if the command fails. */
  migrate(changes?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

const partsWithRedis: ProcessName[] = ["gateway", "jobs"];
const toVariablePrefix = (part: string) => part.toUpperCase().replaceAll("-", "_");

export async function startLeastPrivilegeTestServers(): Promise<LeastPrivilegeTestServers> {
  const { variables: testVariables } = await createIsolatedTestEnvironment();
  const namespace = testVariables.NAMESPACE ?? "";
  const folder = createTestServerDataFolder("privileges");
  const password = `p${randomUUID().replaceAll("-", "")}`;
  const insertPasswords = (text: string) => text.replace(/\$(?:NATS|REDIS)_PASSWORD_[A-Z_]+/g, password);
  const [postgres, nats, redis] = await Promise.all([
    startPostgresServer({ dataFolder: join(folder, "postgres"), durable: false }),
    startNatsServer({
      dataFolder: join(folder, "nats"),
      config: insertPasswords(await renderNatsUsersConfig(namespace)),
    }),
    startRedisServer({ dataFolder: join(folder, "redis"), config: insertPasswords(renderRedisAclFile(namespace)) }),
  ]);
  const urlForUser = ({ url }: StartedLocalServer, user: string, secret = password) => {
    const loginUrl = new URL(url);
    loginUrl.username = user;
    loginUrl.password = secret;
    return loginUrl.href;
  };
  const roleUrl = (service: ServiceName) => urlForUser(postgres, `${namespace}_${service.replaceAll("-", "_")}`);
  const { DATABASE_URL, NATS_URL, REDIS_URL, ...shared } = testVariables;
  const variables = { ...shared, MIGRATE: "off" };
  return {
    ownerUrl: postgres.url,
    variables,
    variablesOf: (part) => ({
      ...(part !== "gateway" && { DATABASE_URL: roleUrl(part) }),
      NATS_URL: urlForUser(nats, part),
      ...(partsWithRedis.includes(part) && { REDIS_URL: urlForUser(redis, part) }),
    }),
    migrate: (changes = {}) =>
      runMigrate({
        ...variables,
        DATABASE_URL: postgres.url,
        NATS_URL: urlForUser(nats, "migrate"),
        ...Object.fromEntries(serviceNames.map((name) => [`${toVariablePrefix(name)}_DATABASE_URL`, roleUrl(name)])),
        ...changes,
      }),
    async stop() {
      await Promise.all([postgres.stop(), nats.stop(), redis.stop()]);
      await removeServerDataFolder(folder);
    },
  };
}

const migrateProgram = getTestCommandProgram("migrate");

async function runMigrate(env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [migrateProgram], { env: { PATH: process.env.PATH, ...env } });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(String(chunk)));
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(output.join(""));
}
