import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundleFolder, bundleProduct } from "./bundle.ts";
import { startConsole } from "./console.ts";
import { requireFreePort, requirePortForBrowsers } from "./free-port.ts";
import { startDocsPortal } from "./portal.ts";
import { processSettings } from "./process-settings.ts";
import { runCommandOrFail } from "./run-command.mjs";
import { getUrl, isUrlOk, launchLocalServer } from "./run-server.ts";
import { readOrCreateLocalSecrets } from "./secrets.ts";
import { findNatsDurabilityWarning, type LocalServerUrls, startLocalServers } from "./servers.ts";
import { repositoryFolder } from "./setup.mjs";
import { localStateFolder, lockStateFolder, prepareLocalStateFolder } from "./state-folder.ts";
import { LocalCommandUserError, printLine, runTaskWithProgress } from "./terminal.mjs";

const seedDemoProgram = join(bundleFolder, "simulator", "src", "demo.js");
const liveDemoProgram = join(bundleFolder, "simulator", "src", "demo-live.js");
const productLogFile = join(localStateFolder, "logs", "product.log");

type LocalPorts = Record<"port" | "opsPort" | "portalPort" | "consolePort" | "sandboxInboxPort", number>;

/**
 * Starts the servers, the product, the demo, the console and the documentation, and resolves when all are ready. Calls
 * `fail` if the product exits unexpectedly.
 */
export async function startLocalInstallation(fail: (error: unknown) => void): Promise<undefined> {
  const startedAt = Date.now();
  const port = readPort("PORT", 4000);
  const opsPort = readPort("OPS_PORT", 4090);
  const portalPort = readPort("PORTAL_PORT", 3000);
  const consolePort = readPort("CONSOLE_PORT", 3002);
  const sandboxInboxPort = readPort("SANDBOX_INBOX_PORT", 4010);
  const ports = { port, opsPort, portalPort, consolePort, sandboxInboxPort };
  await requirePortForBrowsers("PORT", port);
  await requirePortForBrowsers("PORTAL_PORT", portalPort);
  await requirePortForBrowsers("CONSOLE_PORT", consolePort);
  prepareLocalStateFolder();
  await lockStateFolder();
  await requireFreePort("PORT", port);
  await requireFreePort("OPS_PORT", opsPort);
  await requireFreePort("SANDBOX_INBOX_PORT", sandboxInboxPort);
  const [servers] = await Promise.all([startLocalServers("start"), runTaskWithProgress("Bundling", bundleProduct)]);
  const env = await createProductEnvironment(ports, servers.urls);
  // The product loads its code while the servers start, and waits for them.
  const started = Promise.all([servers.ready, startProduct(ports, env, fail)]);
  const url = `http://localhost:${port}`;
  const seeding = started.then(() => seedDemo(url, env));
  const consoleStart = startConsole(consolePort, {
    publicUrl: env.PUBLIC_URL,
    docsUrl: env.DOCS_URL,
    sandboxes: env.SANDBOXES,
    listenHost: env.LISTEN_HOST,
    isApiReady: started,
  });
  // Installed and built beside the API and the demo, because it takes longer than they do.
  const portalStart = startDocsPortal(portalPort, {
    publicUrl: env.PUBLIC_URL,
    listenHost: env.LISTEN_HOST,
    consoleUrl: env.CONSOLE_URL,
    isApiReady: started,
    demoApiKey: seeding.then(() => process.env.DOCS_DEMO_API_KEY ?? readSiteApiKey(env.PRAGMA_DEMO_FILE)),
  });
  const demoSummary = await seeding;
  const isLive = isLocalLiveDemoEnabled(process.env);
  if (isLive) await startLiveDemoProgram(localStateFolder, liveDemoProgram, url, env);

  printLine(`Pragma API is running at ${url} (ready in ${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
  printLine(demoSummary);
  const token = process.env.OPS_TOKEN ? "OPS_TOKEN" : `opsToken in ${join(localStateFolder, "secrets.json")}`;
  printLine(`Port for operators: ${opsPort}. Its token is ${token}.`);
  if (isLive)
    printLine(
      `The live demo changes orders continuously (log: ${join(localStateFolder, "logs", "live-demo.log")}). Set PRAGMA_LIVE_DEMO=off to turn it off.`,
    );
  const durabilityWarning = await findNatsDurabilityWarning();
  if (durabilityWarning) printLine(durabilityWarning);
  printLine(`Log: ${productLogFile}. Data: ${localStateFolder}. Ctrl-C stops everything and keeps the data.`);
  printLine(await consoleStart);
  printLine(await portalStart);
}

async function startProduct(ports: LocalPorts, env: NodeJS.ProcessEnv, fail: (error: unknown) => void): Promise<void> {
  await runTaskWithProgress("Starting Pragma API", (show) =>
    launchLocalServer({
      name: "Pragma API",
      logFile: productLogFile,
      port: ports.port,
      command: process.execPath,
      args: [...processSettings.flags, join(bundleFolder, "services", "main.js")],
      env: { ...processSettings.environment, ...env },
      log: fail,
      // Before it exits, the product finishes requests in progress, for up to SHUTDOWN_TIMEOUT_SECONDS.
      stopTimeoutMs: 20_000,
      onLogged: (text) => show(describeStartStep(text)),
      async isReady() {
        const readiness = await getUrl(`http://127.0.0.1:${ports.opsPort}/ready`);
        if (readiness?.status === 200) return isUrlOk(`http://127.0.0.1:${ports.port}/health/`);
        show(describeUnreadyParts(readiness?.body));
        return false;
      },
    }),
  );
}

function readPort(variable: string, defaultPort: number): number {
  const port = Number(process.env[variable] || defaultPort);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new LocalCommandUserError(`${variable} must be a port from 1 to 65535.`);
}

async function createProductEnvironment(
  ports: LocalPorts,
  serverUrls: LocalServerUrls,
): Promise<NodeJS.ProcessEnv & { PUBLIC_URL: string; DOCS_URL: string; CONSOLE_URL: string; LISTEN_HOST: string }> {
  const { dataKeys, adminKey, opsToken } = await readOrCreateLocalSecrets(localStateFolder);
  const configured = Object.entries(process.env).filter(([, value]) => value !== "");
  return {
    OBJECT_STORE: `file:${join(localStateFolder, "objects")}`,
    DATA_KEYS: dataKeys,
    PRAGMA_ADMIN_KEY: adminKey,
    OPS_TOKEN: opsToken,
    PUBLIC_URL: `http://localhost:${ports.port}`,
    DOCS_URL: `http://localhost:${ports.portalPort}/docs`,
    CONSOLE_URL: `http://localhost:${ports.consolePort}`,
    // Another page that is open in the browser must not read the key of a sandbox that it creates.
    CORS_ORIGINS: [ports.portalPort, ports.consolePort]
      .flatMap((port) => [`http://localhost:${port}`, `http://127.0.0.1:${port}`])
      .join(","),
    PRAGMA_COMMIT: readCheckedOutCommit(),
    PRAGMA_DEMO_FILE: join(localStateFolder, "demo.json"),
    SANDBOXES: "on",
    // Anyone who reaches the API can create a sandbox, whose webhooks can send requests to this machine.
    LISTEN_HOST: "localhost",
    ...Object.fromEntries(configured),
    ...serverUrls,
    PORT: String(ports.port),
    OPS_PORT: String(ports.opsPort),
    PORTAL_PORT: String(ports.portalPort),
    CONSOLE_PORT: String(ports.consolePort),
    SANDBOX_INBOX_PORT: String(ports.sandboxInboxPort),
  };
}

/** Returns the migrations that new lines of the log report, or what the product waits for; or an empty text. */
export function describeStartStep(logged: string): string {
  const steps = logged.split("\n").flatMap((line) => {
    // The last line can be incomplete.
    if (!/"msg":"(?:migration applied|waiting for ).*\}$/.test(line)) return [];
    const { service, number, count, msg, reason } = JSON.parse(line);
    return number ? `migrating ${service}: ${number} of ${count} done` : `${service}: ${msg} (${reason})`;
  });
  return steps.at(-1) ?? "";
}

/** Returns the dependencies for which the product waits, according to a response of `/ready`, each with all that wait. */
export function describeUnreadyParts(body = "{}"): string {
  const { parts = {} }: { parts?: Record<string, Record<string, string>> } = JSON.parse(body);
  const partsByWait = new Map<string, string[]>();
  for (const [part, states] of Object.entries(parts))
    for (const [name, state] of Object.entries(states)) {
      if (state === "ok") continue;
      const wait = `${name}: ${state.replace(/\.$/, "")}`;
      partsByWait.set(wait, [...(partsByWait.get(wait) ?? []), part]);
    }
  return [...partsByWait]
    .map(([wait, names]) => `${names.join(", ")} ${names.length === 1 ? "waits" : "wait"} for ${wait}`)
    .join("; ");
}

function readCheckedOutCommit(): string {
  const { stdout, status } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: repositoryFolder, encoding: "utf8" });
  return status === 0 ? stdout.trim() : "unknown";
}

async function seedDemo(url: string, env: NodeJS.ProcessEnv): Promise<string> {
  // Unset, because the messages about the documentation and the default URL of the API are printed separately.
  const options = { env: { ...env, PRAGMA_URL: url, DOCS_URL: undefined, PUBLIC_URL: process.env.PUBLIC_URL } };
  const output = await runTaskWithProgress("Seeding the demo location", () =>
    runCommandOrFail(process.execPath, [seedDemoProgram], options, "The demo location could not be seeded"),
  );
  return output.trimEnd();
}

/** Returns the key of the demo location that can only read reports, and that all readers of the documentation may have. */
export function readSiteApiKey(demoFile = ""): string | undefined {
  return existsSync(demoFile) ? JSON.parse(readFileSync(demoFile, "utf8")).siteApiKey : undefined;
}

export function isLocalLiveDemoEnabled(env: NodeJS.ProcessEnv): boolean {
  return !["off", "false", "0", "no"].includes((env.PRAGMA_LIVE_DEMO ?? "").toLowerCase());
}

/** Starts the program that sends the data of a simulated restaurant to the API. Its end does not stop the product. */
export function startLiveDemoProgram(folder: string, program: string, url: string, env: NodeJS.ProcessEnv) {
  // Resolved here, because the live demo has another working directory than this process and the seeding program.
  const demoFile = resolve(env.PRAGMA_DEMO_FILE || join(folder, "demo.json"));
  return launchLocalServer({
    name: "The live demo",
    logFile: join(folder, "logs", "live-demo.log"),
    log: printLine,
    command: process.execPath,
    args: [program],
    env: { PATH: process.env.PATH, PRAGMA_URL: url, PRAGMA_DEMO_FILE: demoFile },
    isReady: async () => true,
  });
}
