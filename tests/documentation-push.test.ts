import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { paymentModes, paymentRowTypes } from "@pragma/contracts/enumerations";
import { minimalTestTill } from "@pragma/contracts/testing/minimal-till-v2";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/* These tests run the programs on the page "Push a till" as a reader would, and check the tables of the page. */

const portalFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
);

const programs = [
  { file: "push-till.sh", command: "bash", args: [], needs: "curl" },
  { file: "push-till.mts", command: process.execPath, args: ["--import", import.meta.resolve("tsx")] },
  { file: "push-till.py", command: "python3", args: [], needs: "python3" },
  { file: "push-till.php", command: "php", args: ["-d", "display_errors=stderr"], needs: "php" },
].filter(({ needs }) => needs === undefined || spawnSync(needs, ["--version"]).status === 0);

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;
beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product);
}, 300_000);

/** Starts a proxy of the API that rejects its first request with 503, and closes the connection of the second. */
async function startOverloadedProxy() {
  const statuses: number[] = [];
  const server = createServer((incoming, outgoing) => {
    if (statuses.length === 0) {
      statuses.push(503);
      incoming.resume();
      outgoing.writeHead(503, { "retry-after": "1", connection: "close" }).end();
      return;
    }
    if (statuses.length === 1) {
      statuses.push(0);
      incoming.socket.destroy();
      return;
    }
    const { method, headers, url = "/" } = incoming;
    const forwarded = sendRequest(`${product.url}${url}`, { method, headers }, (response) => {
      statuses.push(response.statusCode ?? 0);
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    statuses,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Runs a program of the page in a folder with this till, if any. Returns its exit code and its output. */
async function runProgram(
  { file, command, args }: (typeof programs)[number],
  till: string | undefined,
  apiUrl: string,
  key = testLocation.key,
) {
  const folder = mkdtempSync(join(tmpdir(), "pragma-push-"));
  try {
    copyFileSync(join(portalFolder, "snippets", "push-till", file), join(folder, file));
    if (till !== undefined) writeFileSync(join(folder, "till.json"), till);
    const env = { PATH: process.env.PATH, PRAGMA_URL: apiUrl, PRAGMA_API_KEY: key };
    const child = spawn(command, [...args, file], { cwd: folder, env, timeout: 20_000 });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (part) => {
        output += part;
      });
    }
    const [code] = await once(child, "close");
    return { code, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe.each(programs)("the program $file", (program) => {
  it("pushes the exact bytes of a till again after a 503 and a lost connection", async () => {
    const id = randomUUID();
    const till = JSON.stringify({ ...minimalTestTill, id, note: "Été" }, null, 1);
    const proxy = await startOverloadedProxy();
    const { code, output } = await runProgram(program, till, proxy.url);
    proxy.stop();
    expect(code, output).toBe(0);
    expect(proxy.statuses).toEqual([503, 0, 201]);
    expect(await (await testLocation.request("GET", `/v1/tills/${id}/object`)).text()).toBe(till);
  });

  it("stops at once if the API asks it to wait for hours", async () => {
    let requestCount = 0;
    const server = createServer((incoming, outgoing) => {
      requestCount += 1;
      incoming.resume();
      outgoing.writeHead(429, { "retry-after": "7200" }).end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, output } = await runProgram(program, JSON.stringify(minimalTestTill), url);
    server.close();
    expect(code).not.toBe(0);
    expect(output).toContain("The till was not accepted (429). Push it again later.");
    expect(requestCount).toBe(1);
  });

  it("sends nothing if the file or the API key is missing", async () => {
    const proxy = await startOverloadedProxy();
    const withoutFile = await runProgram(program, undefined, proxy.url);
    const withoutKey = await runProgram(program, JSON.stringify(minimalTestTill), proxy.url, "");
    proxy.stop();
    expect(withoutFile.code).not.toBe(0);
    expect(withoutFile.output).toMatch(/no such file.*till\.json|till\.json cannot be read/is);
    expect(withoutKey.code).not.toBe(0);
    expect(withoutKey.output).toMatch(/PRAGMA_API_KEY: Set this variable|Set PRAGMA_API_KEY/);
    expect(proxy.statuses).toEqual([]);
  });

  it("fails with the response if the till is rejected", async () => {
    const { code, output } = await runProgram(
      program,
      JSON.stringify({ ...minimalTestTill, id: "no UUID" }),
      product.url,
    );
    expect(code).not.toBe(0);
    expect(output).toContain("invalid_request");
  });
});

describe("the codes of V1 tills on the page", () => {
  const page = readFileSync(join(portalFolder, "docs", "push-a-till.mdx"), "utf8");
  const codesOf = (heading: string) => {
    const [, section = ""] = page.split(`#### ${heading}`);
    const [table = ""] = section.split("\n####");
    return [...table.matchAll(/^\| `(\d+)` \| `(\w+)` \|/gm)].map(([, code, value]) => [Number(code), value]);
  };

  it("are the indexes of the payment modes and types", () => {
    expect(codesOf("Payment modes")).toEqual([...paymentModes.entries()]);
    expect(codesOf("Payment types")).toEqual([...paymentRowTypes.entries()]);
  });
});
