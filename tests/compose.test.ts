import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serviceNames } from "@pragma/contracts/service-names";
import { processConfigSchema } from "@pragma/runtime/process/run-process";
import { connectWaitSecondsSchema } from "@pragma/runtime/service-calls/service-registry";
import { afterAll, expect, it } from "vitest";
import { parse } from "yaml";

const checkout = fileURLToPath(new URL("..", import.meta.url));
const composeText = readFileSync(join(checkout, "docker-compose.yml"), "utf8");
const composeFile = parse(composeText, { merge: true }) as { services: Record<string, ComposedService> };

interface ComposedService {
  image?: string;
  command?: string[];
  profiles?: string[];
  ports?: string[];
  volumes?: string[];
  networks?: string[];
  environment?: Record<string, string>;
  read_only?: boolean;
  cap_drop?: string[];
  stop_grace_period?: string;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { interval?: string; timeout?: string; retries?: number; start_period?: string };
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
  }
});

it("drops the capabilities of every container", () => {
  for (const [name, service] of Object.entries(composeFile.services)) expect(service.cap_drop, name).toEqual(["ALL"]);
});

it("gives every container time to start on a slow machine, with the same health checks", () => {
  const dockerfile = readFileSync(join(checkout, "deploy", "docker", "Dockerfile"), "utf8");
  const [, flags = ""] = /^HEALTHCHECK (.*) CMD /m.exec(dockerfile) ?? [];
  const times = Object.fromEntries([...flags.matchAll(/--([a-z-]+)=(\S+)/g)].map(([, name, value]) => [name, value]));
  // PostgreSQL, the migrations and accounts start one after the other before the gateway is healthy.
  expect(times).toEqual({ interval: "10s", timeout: "10s", retries: "5", "start-period": "5m" });
  for (const name of ["postgres", "nats", "redis"])
    expect(composeFile.services[name]?.healthcheck, name).toMatchObject({
      ...{ interval: times.interval, timeout: times.timeout, retries: Number(times.retries) },
      start_period: times["start-period"],
    });
  // The image has the health check of these.
  for (const name of ["gateway", ...serviceNames])
    expect(composeFile.services[name]?.healthcheck, name).toBeUndefined();
});

it("stops each service before requests that wait for the next container fail", () => {
  for (const name of [...serviceNames, "gateway"]) {
    const graceSeconds = Number.parseInt(composeFile.services[name]?.stop_grace_period ?? "", 10);
    const { SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_TIMEOUT_SECONDS: timeout } = processConfigSchema.parse({
      SHUTDOWN_DELAY_SECONDS: /:-(\d+)/.exec(
        composeFile.services[name]?.environment?.SHUTDOWN_DELAY_SECONDS ?? "",
      )?.[1],
    });
    expect(graceSeconds, name).toBeGreaterThan(delay + timeout);
    expect(graceSeconds, name).toBeLessThan(connectWaitSecondsSchema.parse(undefined));
  }
});

it("lets nats-exporter reach the metrics of NATS, and nobody outside", () => {
  const { nats, "nats-exporter": exporter } = composeFile.services;
  const config = readFileSync(join(checkout, "deploy", "nats", "nats.conf"), "utf8");
  expect(config).toMatch(/^http: "0\.0\.0\.0:8222"$/m);
  expect(exporter?.networks).toEqual(nats?.networks);
  expect([nats?.networks, nats?.ports]).toEqual([["servers"], undefined]);
});

it("upgrades with `up -d` behind a proxy that stays, and replaces the gateway before the services that it needs", () => {
  const { proxy, gateway } = composeFile.services;
  // Docker Compose would replace the proxy together with a container that it depends on.
  expect(proxy).toMatchObject({ read_only: true, cap_drop: ["ALL"], networks: ["product"] });
  expect([proxy?.depends_on, proxy?.profiles, gateway?.ports]).toEqual([undefined, undefined, undefined]);
  expect(Object.keys(gateway?.depends_on ?? {})).toEqual(["redis"]);
  for (const name of serviceNames)
    expect(composeFile.services[name]?.depends_on).toMatchObject({ gateway: { condition: "service_started" } });
  expect(composeFile.services.migrate?.depends_on).not.toHaveProperty("gateway");
  expect(composeFile.services["ops-data"]?.depends_on).not.toHaveProperty("gateway");
  const haproxy = readFileSync(join(checkout, "deploy", "docker", "haproxy.cfg"), "utf8");
  // Only reads are repeated after they have been sent.
  expect(haproxy).toMatch(/^ {2}retry-on conn-failure empty-response$/m);
  expect(haproxy).toMatch(/^ {2}http-request disable-l7-retry unless METH_GET$/m);
});

it("pins every image to an exact version", () => {
  const read = (...path: string[]) => readFileSync(join(checkout, ...path), "utf8");
  const dockerfiles = ["Dockerfile", "Dockerfile.portal"].map((name) => read("deploy", "docker", name)).join("\n");
  const stages = [...dockerfiles.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, stage]) => stage);
  const bases = [...dockerfiles.matchAll(/^FROM (\S+)/gm)].map(([, base = ""]) => base);
  const servers = [
    composeText,
    read("deploy", "kubernetes", "pragma", "values.yaml"),
    read("deploy", "local", "find-servers.ts"),
  ]
    .flatMap((source) => [
      ...source.matchAll(/^\s*(?:image|exporterImage|postgres|nats|redis): "?([a-z][\w/.-]+:[^\s",]+)"?/gm),
    ])
    .map(([, image = ""]) => image);
  // The official chart of NATS has separate values for the tags.
  const { container, promExporter } = parse(read("deploy", "kubernetes", "pragma", "values.yaml")).nats;
  servers.push(`nats:${container.image.tag}`, `natsio/prometheus-nats-exporter:${promExporter.image.tag}`);
  const pinnedImages = [...bases.filter((base) => !stages.includes(base)), ...servers];
  expect(pinnedImages).toHaveLength(27);
  for (const image of pinnedImages) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-[a-z-]+)?(@sha256:[0-9a-f]{64})?$/);
  // All images of a program have the same version. The image for backups has another variant of the PostgreSQL image.
  const withoutVariant = pinnedImages.map((image) => image.replace(/-(?:alpine|bookworm)$/, ""));
  const versions = new Map(withoutVariant.map((image) => [image.split(":")[0], image]));
  for (const image of withoutVariant) expect(image).toBe(versions.get(image.split(":")[0] ?? ""));
});

it("monitors every service and server with the profile monitoring", () => {
  const read = (...path: string[]) => readFileSync(join(checkout, "deploy", ...path), "utf8");
  const prometheus = parse(read("monitoring", "prometheus.yml")) as {
    scrape_configs: {
      job_name: string;
      static_configs?: { targets: string[] }[];
      dns_sd_configs?: { names: string[]; port: number }[];
    }[];
  };
  const targets = prometheus.scrape_configs.flatMap(({ static_configs = [], dns_sd_configs = [] }) => [
    ...static_configs.flatMap((config) => config.targets.map((target) => target.split(":")[0] ?? "")),
    ...dns_sd_configs.flatMap(({ names, port }) => {
      expect(port).toBe(4090);
      return names;
    }),
  ]);
  expect(targets).toEqual(expect.arrayContaining([...serviceNames, "gateway"]));
  // Prometheus shares a network with each target, because it is in both networks.
  expect(composeFile.services.prometheus?.networks).toEqual(["product", "servers"]);
  for (const name of targets) expect(composeFile.services[name], name).toBeDefined();
  for (const name of ["prometheus", "alertmanager", "grafana", ...targets.filter((each) => /exporter/.test(each))])
    expect(composeFile.services[name]?.profiles).toEqual(["monitoring"]);
  // The jobs and disks that the alert rules name.
  const rules = read("grafana", "rules.json");
  const jobs = [...rules.matchAll(/job=\\"(pragma-\w+)\\"/g)].map(([, job]) => job);
  expect(jobs).toEqual(["pragma-postgres", "pragma-nats", "pragma-redis"]);
  expect(prometheus.scrape_configs.map(({ job_name }) => job_name)).toEqual(expect.arrayContaining(jobs));
  const disks = composeFile.services["node-exporter"]?.volumes?.map((volume) => volume.split(":")[1]);
  for (const name of ["postgres", "nats", "redis", "objects", "s3", "archive", "prometheus"])
    expect(disks).toContain(`/disks/${name}`);
});

it("checks the certificates of public URLs with https", () => {
  const start = join(checkout, "deploy", "monitoring", "start-prometheus.sh");
  writeFileSync(join(scratchFolder, "prometheus"), "#!/bin/sh\n", { mode: 0o755 });
  const file = join(scratchFolder, "public-urls.json");
  const readTargets = (PUBLIC_URL: string, DOCS_URL: string) => {
    const env = { PATH: `${scratchFolder}:${process.env.PATH}`, PUBLIC_URLS_FILE: file, PUBLIC_URL, DOCS_URL };
    expect(spawnSync("sh", [start], { env }).status).toBe(0);
    return (JSON.parse(readFileSync(file, "utf8")) as { targets: string[] }[]).flatMap(({ targets }) => targets);
  };
  expect(readTargets("https://api.example", "https://docs.example/docs")).toEqual([
    "https://api.example",
    "https://docs.example/docs",
  ]);
  expect(readTargets("http://localhost:4000", "https://docs.example/docs")).toEqual(["https://docs.example/docs"]);
  expect(readTargets("http://localhost:4000", "")).toEqual([]);
});

it("archives the WAL only if WAL_ARCHIVE is on", () => {
  writeFileSync(join(scratchFolder, "docker-entrypoint.sh"), '#!/bin/sh\necho "$*"', { mode: 0o755 });
  const folder = join(scratchFolder, "wal");
  mkdirSync(folder);
  const start = (WAL_ARCHIVE: string) => {
    const script = join(checkout, "deploy", "postgres", "start.sh");
    // Only root changes the owner of the archive, and the user of the image need not exist here.
    writeFileSync(join(scratchFolder, "chown"), "#!/bin/sh\n", { mode: 0o755 });
    const env = { PATH: `${scratchFolder}:${process.env.PATH}`, WAL_ARCHIVE, WAL_ARCHIVE_FOLDER: folder };
    return spawnSync("sh", [script], { env, encoding: "utf8" }).stdout;
  };
  expect(start("off")).not.toContain("archive");
  expect(start("on")).toMatch(/archive_mode=on .*archive_timeout=60 .*archive_command=sh '.*archive-wal\.sh' '%p'/);
  expect(composeFile.services.backup).toMatchObject({ profiles: ["backup"], cap_drop: ["ALL"] });
});

it("starts Redis with and without the user of its exporter", () => {
  const script = readFileSync(join(checkout, "deploy", "redis", "start.sh"), "utf8")
    .replace("/tmp/users.acl", join(scratchFolder, "users.acl"))
    .replace("/etc/pragma/users.acl", join(checkout, "deploy", "redis", "users.acl"));
  writeFileSync(join(scratchFolder, "docker-entrypoint.sh"), "#!/bin/sh\n", { mode: 0o755 });
  const listUsers = (variables: Record<string, string>) => {
    const env = { PATH: `${scratchFolder}:${process.env.PATH}`, REDIS_PASSWORD_GATEWAY: "g1", ...variables };
    expect(spawnSync("sh", ["-c", script], { env }).status).toBe(variables.REDIS_PASSWORD_JOBS ? 0 : 2);
    const text = readFileSync(join(scratchFolder, "users.acl"), "utf8");
    return [...text.matchAll(/^user (\w+) on >(\w+)/gm)].map(([, user, password]) => `${user}:${password}`);
  };
  const all = { REDIS_PASSWORD_JOBS: "j1", REDIS_PASSWORD_MONITOR: "m1" };
  expect(listUsers(all)).toEqual(["gateway:g1", "jobs:j1", "monitor:m1"]);
  expect(listUsers({ REDIS_PASSWORD_JOBS: "j1" })).toEqual(["gateway:g1", "jobs:j1"]);
  listUsers({});
});

it("lets the ops command reach every service", () => {
  const { OPS_URLS = "", OPS_TOKEN } = composeFile.services.ops?.environment ?? {};
  const hosts = OPS_URLS.split(",").map((url) => new URL(url).hostname);
  expect(hosts.sort()).toEqual([...serviceNames].sort());
  for (const name of hosts) {
    const environment = composeFile.services[name]?.environment;
    expect(environment).toMatchObject({ OPS_TOKEN, OPS_HOST: "0.0.0.0" });
    expect(environment?.OPS_ALLOWED_HOSTS?.split(",")).toContain(name);
  }
});

it("runs the console, for the same API, from the image of the documentation site", () => {
  const { portal, console: site, sandboxes, webhooks } = composeFile.services;
  expect(site).toMatchObject({ image: portal?.image, networks: ["product"], command: ["node", "console/serve.mjs"] });
  expect(site?.environment).toEqual({
    ...{ DOCS_URL: portal?.environment?.DOCS_URL, PUBLIC_URL: portal?.environment?.PUBLIC_URL },
    SANDBOXES: sandboxes?.environment?.SANDBOXES,
  });
  expect(portal?.environment?.CONSOLE_URL).toContain("CONSOLE_URL:-http://localhost:3002");
  // Grafana has port 3001.
  expect(site?.ports?.map((port) => port.replace(/^.*?:-/, ""))).toEqual(["3002}:3002"]);
  const dockerfile = readFileSync(join(checkout, "deploy", "docker", "Dockerfile.portal"), "utf8");
  const manifest = (name: string) =>
    JSON.parse(readFileSync(join(checkout, "node_modules", name, "package.json"), "utf8")) as {
      dependencies?: Record<string, string>;
    };
  // The image contains only these packages.
  for (const name of ["sirv", ...Object.keys(manifest("sirv").dependencies ?? {})])
    expect(dockerfile).toContain(`COPY --from=build /app/node_modules/${name} node_modules/${name}`);
  expect(webhooks?.environment?.SANDBOX_INBOX_URL).toBe(sandboxes?.environment?.SANDBOX_INBOX_URL);
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

it("reads every variable of .env.example, which describes every variable that it reads", () => {
  const example = readFileSync(join(checkout, ".env.example"), "utf8");
  const described = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name);
  const read = [...composeText.matchAll(/\$\{([A-Z_]+):/g)].map(([, name]) => name);
  // The commit of an image is a variable of one build.
  expect(new Set([...described, "COMMIT"])).toEqual(new Set(read));
});

it("creates a secret for each required variable, and keeps existing secrets", () => {
  const variables = writeEnvFile();
  const required = [...composeText.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name ?? "");
  expect(required.length).toBeGreaterThan(20);
  for (const name of required) expect(variables[name], name).toMatch(/^(?:first:)?s[0-9a-f]{48}$/);
  expect(new Set(Object.values(variables)).size).toBe(Object.keys(variables).length);
  expect(writeEnvFile()).toEqual(variables);
  // An editor may leave the last line without a line feed, and a later version may need another secret.
  const { OPS_TOKEN: _, ...others } = variables;
  const lines = Object.entries({ ...others, WAL_ARCHIVE: "on" }).map(([name, value]) => `${name}=${value}`);
  writeFileSync(join(scratchFolder, ".env"), lines.join("\n"));
  const completed = writeEnvFile();
  expect(completed).toMatchObject({ ...others, WAL_ARCHIVE: "on" });
  expect(completed.OPS_TOKEN).toMatch(/^s[0-9a-f]{48}$/);
});
