import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { findFreePort } from "./free-port.ts";
import { configuredServerUrl } from "./servers.ts";

afterEach(() => vi.unstubAllEnvs());

/** What says this at first, and answers whatever it is told like a NATS server that is told PING. */
async function startGreetingServer(greeting: string) {
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("data", () => socket.write("PONG\r\n"));
    socket.write(greeting);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it("takes a NATS with JetStream at the given address", async () => {
  const port = await startGreetingServer('INFO {"version":"2.10.1","jetstream":true}\r\n');
  vi.stubEnv("NATS_URL", `nats://127.0.0.1:${port}`);
  expect(await configuredServerUrl("nats")).toBe(`nats://127.0.0.1:${port}`);
});

it("refuses a NATS without JetStream", async () => {
  const port = await startGreetingServer('INFO {"version":"2.10.1"}\r\n');
  vi.stubEnv("NATS_URL", `nats://127.0.0.1:${await findFreePort()},nats://127.0.0.1:${port}`);
  await expect(configuredServerUrl("nats")).rejects.toThrow(/NATS \(with JetStream\) does not answer.*NATS_URL/);
});

it.each([
  ["postgres", "DATABASE_URL", "postgres://user:secret@127.0.0.1"],
  ["redis", "REDIS_URL", "redis://:secret@127.0.0.1"],
] as const)(
  "says which variable names a %s that nobody listens for, without its password",
  async (kind, variable, url) => {
    vi.stubEnv(variable, `${url}:${await findFreePort()}`);
    const failure = await configuredServerUrl(kind).catch((error: Error) => error);
    expect(String(failure)).toContain(`does not answer at the address in ${variable}`);
    expect(String(failure)).not.toContain("secret");
  },
);

it("asks nobody when the variable is empty", async () => {
  vi.stubEnv("REDIS_URL", "");
  expect(await configuredServerUrl("redis")).toBeUndefined();
});

it("refuses what is no URL", async () => {
  vi.stubEnv("DATABASE_URL", "postgres://");
  await expect(configuredServerUrl("postgres")).rejects.toThrow("DATABASE_URL is not a URL with a host");
});
