import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "vitest";
import { findFreePort, isPortFree, requirePortForBrowsers } from "./free-port.ts";

it.each(["127.0.0.1", "0.0.0.0"])("reports a port as in use when a program listens on %s", async (host) => {
  const other = createServer().listen(0, host);
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  expect(await isPortFree(port)).toBe(false);
  other.close();
  await once(other, "close");
  expect(await isPortFree(port)).toBe(true);
});

it("finds a port on which a server can listen", async () => {
  const server = createServer().listen(await findFreePort(), "127.0.0.1");
  await once(server, "listening");
  server.close();
});

it("returns different ports even before one of them is used", async () => {
  const ports = await Promise.all(Array.from({ length: 500 }, findFreePort));
  expect(new Set(ports).size).toBe(500);
});

it.each([4190, 6000, 10080])("rejects port %d, to which browsers do not connect", async (port) => {
  await expect(requirePortForBrowsers("PORT", port)).rejects.toThrow(`port ${port}. Set PORT to another port`);
});

it("accepts a port to which browsers connect", async () => {
  await requirePortForBrowsers("PORT", await findFreePort());
});
