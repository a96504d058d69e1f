import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

/** Starts the server of the console. Returns its process and its URL. */
async function startServer(variables: NodeJS.ProcessEnv = {}): Promise<[ChildProcess, string]> {
  const program = fileURLToPath(new URL("serve.mjs", import.meta.url));
  const env = { ...process.env, ...variables };
  const started = spawn(process.execPath, [program, "0"], { stdio: ["ignore", "pipe", "inherit"], env });
  const [output] = await once(started.stdout ?? started, "data");
  return [started, /http:\S+/.exec(String(output))?.[0] ?? ""];
}

let server: ChildProcess;
let url: string;
beforeAll(async () => {
  [server, url] = await startServer();
});
afterAll(() => void server?.kill());

it("answers only on this machine with LISTEN_HOST=localhost", async () => {
  const [local, localUrl] = await startServer({ LISTEN_HOST: "localhost" });
  const { port } = new URL(localUrl);
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each);
  const external = addresses.find(({ family, internal }) => family === "IPv4" && !internal);
  if (external) {
    await expect(fetch(`http://${external.address}:${port}`)).rejects.toThrow("fetch failed");
    expect((await fetch(`http://${external.address}:${new URL(url).port}`)).status).toBe(200);
  }
  for (const host of ["127.0.0.1", "[::1]", "localhost"])
    expect((await fetch(`http://${host}:${port}`)).status, host).toBe(200);
  local.kill();
  await once(local, "exit");
});

it.each(["bytes=0-4", "bytes=-5", "bytes=5", "lines=1-2"])("ignores the range %s", async (range) => {
  const whole = await (await fetch(url)).text();
  const response = await fetch(url, { headers: { range } });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(whole);
});

it("never answers a request twice, even if its body is invalid", async () => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1").setEncoding("utf8");
  let received = "";
  socket.on("data", (text) => (received += text)).on("error", () => {});
  socket.write("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
  await once(socket, "data");
  socket.write("zz\r\n\r\n");
  await once(socket, "close");
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 405"]);
});

it("states the URLs of the API and of the documentation, and forbids everything else", async () => {
  const response = await fetch(`${url}/config.json`);
  expect(await response.json()).toEqual({
    ...{ apiUrl: "http://localhost:4000", docsUrl: "http://localhost:3000/docs", hasSandboxes: false },
  });
  const policy = response.headers.get("content-security-policy");
  expect(policy).toContain("connect-src 'self' http://localhost:4000");
  expect(policy).not.toContain("unsafe");
  expect((await fetch(url, { method: "POST" })).status).toBe(405);
  expect((await fetch(`${url}/assets/none.js`)).status).toBe(404);
});
