import { execFile, spawn } from "node:child_process";
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { catalogExample } from "@pragma/contracts/examples/catalog";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../deploy/local/free-port.js";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/*
 * These tests pack the client as `npm pack` does, install it in an empty folder as a partner would, and run the programs
 * of its README against the product. The packages come from `node_modules`, so that the tests need no network.
 */

const clientFolder = findEnclosingPackageFolder(import.meta.resolve("@pragma/client/api-client"));
const repositoryFolder = join(clientFolder, "..");
const snippetsFolder = join(repositoryFolder, "docs-portal", "snippets", "client");
const snippetNames = readdirSync(snippetsFolder).map((file) => file.replace(/\.ts$/, ""));
const manifest = JSON.parse(readFileSync(join(clientFolder, "package.json"), "utf8"));
const runFile = promisify(execFile);
const documentedUrl = "http://127.0.0.1:4000";
/** A program that compiles only if the compiler rejects the path, because it reports an unused `@ts-expect-error`. */
const programWithInvalidPath = `import { createApiClient } from "@pragma/client";

const client = createApiClient({ baseUrl: "${documentedUrl}", apiKey: "" });
// @ts-expect-error The path does not exist.
await client.GET("/v2/report");
`;

/** The folder of the partner's program. */
const folder = mkdtempSync(join(tmpdir(), "pragma-client-"));
const installedFolder = join(folder, "node_modules", "@pragma", "client");

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;

beforeAll(async () => {
  // The client is installed while the product starts.
  const installed = installPackedClient();
  installed.catch(() => {});
  product = await getSharedPragmaUnderTest();
  const scopes = ["reports:read", "orders:read", "catalog:read", "catalog:write", "locations:read", "tills:write"];
  testLocation = await createTestLocation(product, { scopes: scopes as never });
  expect((await testLocation.request("PUT", "/v1/catalog/", { body: catalogExample })).status).toBe(200);
  for (const day of ["2026-05-20", "2026-05-21"])
    await testLocation.api.POST("/v2/tills", { body: generateTill({ seed: "package", orders: 3, day }) });
  await testLocation.waitForReports(2);
  await installed;
  writePrograms();
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function installPackedClient(): Promise<void> {
  await runFile("npm", ["pack", "--pack-destination", folder], { cwd: clientFolder });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const dependencies = ["openapi-fetch", "openapi-typescript-helpers", "@types/node", "undici-types"];
  const install = [
    ...[
      "install",
      "--offline",
      "--install-links",
      "--no-audit",
      "--no-fund",
      `./pragma-client-${manifest.version}.tgz`,
    ],
    ...dependencies.map((name) => join(repositoryFolder, "node_modules", name)),
  ];
  await runFile("npm", install, { cwd: folder });
}

/**
 * Writes the programs of the README with the URL of the product, a program with a path that does not exist, and the
 * settings for their compilation.
 */
function writePrograms(): void {
  mkdirSync(join(folder, "source"));
  for (const name of snippetNames) {
    const program = readFileSync(join(snippetsFolder, `${name}.ts`), "utf8");
    writeFileSync(join(folder, "source", `${name}.ts`), program.replace(documentedUrl, product.url));
  }
  writeFileSync(join(folder, "source", "invalid-path.ts"), programWithInvalidPath);
  const compilerOptions = {
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
    // All types are checked except those of TypeScript itself, which would take a quarter of the time.
    ...{ skipLibCheck: false, skipDefaultLibCheck: true },
    ...{ target: "es2023", module: "nodenext", types: ["node"], rootDir: "source", outDir: "compiled" },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["source"] }));
  // The types of the package must not depend on options that `strict` does not contain.
  const withoutStricterOptions = { noUncheckedIndexedAccess: false, exactOptionalPropertyTypes: false, noEmit: true };
  writeFileSync(
    join(folder, "tsconfig.less-strict.json"),
    JSON.stringify({ extends: "./tsconfig.json", compilerOptions: withoutStricterOptions }),
  );
}

const compilations = new Map<string, Promise<string>>();

/**
 * Compiles the programs with the TypeScript of a package, with stricter options and without them, unless this was done
 * before. Returns the output of the compiler, which is empty if there are no errors. One process compiles both, which
 * takes less time than two.
 */
function compile(packageFolder: string): Promise<string> {
  const compiler = join(packageFolder, "node_modules", "typescript", "bin", "tsc");
  const compilation =
    compilations.get(compiler) ??
    runFile(process.execPath, [compiler, "--build", "--force", "tsconfig.json", "tsconfig.less-strict.json"], {
      cwd: folder,
    }).then(
      ({ stdout }) => stdout,
      ({ stdout, message }) => stdout || message,
    );
  compilations.set(compiler, compilation);
  return compilation;
}

/** Runs a compiled program of the README, and returns its output. */
async function runProgram(name: string): Promise<string> {
  const env = { ...process.env, PRAGMA_API_KEY: testLocation.key };
  const { stdout, stderr } = await runFile(process.execPath, [join("compiled", `${name}.js`)], { cwd: folder, env });
  return `${stdout}${stderr}`;
}

describe("the packed client", () => {
  it("contains only compiled code, types, the README and the manifest", () => {
    const files = readdirSync(installedFolder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(installedFolder.length + 1));
    expect(files).toEqual(expect.arrayContaining(["README.md", "package.json", "dist/index.js", "dist/index.d.ts"]));
    const unexpected = /\.test\.|generate-types|tsbuildinfo|(?<!\.d)\.ts$|^(?!dist\/|README\.md$|package\.json$)/;
    expect(files.filter((file) => unexpected.test(file))).toEqual([]);
  });

  it("has the version and the license of the API, and exact dependencies from the registry", () => {
    const { info } = JSON.parse(readFileSync(join(repositoryFolder, "contracts", "openapi.json"), "utf8"));
    expect(manifest).toMatchObject({ version: info.version, license: info.license.name });
    expect(manifest.private).toBeUndefined();
    for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    const guide = join(repositoryFolder, "docs-portal", "docs", "client.mdx");
    for (const file of [join(clientFolder, "README.md"), guide])
      expect(readFileSync(file, "utf8")).toContain(`npm install ./pragma-client-${info.version}.tgz`);
  });

  it("shows in its README only programs that these tests run", () => {
    const readme = readFileSync(join(installedFolder, "README.md"), "utf8");
    const shown = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, program]) => program);
    const programs = snippetNames.map((name) => readFileSync(join(snippetsFolder, `${name}.ts`), "utf8"));
    expect(shown.toSorted()).toEqual(programs.toSorted());
  });

  it.each([
    ["5.9", clientFolder],
    ["7", repositoryFolder],
  ])(
    "compiles in strict programs and rejects an invalid path with TypeScript %s",
    { timeout: 120_000 },
    async (_, packageFolder) => {
      expect(await compile(packageFolder)).toBe("");
    },
  );
});

describe("a program with the packed client", () => {
  beforeAll(async () => {
    await compile(repositoryFolder);
  }, 120_000);

  it("lists reports", async () => {
    const lines = (await runProgram("first-call")).trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^2026-05-21T\S+ \d+$/);
  });

  it("handles errors by their code", async () => {
    const output = await runProgram("errors");
    expect(output).toContain("no such report");
    expect(output).toMatch(/^400 invalid_request [\w-]+$/m);
    expect(output).toMatch(/^query size /m);
  });

  it("limits the retries and the duration of a call", async () => {
    const { data: location } = await testLocation.api.GET("/v1/locations/own");
    expect((await runProgram("retries")).trim()).toBe(String(location.name));
  });

  it("adds up the orders of all pages", async () => {
    let total = 0;
    for await (const report of testLocation.api.items("/v2/reports")) total += report.totalSales;
    expect((await runProgram("pagination")).trim()).toBe(String(total));
  });

  it("sends a conditional request", async () => {
    expect(await runProgram("conditional-requests")).toBe(
      `${catalogExample.products.length} products\nThe catalog has not changed.\n`,
    );
  });

  it("accepts a signed webhook message and rejects a forged one", async () => {
    const port = await findFreePort();
    const secret = randomBytes(32).toString("hex");
    const receiver = spawn(process.execPath, [join("compiled", "webhooks.js")], {
      cwd: folder,
      env: { ...process.env, PORT: String(port), PRAGMA_WEBHOOK_SECRET: secret },
    });
    const body = JSON.stringify({ meta: { event: "test" }, data: {} });
    const send = (signedWith: string) => {
      const id = randomUUID();
      const timestamp = Math.floor(Date.now() / 1000);
      const signature = createHmac("sha256", signedWith).update(`${id}.${timestamp}.${body}`).digest("base64");
      const headers = {
        ...{ "webhook-id": id, "webhook-timestamp": String(timestamp) },
        "webhook-signature": `v1,${signature}`,
      };
      return fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
    };
    try {
      const accepted = await eventually("the receiver to start", () => send(secret).catch(() => undefined));
      expect(accepted.status).toBe(204);
      expect((await send("another secret")).status).toBe(401);
    } finally {
      receiver.kill();
    }
  });
});
