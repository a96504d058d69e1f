import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

let server: ChildProcess;
let url: string;
beforeAll(async () => {
  const program = fileURLToPath(new URL("serve.mjs", import.meta.url));
  server = spawn(process.execPath, [program, "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const [output] = await once(server.stdout ?? server, "data");
  url = /http:\S+/.exec(String(output))?.[0] ?? "";
});
afterAll(() => void server?.kill());

it.each(["bytes=0-4", "bytes=-5", "bytes=5", "lines=1-2"])("ignores the range %s", async (range) => {
  const whole = await (await fetch(url)).text();
  const response = await fetch(url, { headers: { range } });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(whole);
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
