import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freePort, isPortFree } from "./free-port.ts";
import { isRunning, knownProcess } from "./guarded.mjs";
import { runServer } from "./run-server.ts";
import { hearFrom } from "./testing/hear-from.ts";
import { scratchFolder } from "./testing/scratch-folder.ts";

const greeter = `
  const server = require("node:net").createServer((socket) => socket.end("hello"));
  server.listen(Number(process.argv[1]), "127.0.0.1");
  process.on("SIGTERM", () => setTimeout(() => { console.log("good bye"); process.exit(); }, 100));`;

async function plan(folder: string, changes: { program?: string; port?: number; log?: (story: string) => void } = {}) {
  const { program = greeter, port = await freePort(), log = () => {} } = changes;
  const isReady = async () => (await hearFrom(port, /hello/)) !== undefined;
  const args = ["-e", program, String(port)];
  return { name: "Greeter", logFile: join(folder, "server.log"), port, log, command: process.execPath, args, isReady };
}

it("is ready when it resolves, and has ended when stop resolves", async () => {
  const folder = scratchFolder();
  const port = await freePort();
  const server = await runServer(await plan(folder, { port }));
  const known = knownProcess(server.pid);
  expect(await hearFrom(port, /hello/)).toBe("hello");
  await server.stop();
  expect(isRunning(known)).toBe(false);
  expect(readFileSync(join(folder, "server.log"), "utf8")).toContain("good bye");
});

it("is killed when it does not stop in its time", async () => {
  const program = `${greeter} process.removeAllListeners("SIGTERM").on("SIGTERM", () => {});`;
  const server = await runServer({ ...(await plan(scratchFolder(), { program })), stopTimeoutMs: 200 });
  await server.stop();
  expect(await server.ended).toBe("SIGKILL");
});

it("starts again on the same port after it was killed", async () => {
  const folder = scratchFolder();
  const port = await freePort();
  const first = await runServer(await plan(folder, { port }));
  await first.kill();
  expect(await isPortFree(port)).toBe(true);
  const second = await runServer(await plan(folder, { port }));
  await second.stop();
  expect(readFileSync(join(folder, "server.log"), "utf8").match(/good bye/g)).toHaveLength(1);
});

it("tells the end of its log when a server does not come up", async () => {
  const program = 'console.error("no such thing as a\\nbroken configuration"); process.exit(3);';
  await expect(runServer(await plan(scratchFolder(), { program }))).rejects.toThrow(
    /Greeter did not come up: it ended \(exit code 3\)[\s\S]*broken configuration/,
  );
});

it("tells when a server ends by itself", async () => {
  const program = `${greeter} setTimeout(() => { console.error("worn out"); process.exit(4); }, 300);`;
  const story = await new Promise<string>((log) => void plan(scratchFolder(), { program, log }).then(runServer));
  expect(story).toMatch(/Greeter ended by itself \(exit code 4\)[\s\S]*worn out/);
});

it("refuses a port that another program has", async () => {
  const port = await freePort();
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  await expect(runServer(await plan(scratchFolder(), { port }))).rejects.toThrow(`cannot listen on port ${port}`);
});
