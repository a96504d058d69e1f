import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import { requireFreePort } from "./free-port.ts";
import { runCommandOrFail } from "./run-command.mjs";
import { isUrlOk, launchServer } from "./run-server.ts";
import { ensureServers } from "./servers.ts";
import { checkoutFolder } from "./setup.mjs";
import { localStateFolder, lockLocalStateFolder, prepareLocalStateFolder, readOrCreateFile } from "./state-folder.ts";
import { describeError, printLine, UserFacingError, withProgress } from "./terminal.mjs";

const seedDemoProgram = join(checkoutFolder, "simulator", "dist", "src", "demo.js");
const liveDemoProgram = join(checkoutFolder, "simulator", "dist", "src", "demo-live.js");

/**
 * Starts everything that a checkout needs to run, in order. Ends with the product answering, and its documentation.
 * `fail` is told when the product ends by itself.
 */
export async function startCheckout(fail: (error: unknown) => void): Promise<undefined> {
  const since = Date.now();
  const port = readPort("PORT", 4000);
  const opsPort = readPort("OPS_PORT", 4090);
  const portalPort = readPort("PORTAL_PORT", 3000);
  prepareLocalStateFolder();
  await lockLocalStateFolder();
  await requireFreePort("PORT", port);
  await requireFreePort("OPS_PORT", opsPort);
  await withProgress("Compiling", async () => {
    const options = { cwd: checkoutFolder };
    const tsc = join("node_modules", ".bin", "tsc");
    await runCommandOrFail(process.execPath, [join("client", "generate-types.mjs")], options, "No types of the client");
    await runCommandOrFail(tsc, ["-b", "services", "simulator"], options, "The code does not compile");
  });

  const env = await createProductEnvironment({ port, opsPort, portalPort });
  const logFile = join(localStateFolder, "logs", "product.log");
  const product = {
    name: "The product",
    logFile,
    port,
    command: process.execPath,
    args: [join(checkoutFolder, "services", "dist", "main.js")],
    env,
    log: fail,
    // It lets requests in flight finish, for 30 seconds at most.
    stopTimeoutMs: 35_000,
    isReady: async () =>
      (await isUrlOk(`http://127.0.0.1:${port}/health/`)) && (await isUrlOk(`http://127.0.0.1:${opsPort}/ready`)),
  };
  await withProgress("Starting the product", () => launchServer(product));
  const url = `http://localhost:${port}`;
  // Together: the demo waits for reports, while the documentation is built.
  const starting = startPortal(portalPort);
  const demoSummary = await seedDemo(url, env);
  const isLive = isLiveDemoEnabled(process.env);
  if (isLive) await startLiveDemo(localStateFolder, liveDemoProgram, url, env);
  const portalSummary = await starting;

  printLine(`Pragma API answers at ${url} (ready in ${((Date.now() - since) / 1000).toFixed(1)} s)`);
  printLine(demoSummary);
  printLine(portalSummary);
  if (isLive)
    printLine(
      `The demo's live orders move (${join(localStateFolder, "logs", "live-demo.log")} tells how); PRAGMA_LIVE_DEMO=off keeps them still.`,
    );
  printLine(`Its log is ${logFile}, its data in ${localStateFolder}. Ctrl-C stops it and keeps the data.`);
}

function readPort(variable: string, usual: number): number {
  const given = Number(process.env[variable] || usual);
  if (Number.isInteger(given) && given > 0 && given < 65_536) return given;
  throw new UserFacingError(`${variable} must be a port, 1 to 65535.`);
}

/** What the product runs with; what the environment says wins. */
async function createProductEnvironment(
  ports: Record<"port" | "opsPort" | "portalPort", number>,
): Promise<NodeJS.ProcessEnv> {
  const { dataKeys, adminKey } = await readOrCreateSecrets(localStateFolder);
  const given = Object.entries(process.env).filter(([, value]) => value !== "");
  return {
    OBJECT_STORE: `file:${join(localStateFolder, "objects")}`,
    DATA_KEYS: dataKeys,
    PRAGMA_ADMIN_KEY: adminKey,
    DOCS_URL: `http://localhost:${ports.portalPort}/docs`,
    ...Object.fromEntries(given),
    ...(await ensureServers("start")),
    PORT: String(ports.port),
    OPS_PORT: String(ports.opsPort),
  };
}

/** Makes the demo location where the installation has none. Returns what to tell about it. */
async function seedDemo(url: string, env: NodeJS.ProcessEnv): Promise<string> {
  // Where the documentation is, or why it is not there, is told apart from the demo.
  const options = { env: { ...env, PRAGMA_URL: url, DOCS_URL: undefined } };
  const output = await withProgress("Seeding the demo location", () =>
    runCommandOrFail(process.execPath, [seedDemoProgram], options, "The demo location could not be seeded"),
  );
  return output.trimEnd();
}

/** Whether the demo's live orders are to move: unless PRAGMA_LIVE_DEMO says off. */
export function isLiveDemoEnabled(env: NodeJS.ProcessEnv): boolean {
  return !["off", "false", "0", "no"].includes((env.PRAGMA_LIVE_DEMO ?? "").toLowerCase());
}

/**
 * Starts the program that plays the demo's restaurant against the API at `url`, beside the product, until it is told to
 * end. When it ends by itself the product goes on. Its log is `logs/live-demo.log`.
 */
export function startLiveDemo(folder: string, program: string, url: string, env: NodeJS.ProcessEnv) {
  // The same as the seeding's, which does not run in another folder.
  const demoFile = resolve(env.PRAGMA_DEMO_FILE || join(".pragma", "demo.json"));
  return launchServer({
    name: "The live demo",
    logFile: join(folder, "logs", "live-demo.log"),
    log: printLine,
    command: process.execPath,
    args: [program],
    env: { PATH: process.env.PATH, PRAGMA_URL: url, PRAGMA_DEMO_FILE: demoFile },
    isReady: async () => true,
  });
}

/**
 * What a checkout's installation keeps to itself, made once and readable by its owner only: what data at rest is encrypted
 * with (`name:secret`), and the first admin key.
 *
 * @throws Failure when the file is broken: the database holds the hash of the key that was in it.
 */
export async function readOrCreateSecrets(folder: string): Promise<{ dataKeys: string; adminKey: string }> {
  const file = join(folder, "secrets.json");
  // Not a static import: the runtime is compiled with types of this folder.
  const { createApiKey } = await import(join(checkoutFolder, "services", "_runtime", "security", "api-key.ts"));
  const text = readOrCreateFile(file, () => {
    const fresh = { dataKeys: `local:${randomBytes(32).toString("hex")}`, adminKey: createApiKey().key };
    return `${JSON.stringify(fresh, undefined, 2)}\n`;
  });
  try {
    const { dataKeys, adminKey } = JSON.parse(text) ?? {};
    if ([dataKeys, adminKey].every((secret) => typeof secret === "string")) return { dataKeys, adminKey };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UserFacingError(`${file} is broken. Remove ${folder} to start with fresh demo data (rm -rf ${folder}).`);
}

const portalFolder = join(checkoutFolder, "docs-portal");

/**
 * Builds the documentation site, unless it was built from what is in the checkout.
 *
 * @throws Failure with the end of what the build says.
 */
export async function buildPortal(): Promise<void> {
  const args = [join(portalFolder, "build.mjs"), "--if-stale"];
  await withProgress("Building the documentation", () =>
    runCommandOrFail(process.execPath, args, {}, "The documentation cannot be built"),
  );
}

/**
 * Builds the documentation site where needed, and serves it. The API does without it: what goes wrong is told in the
 * line that is returned, and nothing is thrown.
 */
async function startPortal(port: number): Promise<string> {
  try {
    await requireFreePort("PORTAL_PORT", port);
    await buildPortal();
    await launchServer({
      name: "The documentation",
      logFile: join(localStateFolder, "logs", "portal.log"),
      port,
      log: printLine,
      stopTimeoutMs: 5_000,
      command: process.execPath,
      args: [join(portalFolder, "serve.mjs"), String(port)],
      isReady: () => isUrlOk(`http://127.0.0.1:${port}/`),
    });
    return `Open http://localhost:${port} for the documentation, with every operation to try.`;
  } catch (error) {
    return `The API works, but its documentation is not served. ${describeError(error)}`;
  }
}
