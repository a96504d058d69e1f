import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serviceNames } from "@pragma/contracts/service-names";
import { afterAll, expect, it } from "vitest";
import { parse } from "yaml";

const checkout = fileURLToPath(new URL("..", import.meta.url));
const composeText = readFileSync(join(checkout, "docker-compose.yml"), "utf8");
const composeFile = parse(composeText, { merge: true }) as { services: Record<string, ComposedService> };

interface ComposedService {
  environment?: Record<string, string>;
  read_only?: boolean;
  cap_drop?: string[];
  depends_on?: Record<string, { condition: string }>;
}

const scratchFolder = mkdtempSync(join(tmpdir(), "pragma-compose-"));
afterAll(() => rmSync(scratchFolder, { recursive: true, force: true }));

/** Runs `make-env` in a copy of its folder, and returns the variables in the file that `make-env` writes. */
function writeEnvFile(): Record<string, string> {
  mkdirSync(join(scratchFolder, "deploy", "docker"), { recursive: true });
  for (const file of [".env.example", join("deploy", "docker", "make-env")])
    cpSync(join(checkout, file), join(scratchFolder, file));
  expect(spawnSync("sh", [join(scratchFolder, "deploy", "docker", "make-env")]).status).toBe(0);
  expect(statSync(join(scratchFolder, ".env")).mode & 0o077).toBe(0);
  const lines = readFileSync(join(scratchFolder, ".env"), "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]));
}

it("runs each service in a container without capabilities, after the migrations", () => {
  for (const name of serviceNames) {
    const service = composeFile.services[name];
    expect(service?.environment).toMatchObject({ SERVICE: name, MIGRATE: "off" });
    expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
    expect(service?.depends_on).toMatchObject({ migrate: { condition: "service_completed_successfully" } });
    expect(composeFile.services.gateway?.depends_on).toMatchObject({ [name]: { condition: "service_healthy" } });
  }
});

it("pins every image to an exact version", () => {
  const read = (...path: string[]) => readFileSync(join(checkout, ...path), "utf8");
  const dockerfiles = ["Dockerfile", "Dockerfile.portal"].map((name) => read("deploy", "docker", name)).join("\n");
  const stages = [...dockerfiles.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, stage]) => stage);
  const bases = [...dockerfiles.matchAll(/^FROM (\S+)/gm)].map(([, base = ""]) => base);
  const servers = [
    composeText,
    read("deploy", "kubernetes", "nats", "nats.yaml"),
    read("deploy", "local", "find-servers.ts"),
  ]
    .flatMap((source) => [...source.matchAll(/^\s*(?:image|postgres|nats|redis): "?([a-z/]+:[^\s",]+)"?/gm)])
    .map(([, image = ""]) => image);
  const pinnedImages = [...bases.filter((base) => !stages.includes(base)), ...servers];
  expect(pinnedImages).toHaveLength(11);
  for (const image of pinnedImages) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-[a-z-]+)?(@sha256:[0-9a-f]{64})?$/);
  const versions = new Map(pinnedImages.map((image) => [image.split(":")[0], image]));
  for (const image of pinnedImages) expect(image).toBe(versions.get(image.split(":")[0] ?? ""));
});

it("lets the ops command reach every service", () => {
  const { OPS_URLS = "", OPS_TOKEN } = composeFile.services.ops?.environment ?? {};
  const hosts = OPS_URLS.split(",").map((url) => new URL(url).hostname);
  expect(hosts.sort()).toEqual([...serviceNames].sort());
  for (const name of hosts) expect(composeFile.services[name]?.environment).toMatchObject({ OPS_TOKEN });
});

it("limits Redis to half of its container's memory, without eviction", () => {
  expect(composeFile.services.redis).toMatchObject({ mem_limit: "512m", environment: { REDIS_MAXMEMORY: "256mb" } });
  const start = readFileSync(join(checkout, "deploy", "redis", "start.sh"), "utf8");
  expect(start).toMatch(/--maxmemory "\$\{REDIS_MAXMEMORY:-256mb\}" --maxmemory-policy noeviction/);
});

it("derives the memory settings of PostgreSQL from the memory limit of its container", () => {
  expect(composeFile.services.postgres).toMatchObject({ command: ["sh", "/etc/pragma/start.sh"] });
  const entrypoint = join(scratchFolder, "docker-entrypoint.sh");
  writeFileSync(entrypoint, '#!/bin/sh\necho "$*"', { mode: 0o755 });
  const startWithLimit = (limit: string) => {
    const limitFile = join(scratchFolder, "memory.max");
    writeFileSync(limitFile, limit);
    const environment = { PATH: `${scratchFolder}:${process.env.PATH}`, MEMORY_LIMIT_FILE: limitFile };
    const start = join(checkout, "deploy", "postgres", "start.sh");
    const { stdout } = spawnSync("sh", [start, "-c", "work_mem=9MB"], { env: environment, encoding: "utf8" });
    return Object.fromEntries([...stdout.matchAll(/-c (\w+)=(\w+)/g)].map(([, name, value]) => [name, value]));
  };
  const oneGigabyte = {
    ...{ shared_buffers: "256MB", effective_cache_size: "768MB", maintenance_work_mem: "64MB" },
    ...{ max_wal_size: "2048MB", max_connections: "300", work_mem: "9MB" },
  };
  expect(startWithLimit(String(1024 ** 3))).toMatchObject(oneGigabyte);
  expect(startWithLimit("max")).toMatchObject(oneGigabyte);
  const manyGigabytes = { shared_buffers: "16384MB", maintenance_work_mem: "1024MB", max_wal_size: "16384MB" };
  expect(startWithLimit(String(64 * 1024 ** 3))).toMatchObject(manyGigabytes);
});

it("creates a secret for each required variable, and keeps existing secrets", () => {
  const variables = writeEnvFile();
  const required = [...composeText.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name ?? "");
  expect(required.length).toBeGreaterThan(20);
  for (const name of required) expect(variables[name], name).toMatch(/^(?:first:)?s[0-9a-f]{48}$/);
  expect(new Set(Object.values(variables)).size).toBe(Object.keys(variables).length);
  expect(writeEnvFile()).toEqual(variables);
});
