import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findFreePort, isPortFree } from "./free-port.ts";
import { isProcessRunning, readProcessIdentity } from "./process-cleanup.mjs";
import { describeLogEnd, isUrlOk, launchLocalServer, rotateLogFile } from "./run-server.ts";
import { readFromPortUntilMatch } from "./testing/read-from-port.ts";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

const greeterProgram = `
  const server = require("node:net").createServer((socket) => socket.end("hello"));
  server.listen(Number(process.argv[1]), "127.0.0.1");
  process.on("SIGTERM", () => setTimeout(() => { console.log("good bye"); process.exit(); }, 100));`;

async function createGreeterOptions(
  folder: string,
  changes: { program?: string; port?: number; log?: (message: string) => void } = {},
) {
  const { program = greeterProgram, port = await findFreePort(), log = () => {} } = changes;
  const isReady = async () => (await readFromPortUntilMatch(port, /hello/)) !== undefined;
  const args = ["-e", program, String(port)];
  return { name: "Greeter", logFile: join(folder, "server.log"), port, log, command: process.execPath, args, isReady };
}

it("resolves when the server is ready, and stop resolves when it has ended", async () => {
  const folder = createTestScratchFolder();
  const port = await findFreePort();
  const server = await launchLocalServer(await createGreeterOptions(folder, { port }));
  const identity = readProcessIdentity(server.pid);
  expect(await readFromPortUntilMatch(port, /hello/)).toBe("hello");
  await server.stop();
  expect(isProcessRunning(identity)).toBe(false);
  expect(readFileSync(join(folder, "server.log"), "utf8")).toContain("good bye");
});

it("kills a server that does not stop in time", async () => {
  const program = `${greeterProgram} process.removeAllListeners("SIGTERM").on("SIGTERM", () => {});`;
  const server = await launchLocalServer({
    ...(await createGreeterOptions(createTestScratchFolder(), { program })),
    stopTimeoutMs: 200,
  });
  await server.stop();
  expect(await server.ended).toBe("SIGKILL");
});

it("restarts a killed server on the same port", async () => {
  const folder = createTestScratchFolder();
  const port = await findFreePort();
  const first = await launchLocalServer(await createGreeterOptions(folder, { port }));
  await first.kill();
  expect(await isPortFree(port)).toBe(true);
  const second = await launchLocalServer(await createGreeterOptions(folder, { port }));
  await second.stop();
  expect(readFileSync(join(folder, "server.log"), "utf8").match(/good bye/g)).toHaveLength(1);
});

it("throws with the end of the log when a server does not start", async () => {
  const program = 'console.error("no such thing as a\\nbroken configuration"); process.exit(3);';
  await expect(launchLocalServer(await createGreeterOptions(createTestScratchFolder(), { program }))).rejects.toThrow(
    /Greeter did not start: it exited \(exit code 3\)[\s\S]*broken configuration/,
  );
});

it("waits for a server that needs long, while it logs something, and gives up when it logs nothing more", async () => {
  const program = 'setInterval(() => { if (process.uptime() < Number(process.argv[2])) console.log("step"); }, 50)';
  const launch = async (busySeconds: string, isReady: () => Promise<boolean>) => {
    const options = await createGreeterOptions(createTestScratchFolder(), { program });
    const logged: string[] = [];
    const onLogged = (text: string) => void logged.push(text);
    const args = [...options.args, busySeconds];
    const server = await launchLocalServer({ ...options, args, isReady, onLogged, silenceTimeoutMs: 1_500 });
    return { server, steps: logged.join("").split("\n").length };
  };
  const readyAt = Date.now() + 3_000;
  const { server, steps } = await launch("60", async () => Date.now() > readyAt);
  expect(steps).toBeGreaterThan(10);
  await server.stop();
  await expect(launch("0.5", async () => false)).rejects.toThrow(/it is not ready, and has logged nothing for 1\.5 s/);
});

it("sees that a server is ready on a port that fetch refuses", async () => {
  const program = 'require("node:http").createServer((_, response) => response.end("{}")).listen(6697, "127.0.0.1")';
  const isReady = () => isUrlOk("http://127.0.0.1:6697/ready");
  const options = await createGreeterOptions(createTestScratchFolder(), { program, port: 6_697 });
  await (await launchLocalServer({ ...options, isReady })).stop();
});

it("logs when a server exits unexpectedly", async () => {
  const program = `${greeterProgram} setTimeout(() => { console.error("worn out"); process.exit(4); }, 300);`;
  const message = await new Promise<string>(
    (log) => void createGreeterOptions(createTestScratchFolder(), { program, log }).then(launchLocalServer),
  );
  expect(message).toMatch(/Greeter exited unexpectedly \(exit code 4\)[\s\S]*worn out/);
});

it("states that a server was probably stopped from outside, with the end of its log for people", async () => {
  const entry = JSON.stringify({ level: "info", time: "2026-11-30T12:20:36.329Z", name: "pragma", msg: "stopped" });
  const program = `${greeterProgram} setTimeout(() => { console.log(${JSON.stringify(entry)}); process.exit(); }, 300);`;
  const message = await new Promise<string>(
    (log) => void createGreeterOptions(createTestScratchFolder(), { program, log }).then(launchLocalServer),
  );
  expect(message).toMatch(
    /^Greeter has shut down in good order \(exit code 0\): another program has probably stopped it/,
  );
  expect(message).toMatch(/\n {2}2026-11-30T12:20:36\.329Z info: stopped$/);
});

it("rejects a port that another program uses", async () => {
  const port = await findFreePort();
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  await expect(launchLocalServer(await createGreeterOptions(createTestScratchFolder(), { port }))).rejects.toThrow(
    `cannot listen on port ${port}`,
  );
});

it("moves a large log to a second file and empties it", () => {
  const file = join(createTestScratchFolder(), "server.log");
  expect(rotateLogFile(file, 1_000)).toBe(0);
  appendFileSync(file, "small\n");
  expect(rotateLogFile(file, 1_000)).toBe(6);
  expect(existsSync(`${file}.1`)).toBe(false);
  appendFileSync(file, "x".repeat(1_000));
  expect(rotateLogFile(file, 1_000)).toBe(0);
  expect(statSync(file).size).toBe(0);
  expect(readFileSync(`${file}.1`, "utf8")).toBe(`small\n${"x".repeat(1_000)}`);
  appendFileSync(file, "after\n");
  expect(describeLogEnd(file, 500)).toContain("after");
});
