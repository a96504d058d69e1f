import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRedisClient } from "@pragma/runtime/database/redis";
import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { createTemporaryDataFolder, startRedisServer } from "../deploy/local/servers.js";
import { renderInstallation } from "./kubernetes/manifests.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const passwords = {
  REDIS_PASSWORD_OPERATOR: "operatorpassword1",
  REDIS_PASSWORD_GATEWAY: "gatewaypassword1",
  REDIS_PASSWORD_JOBS: "jobspassword1",
  REDIS_PASSWORD_MONITOR: "monitorpassword1",
};

/** Writes `user.acl` with the command of the README, and returns its path. */
function writeUsers(folder: string): string {
  const readme = readFileSync(join(root, "deploy/kubernetes/README.md"), "utf8");
  const [, command] = /```sh\n(\{\n[^`]*\} >)user\.acl\n/.exec(readme) ?? [];
  const file = join(folder, "user.acl");
  const { status, stderr } = spawnSync("sh", ["-euc", `${command}'${file}'`], {
    cwd: root,
    env: { ...process.env, ...passwords },
  });
  if (status !== 0) throw new Error(String(stderr));
  return file;
}

/** Starts a Redis server with the settings of the operator's nodes, and with those that the operator adds. */
async function startNode(name: string) {
  const folder = createTemporaryDataFolder("kubernetes-redis");
  mkdirSync(folder, { recursive: true });
  const manifests = await renderInstallation("several namespaces");
  const settings = manifests.find(({ metadata }) => metadata.name === "redis-replication-config")?.data;
  const include = join(folder, `${name}.conf`);
  writeFileSync(include, settings?.["redis-additional.conf"] ?? "");
  const { REDIS_PASSWORD_OPERATOR: password } = passwords;
  const config = [
    ...[`masterauth ${password}`, `requirepass ${password}`, `aclfile ${writeUsers(folder)}`],
    ...["save 900 1", "appendonly yes", `include ${include}`],
  ];
  const server = await startRedisServer({ dataFolder: join(folder, name), config: config.join("\n") });
  const operator = new Redis(server.url, { password });
  onTestFinished(async () => {
    operator.disconnect();
    await server.stop();
  });
  return { ...server, operator };
}

/** Starts a proxy in the place of the service `redis-replication-master`. `lead` sets the port of the primary server. */
async function startPrimaryService(port: number) {
  let target = port;
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => {}));
    client.pipe(upstream).on("close", () => client.destroy());
    upstream.pipe(client).on("close", () => upstream.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: (user: string, password: string) =>
      `redis://${user}:${password}@127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(newPort: number) {
      target = newPort;
    },
  };
}

it("services write to the new primary server after a failover, with the users and settings of the manifests", async () => {
  const [first, second] = await Promise.all([startNode("first"), startNode("second")]);
  await second.operator.replicaof("127.0.0.1", first.port);
  await expect.poll(() => second.operator.info("replication"), { timeout: 10_000 }).toContain("master_link_status:up");
  const settings = await Promise.all(
    ["appendonly", "save", "maxmemory", "maxmemory-policy"].map((name) => first.operator.config("GET", name)),
  );
  expect(settings).toEqual([
    ["appendonly", "yes"],
    ["save", ""],
    ["maxmemory", String(256 * 1024 * 1024)],
    ["maxmemory-policy", "noeviction"],
  ]);

  const service = await startPrimaryService(first.port);
  const url = service.url("gateway", passwords.REDIS_PASSWORD_GATEWAY);
  const gateway = createRedisClient({ REDIS_URL: url }, { retryStrategy: () => 50 });
  onTestFinished(() => gateway.disconnect());
  await gateway.hset("pragma:limit:a", "tokens", "1");
  await expect(gateway.hset("pragma:jobs-a", "tokens", "1")).rejects.toThrow(/NOPERM/);

  // As the Sentinels do, but without closing the connections. The service leads to the new primary server only later.
  await second.operator.replicaof("NO", "ONE");
  await first.operator.replicaof("127.0.0.1", second.port);
  await expect(gateway.hset("pragma:limit:a", "tokens", "2")).rejects.toThrow(/READONLY/);
  service.lead(second.port);
  await expect
    .poll(() => gateway.hset("pragma:limit:a", "tokens", "3").catch(() => "rejected"), { timeout: 10_000 })
    .toBe(0);
  expect(await second.operator.hget("pragma:limit:a", "tokens")).toBe("3");
});
