import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { findFreePort } from "./free-port.ts";
import { findServerUrl } from "./servers.ts";

afterEach(() => vi.unstubAllEnvs());

/** Starts a fake NATS server that sends this greeting and responds to everything with PONG. */
async function startGreetingServer(greeting: string) {
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("data", () => socket.write("PONG\r\n"));
    socket.write(greeting);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it.each(["", "token@", "user:1password@"])("accepts a NATS server with JetStream at nats://%s…", async (login) => {
  const port = await startGreetingServer('INFO {"version":"2.10.1","jetstream":true}\r\n');
  const url = `nats://${login}127.0.0.1:${port}`;
  vi.stubEnv("NATS_URL", url);
  expect(await findServerUrl("nats")).toBe(url);
});

it("rejects a NATS server without JetStream", async () => {
  const port = await startGreetingServer('INFO {"version":"2.10.1"}\r\n');
  vi.stubEnv("NATS_URL", `nats://127.0.0.1:${await findFreePort()},nats://127.0.0.1:${port}`);
  await expect(findServerUrl("nats")).rejects.toThrow(/NATS \(with JetStream\) does not respond.*NATS_URL/);
});

it.each([
  ["postgres", "DATABASE_URL", "postgres://user:secret@127.0.0.1"],
  ["redis", "REDIS_URL", "redis://:secret@127.0.0.1"],
] as const)("names the variable, without the password, when no %s responds", async (kind, variable, url) => {
  vi.stubEnv(variable, `${url}:${await findFreePort()}`);
  const failure = await findServerUrl(kind).catch((error: Error) => error);
  expect(String(failure)).toContain(`does not respond at the address in ${variable}`);
  expect(String(failure)).not.toContain("secret");
});

it("ignores an empty variable", async () => {
  vi.stubEnv("REDIS_URL", "");
  expect(await findServerUrl("redis")).toBeUndefined();
});

it("rejects an invalid URL", async () => {
  vi.stubEnv("DATABASE_URL", "postgres://");
  await expect(findServerUrl("postgres")).rejects.toThrow("DATABASE_URL is not a URL with a host");
});
