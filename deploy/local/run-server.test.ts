import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findFreePort, isPortFree } from "./free-port.ts";
import { identifyProcess, isProcessRunning } from "./process-cleanup.mjs";
import { launchServer } from "./run-server.ts";
import { readFromPort } from "./testing/read-from-port.ts";
import { createScratchFolder } from "./testing/scratch-folder.ts";

const greeterProgram = `
  const server = require("node:net").createServer((socket) => socket.end("hello"));
  server.listen(Number(process.argv[1]), "127.0.0.1");
  process.on("SIGTERM", () => setTimeout(() => { console.log("good bye"); process.exit(); }, 100));`;

async function createGreeterOptions(
  folder: string,
  changes: { program?: string; port?: number; log?: (story: string) => void } = {},
) {
  const { program = greeterProgram, port = await findFreePort(), log = () => {} } = changes;
  const isReady = async () => (await readFromPort(port, /hello/)) !== undefined;
  const args = ["-e", program, String(port)];
  return { name: "Greeter", logFile: join(folder, "server.log"), port, log, command: process.execPath, args, isReady };
}

it("is ready when it resolves, and has ended when stop resolves", async () => {
  const folder = createScratchFolder();
  const port = await findFreePort();
  const server = await launchServer(await createGreeterOptions(folder, { port }));
  const known = identifyProcess(server.pid);
  expect(await readFromPort(port, /hello/)).toBe("hello");
  await server.stop();
  expect(isProcessRunning(known)).toBe(false);
  expect(readFileSync(join(folder, "server.log"), "utf8")).toContain("good bye");
});

it("is killed when it does not stop in its time", async () => {
  const program = `${greeterProgram} process.removeAllListeners("SIGTERM").on("SIGTERM", () => {});`;
  const server = await launchServer({
    ...(await createGreeterOptions(createScratchFolder(), { program })),
    stopTimeoutMs: 200,
  });
  await server.stop();
  expect(await server.ended).toBe("SIGKILL");
});

it("starts again on the same port after it was killed", async () => {
  const folder = createScratchFolder();
  const port = await findFreePort();
  const first = await launchServer(await createGreeterOptions(folder, { port }));
  await first.kill();
  expect(await isPortFree(port)).toBe(true);
  const second = await launchServer(await createGreeterOptions(folder, { port }));
  await second.stop();
  expect(readFileSync(join(folder, "server.log"), "utf8").match(/good bye/g)).toHaveLength(1);
});

it("tells the end of its log when a server does not come up", async () => {
  const program = 'console.error("no such thing as a\\nbroken configuration"); process.exit(3);';
  await expect(launchServer(await createGreeterOptions(createScratchFolder(), { program }))).rejects.toThrow(
    /Greeter did not come up: it ended \(exit code 3\)[\s\S]*broken configuration/,
  );
});

it("tells when a server ends by itself", async () => {
  const program = `${greeterProgram} setTimeout(() => { console.error("worn out"); process.exit(4); }, 300);`;
  const story = await new Promise<string>(
    (log) => void createGreeterOptions(createScratchFolder(), { program, log }).then(launchServer),
  );
  expect(story).toMatch(/Greeter ended by itself \(exit code 4\)[\s\S]*worn out/);
});

it("refuses a port that another program has", async () => {
  const port = await findFreePort();
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  await expect(launchServer(await createGreeterOptions(createScratchFolder(), { port }))).rejects.toThrow(
    `cannot listen on port ${port}`,
  );
});
