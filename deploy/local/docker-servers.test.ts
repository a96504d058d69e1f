import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { serverDefinitions } from "./find-servers.ts";
import {
  createTemporaryDataFolder,
  removeServerDataFolder,
  startNatsServer,
  startPostgresServer,
  startRedisServer,
} from "./servers.ts";
import { readFromPortUntilMatch } from "./testing/read-from-port.ts";

const docker = (...args: string[]) => spawnSync("docker", args, { stdio: "ignore", timeout: 120_000 }).status === 0;
const isDockerUsable =
  docker("info") &&
  Object.values(serverDefinitions).every(
    ({ image }) => docker("image", "inspect", image) || docker("pull", "--quiet", image),
  );

const folder = createTemporaryDataFolder("docker-servers-test");
afterAll(() => {
  vi.unstubAllEnvs();
  return removeServerDataFolder(folder);
});

// These tests run only if a Docker engine responds and the images are available.
const itWithDocker = it.skipIf(!isDockerUsable);
const dockerTimeout = { timeout: 300_000 };

itWithDocker("the servers run in Docker when PRAGMA_SERVERS is docker", dockerTimeout, async () => {
  vi.stubEnv("PRAGMA_SERVERS", "docker");
  const dataFolder = (name: string) => join(folder, name);
  const servers = await Promise.all([
    startPostgresServer({ dataFolder: dataFolder("postgres") }),
    startNatsServer({ dataFolder: dataFolder("nats") }),
    startRedisServer({ dataFolder: dataFolder("redis") }),
  ]);
  const [, nats, redis] = servers;
  const names = spawnSync(
    "docker",
    ["ps", "--filter", `label=pragma.folder`, "--format", '{{.Label "pragma.folder"}}'],
    {
      encoding: "utf8",
    },
  ).stdout;
  for (const name of ["postgres", "nats", "redis"]) expect(names).toContain(dataFolder(name));
  expect(await readFromPortUntilMatch(nats.port, /\n/)).toMatch(/"jetstream":\s*true/);
  const sendCommand = (port: number, command: string) =>
    readFromPortUntilMatch(port, /\r\n.*\r\n|^\+/, `${command}\r\n`);
  expect(await sendCommand(redis.port, "SET stored yes")).toBe("+OK\r\n");

  await redis.sendSignal("SIGSTOP");
  expect(await readFromPortUntilMatch(redis.port, /PONG/, "PING\r\n")).toBeUndefined();
  await redis.sendSignal("SIGCONT");
  expect(await sendCommand(redis.port, "GET stored")).toContain("yes");

  await redis.kill();
  const restarted = await startRedisServer({ dataFolder: dataFolder("redis"), port: redis.port });
  expect(restarted.url).toBe(redis.url);
  await Promise.all([...servers.filter((server) => server !== redis), restarted].map((server) => server.stop()));
  expect(
    spawnSync("docker", ["ps", "--quiet", "--filter", `label=pragma.folder=${dataFolder("nats")}`]).stdout.length,
  ).toBe(0);
});

/** Lists the containers of a data folder with their names and published ports. */
const containersOf = (dataFolder: string) =>
  spawnSync(
    "docker",
    ["ps", "--all", "--filter", `label=pragma.folder=${dataFolder}`, "--format", "{{.Names}} {{.Ports}}"],
    {
      encoding: "utf8",
    },
  ).stdout;

itWithDocker(
  "the servers listen on loopback only and end with the process that started them",
  dockerTimeout,
  async () => {
    const dataFolder = join(folder, "orphaned");
    const program = `
    import { startRedisServer } from ${JSON.stringify(new URL("servers.ts", import.meta.url))};
    await startRedisServer({ dataFolder: ${JSON.stringify(dataFolder)} });
    console.log("ready");`;
    const owner = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
      cwd: import.meta.dirname,
      env: { ...process.env, PRAGMA_SERVERS: "docker" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(owner.stdout, "data");
    expect(containersOf(dataFolder)).toMatch(/^pragma-\S+ (?:6379\/tcp, )?127\.0\.0\.1:(\d+)->\1\/tcp\n$/);
    owner.kill("SIGKILL");
    await expect.poll(() => containersOf(dataFolder), { timeout: 30_000, interval: 200 }).toBe("");
  },
);

itWithDocker("the error contains the end of the log when a server does not start", dockerTimeout, async () => {
  vi.stubEnv("PRAGMA_SERVERS", "docker");
  const dataFolder = join(folder, "broken");
  await expect(startRedisServer({ dataFolder, config: "no such line\n" })).rejects.toThrow(
    /Redis did not start[\s\S]*no such line/,
  );
  expect(containersOf(dataFolder)).toBe("");
});

itWithDocker("the servers enforce their configured users", dockerTimeout, async () => {
  vi.stubEnv("PRAGMA_SERVERS", "docker");
  const users = "user default off\nuser somebody on >secret ~* +@all\n";
  const redis = await startRedisServer({ dataFolder: join(folder, "guarded-redis"), config: users });
  const sendCommand = (command: string) => readFromPortUntilMatch(redis.port, /\r\n/, `${command}\r\n`);
  expect(await sendCommand("PING")).toMatch(/^-NOAUTH/);
  expect(await sendCommand("AUTH somebody secret")).toMatch(/^\+OK/);

  const config = 'authorization { users: [{ user: "somebody", password: "secret" }] }\n';
  const nats = await startNatsServer({ dataFolder: join(folder, "guarded-nats"), config });
  expect(await readFromPortUntilMatch(nats.port, /\n/)).toMatch(/"auth_required":\s*true/);
  await Promise.all([redis.stop(), nats.stop()]);
});
