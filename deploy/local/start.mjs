/**
 * `npm start`: everything that a checkout needs to run, in order, until Ctrl-C. Ends with the product answering, and its
 * documentation.
 */
import "./node-version.mjs";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./failure.mjs";
import { isLiveDemoWanted, liveDemoLog, startLiveDemo } from "./live-demo.mjs";
import { startPortal } from "./portal.mjs";
import { claimPorts, productLog, startProduct } from "./product.mjs";
import { say, withProgress } from "./progress.mjs";
import { endOf, runCommand } from "./run-command.mjs";
import { secretsIn } from "./secrets.mjs";
import { ensureServers } from "./servers.mjs";
import { ensurePackages } from "./setup.mjs";
import { checkout, openStateFolder, stateFolder } from "./state-folder.mjs";
import { runUntilStopped } from "./until-stopped.mjs";

const gatewayPort = portFrom("PORT", 4000);
const opsPort = portFrom("OPS_PORT", 4090);
const portalPort = portFrom("PORTAL_PORT", 3000);

await runUntilStopped(async ({ step, onStop, fail }) => {
  const since = Date.now();
  const place = { stateFolder, port: gatewayPort, opsPort, log: say };
  await step(() => openStateFolder());
  await step(() => claimPorts(place));
  await step(() => ensurePackages());
  await step(build);
  const servers = await step(() => ensureServers({ profile: "start" }));
  onStop(servers.stop);
  const env = productEnvironment(servers.env);
  const main = join(checkout, "services", "dist", "main.js");
  const product = await step(() =>
    withProgress("Starting the product", () => startProduct({ ...place, main, env, onEnd: fail })),
  );
  onStop(product.stop);
  const url = `http://localhost:${gatewayPort}`;
  // Together: the demo waits for reports, while the documentation is built.
  const starting = step(() => startPortal({ stateFolder, port: portalPort, log: say }));
  const story = await step(() => seedDemo(url, env));
  const program = join(checkout, "simulator", "dist", "src", "demo-live.js");
  const isLive = isLiveDemoWanted(process.env) && existsSync(program);
  if (isLive) {
    const liveDemo = await step(() => startLiveDemo({ stateFolder, program, url, env, log: say }));
    onStop(liveDemo.stop);
  }
  const portal = await starting;
  onStop(portal.stop);

  say(`Pragma API answers at ${url} (ready in ${((Date.now() - since) / 1000).toFixed(1)} s)`);
  if (story !== "") say(story);
  say(portal.story);
  if (isLive)
    say(`The demo's live orders move (${liveDemoLog(stateFolder)} tells how); PRAGMA_LIVE_DEMO=off keeps them still.`);
  say(`Its log is ${productLog(stateFolder)}, its data in ${stateFolder}. Ctrl-C stops it and keeps the data.`);
});

/**
 * @param {string} variable
 * @param {number} usual
 * @returns {number}
 */
function portFrom(variable, usual) {
  const given = Number(process.env[variable] || usual);
  if (Number.isInteger(given) && given > 0 && given < 65_536) return given;
  console.error(`${variable} must be a port, 1 to 65535.`);
  process.exit(1);
}

async function build() {
  await withProgress("Compiling", async () => {
    await compile(process.execPath, [join("client", "generate-types.mjs")]);
    await compile(join("node_modules", ".bin", "tsc"), ["-b", "services", "simulator"]);
  });
}

/**
 * @param {string} command
 * @param {string[]} args
 */
async function compile(command, args) {
  const { code, output } = await runCommand(command, args, { cwd: checkout });
  if (code !== 0) throw new Failure(`The code does not compile:\n${endOf(output, 40)}`);
}

/**
 * What the product runs with; what the environment says wins.
 * @param {import("./servers.d.mts").ServerUrls} urls
 * @returns {Record<string, string | undefined>}
 */
function productEnvironment(urls) {
  const { dataKeys, adminKey } = secretsIn(stateFolder);
  const given = Object.entries(process.env).filter(([, value]) => value !== "");
  return {
    OBJECT_STORE: `file:${join(stateFolder, "objects")}`,
    DATA_KEYS: dataKeys,
    PRAGMA_ADMIN_KEY: adminKey,
    DOCS_URL: `http://localhost:${portalPort}/docs`,
    ...Object.fromEntries(given),
    ...urls,
    PORT: String(gatewayPort),
    OPS_PORT: String(opsPort),
  };
}

/**
 * Makes the demo location where the installation has none.
 * @param {string} url
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<string>} what to tell about it
 */
async function seedDemo(url, env) {
  const demo = join(checkout, "simulator", "dist", "src", "demo.js");
  if (!existsSync(demo)) return "";
  return withProgress("Seeding the demo location", async () => {
    const { code, output } = await runCommand(process.execPath, [demo], {
      // Where the documentation is, or why it is not there, is told apart from the demo.
      env: { ...env, PRAGMA_URL: url, DOCS_URL: undefined },
    });
    if (code !== 0) throw new Failure(`The demo location could not be seeded:\n${endOf(output)}`);
    return output.trimEnd();
  });
}
