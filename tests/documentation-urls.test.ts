import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readResidentMemoryMegabytes } from "./harness/resident-memory.ts";

const portalFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
);
const siteApp = join(portalFolder, "site-app.mjs");

type CreateSiteApp = (options: { folder: string; environment: Record<string, string> }) => {
  request(path: string, init?: RequestInit): Promise<Response>;
};

const builtText = "https://docs.pragma.example/docs/webhooks http://127.0.0.1:4000/v2 https://api.pragma.example/v1";
const files = [
  "index.html",
  "404.html",
  "llms.txt",
  "docs/webhooks.md",
  "openapi.json",
  "sitemap.xml",
  "assets/css/main.css",
];

const longText = "Text of a page. ".repeat(100);
const otherFiles = {
  "page/index.html": `<script src=/assets/js/main.js defer></script><script>start()</script>`,
  "assets/js/main.js": builtText,
  "assets/js/console-url.js": `const url = "https://console.pragma.example";`,
  "long.txt": longText,
  ".built-from": "hash",
};

let folder: string;
let createSiteApp: CreateSiteApp;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "pragma-site-"));
  const contents = { ...Object.fromEntries(files.map((file) => [file, builtText])), ...otherFiles };
  for (const [file, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
  createSiteApp = ((await import(pathToFileURL(siteApp).href)) as { createDocumentationSiteApp: CreateSiteApp })
    .createDocumentationSiteApp;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function createApp(environment: Record<string, string> = {}): ReturnType<CreateSiteApp> {
  return createSiteApp({ folder, environment });
}

describe("the documentation site", () => {
  it.each(files)("shows the configured URLs in %s", async (file) => {
    const app = createApp({ DOCS_URL: "https://docs.bistro.example/docs", PUBLIC_URL: "https://pos.bistro.example/" });
    expect(await (await app.request(`/${file}`)).text()).toBe(
      "https://docs.bistro.example/docs/webhooks https://pos.bistro.example/v2 https://pos.bistro.example/v1",
    );
  });

  it.each([{ host: "evil.example" }, { host: "a$`b" }, { "x-forwarded-host": "evil.example" }])(
    "shows no URL from the request headers %o",
    async (headers: Record<string, string>) => {
      const text = await (await createApp().request("/llms.txt", { headers })).text();
      expect(text).toBe(builtText.replace("https://docs.pragma.example", "http://localhost:3000"));
    },
  );

  it.each([
    { DOCS_URL: "docs.bistro.example" },
    { DOCS_URL: "https://a'b" },
    { PUBLIC_URL: "javascript:alert(1)" },
    { CONSOLE_URL: "console" },
  ])("rejects the configuration %o", (environment: Record<string, string>) => {
    expect(() => createApp(environment)).toThrow(`${Object.keys(environment)[0]} must be an http: or https: URL`);
  });

  it("serves Markdown as text, and 304 for its ETag", async () => {
    const response = await createApp().request("/docs/webhooks.md");
    expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    const headers = { "if-none-match": `"other", ${response.headers.get("etag")}` };
    expect((await createApp().request("/docs/webhooks.md", { headers })).status).toBe(304);
    const otherTag = { "if-none-match": `W/"other"` };
    expect((await createApp().request("/docs/webhooks.md", { headers: otherTag })).status).toBe(200);
  });

  it("serves scripts under an immutable address that depends on the URLs in them", async () => {
    const addresses = await Promise.all(
      ["https://one.example", "https://two.example"].map(async (DOCS_URL) => {
        const app = createApp({ DOCS_URL });
        const [address = ""] = /assets\/js\/\S+/.exec(await (await app.request("/page/")).text()) ?? [];
        const response = await app.request(`/${address}`);
        expect(await response.text()).toContain(DOCS_URL);
        expect(response.headers.get("cache-control")).toContain("immutable");
        return address;
      }),
    );
    expect(addresses[0]).not.toBe(addresses[1]);
  });

  it.each([
    [{}, ""],
    [{ CONSOLE_URL: "" }, ""],
    [{ CONSOLE_URL: "https://console.bistro.example/" }, "https://console.bistro.example"],
  ] as [Record<string, string>, string][])("with %j knows the console at %j", async (environment, url) => {
    const app = createApp(environment);
    const [folderOfScripts] = /assets\/js\/\w+\//.exec(await (await app.request("/page/")).text()) ?? [];
    const script = await app.request(`/${folderOfScripts}console-url.js`);
    expect(await script.text()).toBe(`const url = "${url}";`);
  });

  it("allows only the scripts within a page and those of the site, and no frames", async () => {
    const policy = (await createApp().request("/page")).headers.get("content-security-policy");
    const hash = createHash("sha256").update("start()").digest("base64");
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}';`);
    expect(policy).toContain("frame-ancestors 'none'");
  });

  it("sends compressed files to clients that accept them", async () => {
    const compressed = await createApp().request("/long.txt", {
      headers: { "accept-encoding": "gzip, deflate, br, zstd" },
    });
    expect(compressed.headers.get("content-encoding")).toBe("br");
    expect(String(brotliDecompressSync(await compressed.arrayBuffer()))).toBe(longText);
    const gzipped = await createApp().request("/long.txt", { headers: { "accept-encoding": "br;q=0, GZIP" } });
    expect(gzipped.headers.get("content-encoding")).toBe("gzip");
    expect(String(gunzipSync(await gzipped.arrayBuffer()))).toBe(longText);
    const plain = await createApp().request("/long.txt", { headers: { "accept-encoding": "gzip;q=0" } });
    expect(await plain.text()).toBe(longText);
  });

  it.each(["/.built-from", "/../package.json", "/%2e%2e/package.json", "/unknown"])(
    "returns 404 for %s",
    async (path) => {
      const response = await createApp().request(path);
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("/docs/webhooks")]);
    },
  );

  it.each([
    [{}, null],
    [{ DOCS_DEMO_API_KEY: "" }, null],
    [{ DOCS_DEMO_API_KEY: "pragma_demo" }, "pragma_demo"],
  ] as [Record<string, string>, string | null][])(
    "with %j offers readers the key %s for the demo, which nothing stores",
    async (environment, apiKey) => {
      const response = await createApp(environment).request("/demo-access.json");
      expect(await response.json()).toEqual({ apiKey });
      expect(response.headers.get("cache-control")).toBe("no-store");
    },
  );

  it("returns 405 for methods that change something", async () => {
    const response = await createApp().request("/docs/webhooks.md", { method: "POST" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

describe("the server of the site", () => {
  let server: ReturnType<typeof spawn>;
  let url: URL;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    if (!existsSync(join(portalFolder, "build", "openapi.json")))
      throw new Error("Build the documentation first: node docs-portal/build.mjs");
    const started = spawn(process.execPath, [join(portalFolder, "serve.mjs"), "0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    server = started;
    const [output] = await once(started.stdout, "data");
    url = new URL(/http:\S+/.exec(String(output))?.[0] ?? "");
  }, 30_000);
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => server?.kill());

  function openUnread(requests: string): Socket {
    const socket = connect(Number(url.port), "localhost").on("error", () => {});
    socket.pause().write(requests);
    sockets.push(socket);
    return socket;
  }
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`;

  it("needs little memory for large responses that are not read", async () => {
    const before = await readResidentMemoryMegabytes(server.pid ?? 0);
    for (let opened = 0; opened < 50; opened += 1) openUnread(get("/openapi.json").repeat(8));
    await setTimeout(2_000);
    expect((await fetch(`${url.origin}/llms.txt`)).status).toBe(200);
    // The responses have 500 MB together.
    expect((await readResidentMemoryMegabytes(server.pid ?? 0)) - before).toBeLessThan(200);
  }, 30_000);

  it.each([
    [8, 8],
    [9, 0],
  ])(
    "answers %s requests that a client sends at once with %s responses",
    async (requests, responses) => {
      const socket = openUnread(get("/llms.txt").repeat(requests)).resume();
      let text = "";
      socket.on("data", (chunk) => (text += chunk));
      await once(socket, "close");
      expect(text.split("HTTP/1.1 200").length - 1).toBe(responses);
    },
    20_000,
  );

  it("spends little time on a header with many spaces", async () => {
    const started = performance.now();
    for (let request = 0; request < 20; request += 1) {
      const headers = { "if-none-match": `x${" ".repeat(14_000)}y` };
      expect((await fetch(`${url.origin}/docs/webhooks.md`, { headers })).status).toBe(200);
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
